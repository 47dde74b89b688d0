import type { FlyingInvocation } from './lambda/functions.ts';

/** What is watched for standing still. */
export interface Watched {
  readonly inFlight: () => readonly FlyingInvocation[];
  /** See Interpreter.sync. */
  readonly sync: () => Promise<number | undefined>;
}

/** How long one invocation is waited for: a webhook attempt ends within 10 s, a render that hangs later. */
const defaultPatienceMillis = 12_000;

/**
 * Waits until nothing moves by itself: no task, schedule or event is in flight (each is waited for at
 * most 12 real seconds from its own start) and the state machines have gone on as far as they can.
 * Of requests only those `before` are waited for: clients that go on calling cannot hold it up.
 * Gives the instant of the interpreter's next timer.
 */
export async function quiescence(
  { inFlight, sync }: Watched,
  before: ReadonlySet<FlyingInvocation>,
  patienceMillis: number = defaultPatienceMillis,
): Promise<number | undefined> {
  const awaited = (): FlyingInvocation[] =>
    inFlight().filter(
      (one) =>
        (one.source !== 'gateway' || before.has(one)) &&
        (one.startedAt === undefined || Date.now() - one.startedAt < patienceMillis),
    );
  for (;;) {
    // A result that has just come in is told to the interpreter first.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const nextTimer = await sync();
    const moving = awaited();
    if (moving.length === 0) return nextTimer;
    await anyEnds(moving, patienceMillis);
  }
}

/** Resolves when one of them ends or has been waited for long enough. */
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
