/** Fakes of the ports: what a test does not give must not be asked for. */
import type { Clock, Log } from '../../core/ports/runtime.ts';
import type { ImageProvider, ProviderAnswer } from '../../core/provider.ts';
import { now } from '../fixtures/records.ts';

/** A port of which only the given part is there; anything else that is called fails the test by its name. */
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

export interface FakeClock extends Clock {
  readonly sleeps: readonly number[];
  set(millis: number): void;
}

/** Stands still until something sleeps or sets it; deadlines fire as it passes them. */
export function fakeClock(start = now): FakeClock {
  let time = start;
  const sleeps: number[] = [];
  const deadlines: { readonly at: number; readonly controller: AbortController }[] = [];
  const set = (millis: number): void => {
    time = millis;
    for (const { at, controller } of deadlines) if (at <= time) controller.abort();
  };
  return {
    sleeps,
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
    deadline: (at) => {
      const controller = new AbortController();
      deadlines.push({ at, controller });
      if (at <= time) controller.abort();
      return { signal: controller.signal, release: () => undefined };
    },
    timeout: (millis) => {
      const controller = new AbortController();
      deadlines.push({ at: time + millis, controller });
      if (millis <= 0) controller.abort();
      return { signal: controller.signal, release: () => undefined };
    },
    every: () => () => undefined,
  };
}

export interface FakeLog extends Log {
  /** "alarm start_refused": level and event of each line, in order. */
  readonly lines: readonly string[];
  /** Everything that was logged, as one text: to look for what must not be in it. */
  readonly text: () => string;
}

export function fakeLog(): FakeLog {
  const lines: string[] = [];
  const all: unknown[] = [];
  const write =
    (level: string) =>
    (event: string, fields?: object): void => {
      lines.push(`${level} ${event}`);
      all.push(fields);
    };
  return { lines, text: () => JSON.stringify(all), info: write('info'), alarm: write('alarm') };
}

/** A provider that gives its answers one after the other; each an answer, or a function that gives or throws one. */
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

/** A PNG's first bytes, which is all that is read of it: 64 x 64 pixels. */
export const pngBytes = Uint8Array.from(
  [
    [137, 80, 78, 71, 13, 10, 26, 10],
    [0, 0, 0, 13],
    [73, 72, 68, 82],
    [0, 0, 0, 64],
    [0, 0, 0, 64],
    [8, 2, 0, 0, 0],
    [1, 2, 3, 4],
  ].flat(),
);

/** The name and the text of what a promise is rejected with. */
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
