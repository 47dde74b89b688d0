/** The codes of refusals that a client of the API gets, for the filter of the page. */
export const requestCodes = [
  'ERR_INVALID_REQUEST',
  'ERR_API_KEY_INVALID',
  'ERR_INSUFFICIENT_BALANCE',
  'ERR_API_SUSPENDED',
  'ERR_FORBIDDEN',
  'ERR_MODEL_NOT_FOUND',
  'ERR_NOT_FOUND',
  'ERR_RATE_LIMIT',
  'ERR_QUOTA_EXCEEDED',
  'ERR_INTERNAL',
  'ERR_INPUT_FETCH_FAILED',
  'ERR_GENERATION_FAILED',
  'ERR_PROVIDER_UNAVAILABLE',
] as const;
