import { describe, expect, it } from 'vitest';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import { type HeldLease, holdLease } from '../../service/render/held-lease.ts';
import type { RenderServices } from '../../service/render/open.ts';
import { fakeClock, fakeLog, type FakeLog, stub } from '../api/fakes.ts';
import { creationId, now } from '../fixtures/records.ts';

/** A lease whose timers run, and whose renewals end, when the test says so. */
function holdBy(renewLease: CreationStore['renewLease'], beat?: () => Promise<unknown>) {
  const timers = new Map<number, () => void>();
  const clock = fakeClock();
  const every = (millis: number, work: () => void): (() => void) => {
    timers.set(millis, work);
    return () => timers.delete(millis);
  };
  const creations = stub<CreationStore>({ renewLease });
  const services = stub<RenderServices>({ clock: { ...clock, every }, creations, log: fakeLog() });
  const runAll = (): void => timers.forEach((work) => work());
  return { lease: holdLease(creationId, 'request-1', services, beat), clock, timers, runAll };
}

/** Expects that the work ends only after this. */
async function expectToWait(work: Promise<unknown>, end: () => void): Promise<void> {
  let hasEnded = false;
  const ending = work.finally(() => (hasEnded = true));
  await new Promise(setImmediate);
  expect(hasEnded).toBe(false);
  end();
  await ending;
}

interface Holding {
  readonly lease: HeldLease;
  readonly log: FakeLog;
  /** When each renewal was sent, and until when it asked for the lease, in milliseconds since the start. */
  readonly renewals: readonly (readonly [at: number, until: number])[];
  /** For whom each renewal was sent. */
  readonly renewedFor: readonly unknown[];
  /** Advances the clock by this time, and runs the renewals that are due within it. */
  readonly pass: (millis: number) => void;
}

function hold(isRefused = false): Holding {
  const clock = fakeClock();
  const log = fakeLog();
  const renewals: [number, number][] = [];
  const renewedFor: unknown[] = [];
  let task: (() => void) | undefined;
  let period = 0;
  const every = (millis: number, work: () => void): (() => void) => {
    [period, task] = [millis, work];
    return () => (task = undefined);
  };
  const creations = stub<CreationStore>({
    renewLease: async (id, holder, until) => {
      renewedFor.push([id, holder]);
      renewals.push([clock.now() - now, until - now]);
      return isRefused ? Promise.reject(new TypeError('details')) : Promise.resolve(true);
    },
  });
  const lease = holdLease(
    creationId,
    'request-1',
    stub<RenderServices>({ clock: { ...clock, every }, creations, log }),
  );
  const pass = (millis: number): void => {
    for (const end = clock.now() + millis; clock.now() < end;) {
      clock.set(clock.now() + period);
      task?.();
    }
  };
  return { lease, log, renewals, renewedFor, pass };
}

describe('the heartbeats of a renderer', () => {
  it('A heartbeat is sent every 20 s, until the lease is released, given back or let go', async () => {
    for (const end of ['release', 'giveBack', 'let go'] as const) {
      let beats = 0;
      const beat = async (): Promise<number> => Promise.resolve((beats += 1));
      const { lease, clock, timers } = holdBy(async () => Promise.resolve(true), beat);
      lease.begin('ask_providers', 60_000);
      timers.get(20_000)?.();
      timers.get(20_000)?.();
      expect(beats).toBe(2);
      if (end === 'let go') {
        clock.set(clock.now() + 60_001);
        timers.get(2_400)?.();
      } else await lease[end]();
      expect([...timers.keys()], end).toEqual([]);
    }
  });

  it('The release waits for a heartbeat that is still under way', async () => {
    const beaten = Promise.withResolvers<undefined>();
    const { lease, runAll } = holdBy(
      async () => Promise.resolve(true),
      async () => beaten.promise,
    );
    runAll();
    await expectToWait(lease.release(), () => beaten.resolve(undefined));
  });
});

