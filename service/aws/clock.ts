/** The clock of the process, and waits that a signal ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../values/runtime.ts';

/** How often a deadline reads the clock, which may stop or be moved forward. */
const checkMillis = 250;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (millis, signal) => {
    await sleep(millis, undefined, signal ? { signal } : {});
  },
  deadline: (atMillis) => {
    const controller = new AbortController();
    let timer: NodeJS.Timeout;
    const check = (): void => {
      const left = atMillis - Date.now();
      if (left <= 0) controller.abort();
      else timer = setTimeout(check, Math.min(left, checkMillis));
    };
    check();
    return { signal: controller.signal, release: () => clearTimeout(timer) };
  },
  timeout: (millis) => {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), millis);
    return { signal: controller.signal, release: () => clearTimeout(timer) };
  },
  every: (millis, task) => {
    const timer = setInterval(task, millis);
    return () => clearInterval(timer);
  },
};

/** Rejects when the signal aborts before the work ends. The work itself continues unnoticed. */
export function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('it took too long', { cause: signal.reason }));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
