import type { FlyingInvocation } from './lambda/functions.ts';

/** What waitUntilAtRest() watches. */
export interface Watched {
  readonly inFlight: () => readonly FlyingInvocation[];
  /** See Interpreter.sync. */
  readonly sync: () => Promise<number | undefined>;
}

/**
 * How long to wait for one invocation. A webhook attempt ends within 10 s, so only a render that hangs takes
 * longer.
 */
const defaultPatienceMillis = 12_000;

/**
 * Waits until nothing in the service moves by itself. No task, schedule or event is in flight then, and the
 * state machines have gone as far as they can. Each invocation is waited for at most 12 real seconds from its
 * own start. Requests are waited for only when they are in `before`, so that clients that keep calling cannot
 * hold this up. Held requests are never waited for: they wait themselves for what comes next. Resolves with the instant of the interpreter's next timer.
 */
export async function waitUntilAtRest(
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
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const nextTimer = await sync();
    const moving = awaited();
    if (moving.length === 0) return nextTimer;
    await anyEnds(moving, patienceMillis);
  }
}

/** Resolves when one of the invocations ends, or when the patience for one is used up. */
async function anyEnds(moving: readonly FlyingInvocation[], patienceMillis: number): Promise<void> {
  const patience = Math.min(
    ...moving.map(({ startedAt = Date.now() }) => startedAt + patienceMillis - Date.now()),
  );
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), Math.max(patience, 1));
  try {
    await Promise.race([promise, ...moving.map(({ done }) => done)]);
  } finally {
    clearTimeout(timer);
  }
}