describe('the lease of a renderer', () => {
  it('The lease is renewed every 2.4 s for 6 s each while a step is within its time', () => {
    const { lease, renewals, pass } = hold();
    lease.begin('store_image', 60_000);
    pass(7_200);
    expect(renewals).toEqual([
      [2_400, 8_400],
      [4_800, 10_800],
      [7_200, 13_200],
    ]);
  });

  it('The lease is let go when a step takes too long, so that another invocation can take the creation over', () => {
    const { lease, log, renewals, pass } = hold();
    lease.begin('complete_creation', 5_000);
    pass(60_000);
    expect(renewals.map(([at]) => at)).toEqual([2_400, 4_800]);
    expect(log.lines).toEqual(['info lease_let_go']);
    expect(log.text()).toContain('complete_creation');
  });

  it('The lease is renewed on when the next step begins in time', () => {
    const { lease, renewals, pass } = hold();
    lease.begin('store_image', 5_000);
    pass(4_800);
    lease.begin('complete_creation', 5_000);
    pass(4_800);
    expect(renewals).toHaveLength(4);
  });

  it('The lease is not renewed after its release', async () => {
    const { lease, renewals, pass } = hold();
    lease.begin('ask_providers', 60_000);
    pass(2_400);
    await lease.release();
    pass(10_000);
    expect(renewals).toHaveLength(1);
  });

  it('The lease is renewed on after a renewal that failed, and the log names the error without its text', async () => {
    const { lease, log, renewals, pass } = hold(true);
    lease.begin('store_image', 60_000);
    pass(4_800);
    await lease.release();
    expect(renewals).toHaveLength(2);
    expect(log.lines).toEqual(['info lease_not_renewed', 'info lease_not_renewed']);
    expect(log.text()).toBe('[{"error":"TypeError"},{"error":"TypeError"}]');
  });

  it('The lease counts as given back once the table has answered', async () => {
    const taken = Promise.withResolvers<boolean>();
    const { lease } = holdBy(async () => taken.promise);
    await expectToWait(lease.giveBack(), () => taken.resolve(true));
  });

  it('The lease ends at once when it is given back', async () => {
    const { lease, renewals, pass } = hold();
    lease.begin('complete_creation', 60_000);
    pass(2_400);
    await lease.giveBack();
    pass(10_000);
    expect(renewals).toEqual([
      [2_400, 8_400],
      [2_400, 2_400],
    ]);
  });

  it('The lease is renewed for its creation and its holder, also before the first step begins', () => {
    const { renewedFor, pass } = hold();
    pass(4_800);
    expect(renewedFor).toEqual([
      [creationId, 'request-1'],
      [creationId, 'request-1'],
    ]);
  });

  it('The lease is renewed at the last millisecond of a step, and not one millisecond later', () => {
    const { lease, log, renewals, pass } = hold();
    lease.begin('ask_providers', 4_800);
    pass(4_800);
    expect(renewals).toHaveLength(2);
    lease.begin('store_image', 2_399);
    pass(2_400);
    expect(renewals).toHaveLength(2);
    expect(log.entries).toEqual([['info lease_let_go', { step: 'store_image' }]]);
  });

  it('The lease is given back only after a renewal that is still under way', async () => {
    const renewed = Promise.withResolvers<boolean>();
    const ends: number[] = [];
    const { lease, runAll } = holdBy(async (_id, _holder, until) => {
      ends.push(until - now);
      return renewed.promise;
    });
    runAll();
    const givingBack = lease.giveBack();
    await new Promise(setImmediate);
    expect(ends).toEqual([6_000]);
    renewed.resolve(true);
    await givingBack;
    expect(ends).toEqual([6_000, 0]);
  });

  it('The release waits for a renewal that is still under way', async () => {
    const renewed = Promise.withResolvers<boolean>();
    const { lease, runAll } = holdBy(async () => renewed.promise);
    runAll();
    await expectToWait(lease.release(), () => renewed.resolve(true));
  });
});
