/** The clock that the functions and the operator's commands get. */
import type { Clock } from '../../../service/values/runtime.ts';
import type { World } from './simulated-world.ts';

/**
 * Shows the time of the environment that asks, with its errors. Its timers end with the invocation that set
 * them.
 */
export function createClock(world: World): Clock {
  const abortAfter = (millis: number): ReturnType<Clock['timeout']> => {
    const controller = new AbortController();
    const timer = setTimeout(
      () => {
        controller.abort();
      },
      Math.max(0, millis),
    );
    return { signal: controller.signal, release: () => clearTimeout(timer) };
  };
  return {
    now: world.now,
    elapsed: () => world.time.now(),
    sleep: world.sleep,
    deadline: (atMillis) => abortAfter(atMillis - world.now()),
    timeout: abortAfter,
    every: (millis, task) => {
      const timer = setInterval(task, millis);
      return () => clearInterval(timer);
    },
  };
}
