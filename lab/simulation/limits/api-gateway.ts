/**
 * What API Gateway answers in the place of a function. Source: the API Gateway developer guide, "Throttle requests to
 * your HTTP APIs". Its quotas are in admin/preflight/quotas.
 */
export const gatewayLimits = {
  /** A throttled request gets this answer of the gateway itself. */
  throttledStatus: 429,
  /** What a client hears when Lambda throttles the function behind an HTTP API. REST APIs answer 500. Not verified. */
  statusOfThrottledFunction: 503,
} as const;
