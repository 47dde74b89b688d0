/** The environment of the client: time, sleep and randomness. Tests pass another. */

export interface Machinery {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits, and throws the reason of the signal as soon as the signal is aborted. */
  readonly sleep: (millis: number, signal?: AbortSignal) => Promise<void>;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  readonly uuid: () => string;
}

const surroundings: Machinery = {
  now: () => Date.now(),
  sleep,
  random: () => Math.random(),
  uuid: () => crypto.randomUUID(),
};

const key = Symbol('machinery');

/** Options that carry another machinery. Only tests call this: the symbol is not a part of the package. */
export function withMachinery<Options extends object>(
  options: Options,
  machinery: Partial<Machinery>,
): Options {
  return { ...options, [key]: machinery };
}

export function machineryOf(options: object): Machinery {
  return { ...surroundings, ...(options as { [key]?: Partial<Machinery> })[key] };
}

async function sleep(millis: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      // The reason is what the caller gave to abort(): it is thrown as it is.
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, millis);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
