import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { VirtualClock } from './clock.ts';
import { quiescence } from './quiescence.ts';
import type { Watched } from './quiescence.ts';
import type { Schedule } from './schedule.ts';

/** The body of POST /_local/clock. */
export const advanceSchema = z.strictObject({
  advance_seconds: z
    .number()
    .gt(0, 'must be greater than 0')
    .max(400 * 24 * 60 * 60, 'must be at most 400 days'),
});

/** What an advance did. */
export interface Advanced {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Instants at which something fell due and was started. */
  readonly steps: number;
}

/** What an advance moves and watches. */
export interface AdvanceOptions extends Watched {
  readonly clock: VirtualClock;
  readonly schedule: Schedule;
  /** Whether an execution is open. */
  readonly hasOpenExecutions: () => boolean;
  /** Whether the service ends: an advance under way is given up where it is. */
  readonly isStopping: () => boolean;
  readonly patienceMillis?: number;
}

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;

/**
 * How often schedules fire in an advance. With nothing open a reconciler that runs each minute finds
 * nothing to do, and 60 runs an hour would make a day last a minute: after an hour's advance schedules
 * fire hourly, in one over a day daily. What is open gets every tick.
 */
function leastTickSeconds(seconds: number, hasOpenExecutions: boolean): number {
  if (hasOpenExecutions || seconds <= hourSeconds) return 0;
  return seconds <= daySeconds ? hourSeconds : daySeconds;
}

/**
 * Moves the clock on. Resolves when all that falls due on the way has been started, in order, each at
 * exactly its own instant, and what it set off has come to rest. Advances are done one after another.
 */
export function createAdvance(options: AdvanceOptions): (seconds: number) => Promise<Advanced> {
  let last: Promise<unknown> = Promise.resolve();
  return (seconds) => {
    const next = last.then(() => advance(options, seconds));
    last = next.catch(() => undefined);
    return next;
  };
}

/** Functions look at the clock a few times a second. */
const noticeMillis = 1_000;

/**
 * A task that was too slow to be waited for may be past a deadline of its own now: it gets a moment to
 * notice. Tells whether there was one.
 */
async function noticed({ inFlight }: AdvanceOptions): Promise<boolean> {
  const slow = inFlight().filter(({ source }) => source !== 'gateway');
  if (slow.length === 0) return false;
  await Promise.race([
    Promise.all(slow.map(({ done }) => done)),
    sleep(noticeMillis, undefined, { ref: false }),
  ]);
  return true;
}

async function advance(options: AdvanceOptions, seconds: number): Promise<Advanced> {
  const { clock, schedule, sync, patienceMillis } = options;
  const before = new Set(options.inFlight());
  const rest = (): Promise<number | undefined> => quiescence(options, before, patienceMillis);
  const target = clock.freeze() + Math.round(seconds * 1_000);
  let steps = 0;
  schedule.pause();
  try {
    for (;;) {
      const nextTimer = await rest();
      if (options.isStopping()) throw new Error('the service is stopping');
      const nextTick = schedule.nextAt(leastTickSeconds(seconds, options.hasOpenExecutions()));
      const next = Math.min(nextTimer ?? Infinity, nextTick ?? Infinity);
      if (next > target) break;
      clock.jumpTo(next);
      steps += 1;
      // The interpreter's timers fire when it is next told to catch up, in rest().
      await schedule.fireDue();
    }
    clock.jumpTo(target);
  } finally {
    clock.thaw();
    schedule.start();
    await sync();
  }
  await rest();
  if (await noticed(options)) await rest();
  return { now: clock.now(), steps };
}
