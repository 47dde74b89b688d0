/** How the vendors of the simulation stop jobs: at once, later, too late, or not at all although they said so. */
import type { CancelAnswer } from '../../../service/vendors/provider.ts';
import type { World } from '../world/simulated-world.ts';

export interface StoppedJobs {
  /** Asks to stop a job. */
  readonly ask: (id: string) => CancelAnswer;
  /** Whether the job has been stopped before its end. */
  readonly isStopped: (id: string) => boolean;
}

/**
 * @param endOf when a job ends; undefined for an unknown job
 * @param onStop receives the time until a job is stopped
 */
export function createStoppedJobs(
  world: World,
  endOf: (id: string) => number | undefined,
  onStop: (id: string, afterMillis: number) => void = () => undefined,
): StoppedJobs {
  const { dice } = world;
  const stops = new Map<string, number>();
  const now = (): number => world.time.now();
  return {
    ask: (id) => {
      const end = endOf(id);
      if (end === undefined || end <= now()) return 'refused';
      if (stops.has(id)) return 'asked';
      const way = dice.pick(`stop of ${id}`, ['at once', 'at once', 'soon', 'late', 'never'] as const);
      world.mishap(`job stopped ${way}`);
      const wait = {
        'at once': 0,
        soon: dice.between(`soon ${id}`, 100, 4_000),
        late: dice.between(`late ${id}`, 4_000, 15_000),
        never: Infinity,
      }[way];
      stops.set(id, now() + wait);
      if (now() + wait < end) onStop(id, wait);
      return 'asked';
    },
    isStopped: (id) => {
      const stop = stops.get(id) ?? Infinity;
      return stop <= now() && stop < (endOf(id) ?? -Infinity);
    },
  };
}
