/**
 * What the openai libraries do by themselves: when they repeat a call, and after which pause (openai-node,
 * src/client.ts: shouldRetry and retryRequest).
 */

/** How often a library repeats a call. */
export const mostRetries = 2;
/** How long a library waits for an answer, and what it says of that. */
const timeoutSeconds = 600;

/** What a library hears of a try. Undefined: the connection broke. */
export type Heard =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | undefined;

export function isRepeated(heard: Heard): boolean {
  if (!heard) return true;
  const told = heard.headers['x-should-retry'];
  if (told === 'true' || told === 'false') return told === 'true';
  return [408, 409, 429].includes(heard.status) || heard.status >= 500;
}

/** The pause before the retry with this number, in milliseconds. */
export function pauseMillis(heard: Heard, retry: number, jitter: number): number {
  const told = Number(heard?.headers['retry-after'] ?? Number.NaN) * 1_000;
  if (told >= 0 && told < 60_000) return told;
  return Math.min(500 * 2 ** (retry - 1), 8_000) * (1 - jitter * 0.25);
}

export const retryHeader = 'X-Stainless-Retry-Count';

/** The headers that a library sends with the try of this number. */
export function libraryHeaders(retry: number): Readonly<Record<string, string>> {
  return {
    [retryHeader]: String(retry),
    'X-Stainless-Timeout': String(timeoutSeconds),
    'Content-Type': 'application/json',
  };
}
