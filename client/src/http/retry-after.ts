/** Reads the header Retry-After. */

/**
 * The seconds that Retry-After names, or undefined if the header is absent or malformed. A date counts from
 * the answer's own Date if there is one, since the clocks of two machines differ.
 */
export function retryAfterSeconds(headers: Headers, nowMillis: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value);
  const until = Date.parse(value);
  if (Number.isNaN(until)) return undefined;
  const sent = Date.parse(headers.get('date') ?? '');
  return Math.max(0, (until - (Number.isNaN(sent) ? nowMillis : sent)) / 1000);
}
