/** Runs pieces of work one after the other, in the order of the calls. */
export type Mutex = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Makes a mutex. A piece of work that throws does not stop the next one. */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work, work);
    // The caller handles a rejection of `result`. Without this catch Node would report it as unhandled here.
    last = result.catch(() => undefined);
    return result;
  };
}
