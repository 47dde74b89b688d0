/** Fakes of the ports. A call of something that the test did not provide fails the test. */
import type { HeldSlots } from '../../service/api/held-slots-store.ts';
import type { Clock, Log } from '../../service/values/runtime.ts';
import type { ImageProvider, ProviderAnswer } from '../../service/vendors/provider.ts';
import { now } from '../fixtures/records.ts';

/** A port with only the given members. A call of any other member fails the test and names that member. */
export function stub<Port extends object>(given: Partial<Port>): Port {
  return new Proxy(given as Port, {
    get: (target, name) => {
      if (name in target) return Reflect.get(target, name) as unknown;
      return () => {
        throw new Error(`${String(name)} was called, which this test does not expect`);
      };
    },
  });
}

/** The slots of one account. */
export interface FakePlaces extends HeldSlots {
  /** How many are taken. */
  readonly taken: number;
  /** Other requests take every slot. */
  fill(): void;
}

export function fakePlaces(limit = 20): FakePlaces {
  const holders = new Set<string>();
  let claims = 0;
  return {
    door: 'generate',
    limit,
    get taken() {
      return holders.size;
    },
    fill: () => {
      for (let place = 0; place < limit; place += 1) holders.add(`another ${place}`);
    },
    claim: async () => {
      if (holders.size >= limit) return Promise.resolve(undefined);
      const holder = `request ${(claims += 1)}`;
      holders.add(holder);
      return Promise.resolve({ name: 'p0', holder });
    },
    release: async (_account, { holder }) => Promise.resolve(void holders.delete(holder)),
  };
}

export interface FakeClock extends Clock {
  readonly sleeps: readonly number[];
  /** How many deadlines and timeouts were set and not released yet. */
  readonly held: number;
  set(millis: number): void;
}

/**
 * A clock that moves only when something sleeps or when a test sets it. A deadline aborts when the clock
 * passes it.
 */
export function fakeClock(start = now): FakeClock {
  let time = start;
  const sleeps: number[] = [];
  const deadlines: { readonly at: number; readonly controller: AbortController }[] = [];
  const held = new Set<AbortController>();
  const set = (millis: number): void => {
    time = millis;
    for (const { at, controller } of deadlines) if (at <= time) controller.abort();
  };
  const limitAt = (at: number): ReturnType<Clock['deadline']> => {
    const controller = new AbortController();
    deadlines.push({ at, controller });
    held.add(controller);
    if (at <= time) controller.abort();
    return { signal: controller.signal, release: () => void held.delete(controller) };
  };
  return {
    sleeps,
    get held() {
      return held.size;
    },
    set,
    now: () => time,
    elapsed: () => time,
    sleep: async (millis, signal) => {
      signal?.throwIfAborted();
      sleeps.push(millis);
      set(time + millis);
      signal?.throwIfAborted();
      return Promise.resolve();
    },
    deadline: limitAt,
    timeout: (millis) => limitAt(time + millis),
    every: () => () => undefined,
  };
}

export interface FakeLog extends Log {
  /** Level and event of each line in order, such as "alarm start_refused". */
  readonly lines: readonly string[];
  /** Each line with its fields, in order. */
  readonly entries: readonly (readonly [line: string, fields: unknown])[];
  /** Everything that was logged as one text, to search for a text that must not be logged. */
  readonly text: () => string;
}

export function fakeLog(): FakeLog {
  const entries: [line: string, fields: unknown][] = [];
  const write =
    (level: string) =>
    (event: string, fields?: object): void =>
      void entries.push([`${level} ${event}`, fields]);
  return {
    entries,
    get lines() {
      return entries.map(([line]) => line);
    },
    text: () => JSON.stringify(entries.map(([, fields]) => fields)),
    info: write('info'),
    alarm: write('alarm'),
  };
}

/**
 * A provider that gives its answers one after the other. An answer can be a function that returns or throws.
 */
export function fakeProvider(
  name: string,
  ...answers: readonly (ProviderAnswer | (() => ProviderAnswer | Promise<ProviderAnswer>))[]
): ImageProvider & { readonly calls: string[] } {
  const calls: string[] = [];
  const left = [...answers];
  const next = async (call: string): Promise<ProviderAnswer> => {
    calls.push(call);
    const answer = left.shift();
    if (!answer) throw new Error(`${name} was asked once more than this test expects: ${call}`);
    return Promise.resolve(typeof answer === 'function' ? answer() : answer);
  };
  return {
    name,
    calls,
    submit: async (job) => next(`submit ${job.providerModel}`),
    poll: async (jobId) => next(`poll ${jobId}`),
  };
}

/** The first bytes of a PNG, which is all that is read of a PNG. */
export function pngOf(width: number, height: number): Uint8Array {
  const side = (pixels: number): number[] => [0, 0, pixels >> 8, pixels & 0xff];
  return Uint8Array.from(
    [
      [137, 80, 78, 71, 13, 10, 26, 10],
      [0, 0, 0, 13],
      [73, 72, 68, 82],
      side(width),
      side(height),
      [8, 2, 0, 0, 0],
      [1, 2, 3, 4],
    ].flat(),
  );
}

export const pngBytes = pngOf(64, 64);

/** The name of the error with which a promise rejects. */
export const failureOf = async (promise: Promise<unknown>): Promise<string> =>
  (await rejection(promise)).name;

/** The name and the message of the error with which a promise rejects. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<{ readonly name: string; readonly message: string }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return { name: error.name, message: error.message };
    throw error;
  }
  throw new Error('it was not rejected');
}
