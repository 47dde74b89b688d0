import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAdvance } from '../../local/advance.ts';
import type { Advanced } from '../../local/advance.ts';
import { openClock } from '../../local/clock.ts';
import type { FlyingInvocation, InvocationSource } from '../../local/lambda/functions.ts';
import { createSchedule } from '../../local/schedule.ts';
import type { Job, Schedule } from '../../local/schedule.ts';

const startMillis = Date.UTC(2026, 10, 21, 12, 0, 30);
const pause = (millis: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, millis);
  });

interface Timer {
  readonly at: number;
  readonly name: string;
  /** Another timer, which this one sets when it fires. */
  readonly sets?: Timer;
}

/** A clock that starts at 12:00:30, with the jobs, timers and invocations of a test. */
interface Scene {
  readonly advance: (seconds: number) => Promise<Advanced>;
  readonly flying: FlyingInvocation[];
  /**
   * Adds an invocation that ends after this many real milliseconds, or never. It began at an instant of real
   * time.
   */
  readonly fly: (source: InvocationSource, millis: number, startedAt?: number) => void;
  /** The names of the jobs and timers that fired, each after its seconds since startMillis. */
  readonly fired: string[];
  readonly timers: Timer[];
  readonly now: () => number;
}

/** A job that takes this many real milliseconds. */
interface SceneJob {
  readonly name: string;
  readonly everySeconds: number;
  readonly millis?: number;
}

interface SceneOptions {
  readonly jobs?: readonly SceneJob[];
  readonly open?: boolean;
  readonly patienceMillis?: number;
}

let schedule: Schedule | undefined;
let stopping = false;
afterEach(() => {
  schedule?.pause();
  stopping = false;
});

function scene({ jobs = [], open = false, patienceMillis = 12_000 }: SceneOptions = {}): Scene {
  const realStart = Date.now();
  const clock = openClock(undefined, () => startMillis + Date.now() - realStart);
  const fired: string[] = [];
  const flying: FlyingInvocation[] = [];
  const timers: Timer[] = [];
  const note = (name: string): void => {
    fired.push(`${(clock.now() - startMillis) / 1_000} ${name}`);
  };
  const fly = (source: InvocationSource, millis: number, startedAt = Date.now()): void => {
    const ended = millis === Infinity ? new Promise(() => undefined) : pause(millis);
    const one: FlyingInvocation = {
      functionId: 'F',
      source,
      event: undefined,
      startedAt,
      crash: undefined,
      done: ended.then(() => ({ ok: true, payload: null })),
    };
    flying.push(one);
    void one.done.then(() => flying.splice(flying.indexOf(one), 1));
  };
  const asJob = ({ name, everySeconds, millis = 0 }: SceneJob): Job => ({
    name,
    everySeconds,
    run: async () => {
      note(name);
      await pause(millis);
      if (millis > 0) note(`${name} ended`);
    },
  });
  const made = createSchedule(jobs.map(asJob), clock, (_job, error) => {
    throw error;
  });
  schedule = made;
  const sync = (): Promise<number | undefined> => {
    timers.sort((left, right) => left.at - right.at);
    for (
      let [first] = timers;
      first !== undefined && startMillis + first.at * 1_000 <= clock.now();
      [first] = timers
    ) {
      timers.shift();
      note(first.name);
      if (first.sets !== undefined) timers.push(first.sets);
    }
    return Promise.resolve(timers[0] === undefined ? undefined : startMillis + timers[0].at * 1_000);
  };
  const advance = createAdvance({
    clock,
    schedule: made,
    sync,
    inFlight: () => flying,
    hasOpenExecutions: () => open,
    isStopping: () => stopping,
    patienceMillis,
  });
  return { advance, flying, fly, fired, timers, now: () => (clock.now() - startMillis) / 1_000 };
}

