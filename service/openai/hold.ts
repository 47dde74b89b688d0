/** A request is held until its creations have ended, or until shortly before its client gives up. */
import type { ApiServices } from '../api/open.ts';
import type { ApiRequest } from '../api/request.ts';
import { answerBeforeTimeoutMillis, heldMillis } from '../contract/limits.ts';
import { pollCreations } from '../generate/await-outcome.ts';
import type { Creations } from '../generate/earlier-request.ts';
import { errorName } from '../values/runtime.ts';

/** A picture takes seconds at least. Shorter pauses would only cost reads. */
export const longestPauseMillis = 2_000;
const pauseAfterErrorMillis = 1_000;

/** The seconds that the OpenAI libraries wait for an answer: that for Python, that for Node. */
const timeoutHeaders = ['x-stainless-read-timeout', 'x-stainless-timeout'] as const;

/** Until when the request is held, in milliseconds since its arrival. */
export function heldUntil(headers: ApiRequest['headers']): number {
  const limits = timeoutHeaders.flatMap((name) => {
    const text = headers[name]?.trim() ?? '';
    return /^\d+(\.\d+)?$/.test(text) ? [Number(text) * 1_000] : [];
  });
  const before = limits.map((limit) => Math.max(limit - answerBeforeTimeoutMillis, limit / 2));
  return Math.min(heldMillis, ...before);
}

/** The creations after each poll. A read that fails is repeated: the client has paid, and waits. */
export async function* pollWhileHeld(
  creations: Creations,
  untilMillis: number,
  services: Pick<ApiServices, 'clock' | 'creations' | 'budget' | 'log'>,
): AsyncGenerator<Creations> {
  let last = creations;
  for (;;) {
    try {
      for await (const seen of pollCreations(last, { untilMillis, longestPauseMillis }, services)) {
        last = seen;
        yield last;
      }
      return;
    } catch (error) {
      services.log.info('wait_broken_off', { creationId: last[0].id, error: errorName(error) });
      if (services.budget.elapsed() + pauseAfterErrorMillis >= untilMillis) return;
      await services.clock.sleep(pauseAfterErrorMillis, services.budget.signal);
    }
  }
}
