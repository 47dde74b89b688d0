import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { VirtualClock } from './clock.ts';
import { type FlyingInvocation, isRequest } from './lambda/functions.ts';
import type { Schedule } from './schedule.ts';

interface Watched {
  readonly inFlight: () => readonly FlyingInvocation[];
  /** See Interpreter.sync. */
  readonly sync: () => Promise<number | undefined>;
}

/** How long to wait for one invocation. Only a render that hangs takes longer. */
const defaultPatienceMillis = 12_000;

/** Waits until only held requests move, and those not in `before`. Resolves with the next timer. */
async function waitUntilAtRest(
  { inFlight, sync }: Watched,
  before: ReadonlySet<FlyingInvocation>,
  patienceMillis: number = defaultPatienceMillis,
): Promise<number | undefined> {
  const awaited = (): FlyingInvocation[] =>
    inFlight().filter(
      (one) =>
        one.source !== 'held' &&
        (one.source !== 'gateway' || before.has(one)) &&
        (one.startedAt === undefined || Date.now() - one.startedAt < patienceMillis),
    );
  for (;;) {
    // Let a result that has just arrived reach the interpreter first.
    await setImmediate();
    const nextTimer = await sync();
    const moving = awaited();
    if (moving.length === 0) return nextTimer;
    const patience = Math.min(
      ...moving.map(({ startedAt = Date.now() }) => startedAt + patienceMillis - Date.now()),
    );
    await Promise.race([
      sleep(Math.max(patience, 1), undefined, { ref: false }),
      ...moving.map(({ done }) => done),
    ]);
  }
}

/** The body of POST /_local/clock. */
export const advanceSchema = z.strictObject({
  advance_seconds: z
    .number()
    .gt(0, 'must be greater than 0')
    .max(400 * 24 * 60 * 60, 'must be at most 400 days'),
});

export interface Advanced {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The number of times at which the advance started something. */
  readonly steps: number;
}

export interface AdvanceOptions extends Watched {
  readonly clock: VirtualClock;
  readonly schedule: Schedule;
  readonly hasOpenExecutions: () => boolean;
  /** Whether the service is stopping, which ends an advance with an error. */
  readonly isStopping: () => boolean;
  readonly patienceMillis?: number;
}

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;

/** The least interval of schedules in an advance without open executions: else a day's 1,440 runs take a minute. */
function leastTickSeconds(seconds: number, hasOpenExecutions: boolean): number {
  if (hasOpenExecutions || seconds <= hourSeconds) return 0;
  return seconds <= daySeconds ? hourSeconds : daySeconds;
}

/** Makes the function that moves the clock on. All due work starts in order, each at its own time. */
export function createAdvance(options: AdvanceOptions): (seconds: number) => Promise<Advanced> {
  let last: Promise<unknown> = Promise.resolve();
  return (seconds) => {
    const next = last.then(() => advance(options, seconds));
    last = next.catch(() => undefined);
    return next;
  };
}

/** Functions read the clock a few times a second, so a second is enough for them to notice a jump. */
const noticeMillis = 1_000;

/** Gives tasks that are past a deadline of their own a moment to notice. Resolves with whether there was one. */
async function noticed({ inFlight }: AdvanceOptions): Promise<boolean> {
  const slow = inFlight().filter((one) => !isRequest(one));
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
  const rest = (): Promise<number | undefined> => waitUntilAtRest(options, before, patienceMillis);
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
      // The interpreter fires its timers at the next sync, in rest().
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