describe('an advance', () => {
  it('An advance starts everything that falls due in order, each at its own time, and nothing later', async () => {
    const { advance, timers, fired } = scene({ jobs: [{ name: 'minutely', everySeconds: 60 }] });
    timers.push(
      { at: 90, name: 'at its end' },
      { at: 30.5, name: 'half a second after a tick' },
      { at: 91, name: 'too late' },
    );
    const { now, steps } = await advance(90);
    expect(fired).toEqual(['30 minutely', '30.5 half a second after a tick', '90 minutely', '90 at its end']);
    expect(steps).toBe(3);
    expect(Math.round((now - startMillis) / 1_000)).toBe(90);
  });

  it('An advance does not wait for a held request, which waits itself for what the advance brings', async () => {
    const { advance, fly, timers, fired } = scene();
    fly('held', Infinity);
    timers.push({ at: 30, name: 'the image is there' });
    const began = Date.now();
    await advance(60);
    expect(fired).toEqual(['30 the image is there']);
    expect(Date.now() - began).toBeLessThan(1_000);
  });

  it('An advance fires a timer that another timer has set on the way', async () => {
    const { advance, timers, fired } = scene();
    timers.push({ at: 10, name: 'first', sets: { at: 15, name: 'second' } });
    await advance(20);
    expect(fired).toEqual(['10 first', '15 second']);
  });

  it('An advance waits for the tasks in flight before the clock jumps', async () => {
    const { advance, fly, timers, fired } = scene();
    fly('task', 150);
    timers.push({ at: 60, name: 'timer' });
    const started = performance.now();
    await advance(60);
    expect(performance.now() - started).toBeGreaterThan(140);
    expect(fired).toEqual(['60 timer']);
  });

  it("An advance waits for a hanging task no longer than its patience, counted from the task's own start", async () => {
    const patienceMillis = 300_000;
    const { advance, fly, timers, fired } = scene({ patienceMillis });
    timers.push({ at: 60, name: 'timer' });
    // The task never ends, and all but 200 ms of the patience for it is already used up.
    fly('task', Infinity, Date.now() - patienceMillis + 200);
    await advance(60);
    expect(fired).toEqual(['60 timer']);
  });

  it('An advance waits for requests that came before it, but not for requests that come during it', async () => {
    const { advance, fly, flying } = scene();
    fly('gateway', 100);
    const advancing = advance(60);
    await pause(20);
    fly('gateway', Infinity);
    await advancing;
    expect(flying).toHaveLength(1);
  });

  it('An advance begins after the advance before it has ended', async () => {
    const { advance, timers, fired, now } = scene();
    timers.push({ at: 60, name: 'first' }, { at: 120, name: 'second' });
    await Promise.all([advance(60), advance(60)]);
    expect(fired).toEqual(['60 first', '120 second']);
    expect(Math.floor(now())).toBe(120);
  });

  it("An advance starts no job again before the job's last run has ended", async () => {
    const { advance, fired } = scene({ jobs: [{ name: 'slow', everySeconds: 60, millis: 60 }] });
    await advance(90);
    await expect.poll(() => fired).toHaveLength(4);
    expect(fired.map((one) => one.replace(/^\S+ /, ''))).toEqual([
      'slow',
      'slow ended',
      'slow',
      'slow ended',
    ]);
  });

  it('An advance fires a minutely job hourly over hours and daily over days, unless an execution is open', async () => {
    const jobs = [{ name: 'minutely', everySeconds: 60 }];
    // The clock flows after the advance, so that a slow machine sees more than the advance has fired.
    const fired = async (advanced: number, open = false): Promise<readonly string[]> => {
      const one = scene({ jobs, open });
      const { steps } = await one.advance(advanced);
      return one.fired.slice(0, steps);
    };
    expect(await fired(3 * 3_600)).toEqual(['3570 minutely', '7170 minutely', '10770 minutely']);
    const days = (await fired(3 * 86_400)).map((line) => Math.floor(Number(line.split(' ')[0]) / 86_400));
    expect(days).toEqual([0, 1, 2]);
    expect(await fired(2 * 3_600, true)).toHaveLength(120);
  });

  it('An advance ends with an error when the service stops, and fires nothing more', async () => {
    const { advance, timers, fired, fly } = scene();
    timers.push({ at: 10, name: 'first' });
    fly('task', 50);
    const advancing = expect(advance(60)).rejects.toThrow('stopping');
    stopping = true;
    await advancing;
    expect(fired).toEqual([]);
  });

  it('An advance that ends with an error lets the clock flow again', async () => {
    const clock = openClock();
    const made = createSchedule([], clock, () => 0);
    let syncs = 0;
    const advance = createAdvance({
      clock,
      schedule: made,
      inFlight: () => [],
      hasOpenExecutions: () => false,
      isStopping: () => false,
      sync: () => (syncs++ === 0 ? Promise.reject(new Error('broken')) : Promise.resolve(undefined)),
    });
    await expect(advance(60)).rejects.toThrow('broken');
    expect(clock.isFrozen()).toBe(false);
    await expect(advance(1)).resolves.toMatchObject({ steps: 0 });
  });
});

describe('the schedule', () => {
  it('The schedule fires a job at each whole interval while the clock flows', async () => {
    const clock = openClock();
    const instants: number[] = [];
    schedule = createSchedule(
      [{ name: 'secondly', everySeconds: 1, run: (at) => Promise.resolve(instants.push(at, clock.now())) }],
      clock,
      () => 0,
    );
    schedule.start();
    await expect.poll(() => instants.length).toBe(4);
    const [due = 0, fired = 0, next = 0] = instants;
    expect(due % 1_000).toBe(0);
    expect(next - due).toBe(1_000);
    expect(fired - due).toBeGreaterThanOrEqual(0);
  });

  it('A schedule that does not fire by itself sets no timer, and fires when an advance asks', async () => {
    const clock = openClock();
    const instants: number[] = [];
    const job = {
      name: 'minutely',
      everySeconds: 60,
      run: (at: number) => Promise.resolve(instants.push(at)),
    };
    schedule = createSchedule([job], clock, () => 0, false);
    vi.useFakeTimers();
    schedule.start();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    const due = schedule.nextAt() ?? 0;
    clock.freeze();
    clock.jumpTo(due);
    await schedule.fireDue();
    expect(instants).toEqual([due]);
  });

  it('The schedule waits for the end of an awaited run, and for no other run', async () => {
    const clock = openClock();
    const ended: string[] = [];
    const job = (name: string, isAwaited: boolean): Job => ({
      name,
      everySeconds: 60,
      isAwaited,
      run: async () => {
        await pause(20);
        ended.push(name);
      },
    });
    schedule = createSchedule([job('awaited', true), job('other', false)], clock, () => 0);
    clock.freeze();
    clock.jumpTo(schedule.nextAt() ?? 0);
    await schedule.fireDue();
    expect(ended).toEqual(['awaited']);
    await expect.poll(() => ended).toEqual(['awaited', 'other']);
  });

  it('The schedule reports a run that fails and fires the job again', async () => {
    const clock = openClock();
    const errors: string[] = [];
    schedule = createSchedule(
      [{ name: 'bad', everySeconds: 60, run: () => Promise.reject(new Error('no')) }],
      clock,
      (job, error) => errors.push(`${job}: ${String(error)}`),
    );
    clock.freeze();
    for (let round = 0; round < 2; round += 1) {
      clock.jumpTo(schedule.nextAt() ?? 0);
      await schedule.fireDue();
    }
    await pause(0);
    expect(errors).toEqual(['bad: Error: no', 'bad: Error: no']);
  });
});
