/** One request and its whole answer, within a time limit and until a signal is aborted. */
import { ConnectionError, TimeoutError } from '../errors.ts';

export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  readonly redirect: RequestRedirect;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The answer with its body in memory, so that a connection that breaks in the body counts as broken, too.
 * Throws a ConnectionError, a TimeoutError, or the reason of the signal.
 */
export async function exchange(
  fetch: typeof globalThis.fetch,
  { url, timeoutMs, signal, ...init }: Exchange,
): Promise<{ readonly response: Response; readonly bytes: ArrayBuffer }> {
  signal?.throwIfAborted();
  // AbortSignal.any and its like are younger than Node 20.0, and a timer of AbortSignal.timeout cannot be cleared.
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal?.reason);
  const late = new TimeoutError(`No answer arrived within ${timeoutMs} ms.`);
  const timer = setTimeout(() => controller.abort(late), timeoutMs);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const response = await fetch(url, { ...init, signal: controller.signal });
    return { response, bytes: await response.arrayBuffer() };
  } catch (error) {
    signal?.throwIfAborted();
    if (controller.signal.aborted) throw late;
    throw new ConnectionError(`The connection to ${new URL(url).origin} failed${because(error)}.`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** fetch says only "fetch failed". Its cause has the words that help: ECONNREFUSED, or the name of a host. */
function because(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  return cause instanceof Error && cause.message !== '' ? `: ${cause.message.replace(/[.?!]$/, '')}` : '';
}
