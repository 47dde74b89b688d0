/** The shared memory in which a worker tells how it is doing. worker-boot.mjs writes the cells by number. */

/** When the worker's event loop last turned, in real milliseconds since 1970. 0 until the worker has started. */
const turnCell = 0;
/** The worker's open calls to AWS. */
const callsCell = 1;
/** How many invocations the worker has begun so far. */
const begunCell = 2;

/** What the main thread reads of a worker, without asking it. */
export interface Vitals {
  readonly shared: SharedArrayBuffer;
  /** Milliseconds since the event loop last turned. 0 for a worker that still loads its bundle. */
  readonly stillMillis: () => number;
  readonly openCalls: () => number;
  readonly begun: () => number;
}

/** Makes the cells of one worker. */
export function createVitals(): Vitals {
  const shared = new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT);
  const cells = new BigInt64Array(shared);
  const read = (cell: number): number => Number(Atomics.load(cells, cell));
  return {
    shared,
    stillMillis: () => (read(turnCell) === 0 ? 0 : Date.now() - read(turnCell)),
    openCalls: () => read(callsCell),
    begun: () => read(begunCell),
  };
}
