/** Runs what it is given one after the other, in the order of the calls. */
export type Mutex = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Makes a mutex. A piece of work that throws does not stop the next. */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work, work);
    // Only so that a rejection which its caller handles does not count as unhandled here.
    last = result.catch(() => undefined);
    return result;
  };
}
