/** Cells of the clock's shared memory: 64-bit integers, milliseconds. worker-boot.mjs reads them, too. */
export const offsetCell = 0;
/** The instant at which the clock stands; 0 while it flows. */
export const standsAtCell = 1;

/** Reads the virtual time from the clock's shared memory, in whatever thread. `realNow` is that thread's real Date.now. */
export function readSharedClock(
  shared: SharedArrayBuffer,
  realNow: () => number,
): { readonly now: () => number; readonly isFrozen: () => boolean } {
  const cells = new BigInt64Array(shared);
  const read = (cell: number): number => Number(Atomics.load(cells, cell));
  return {
    now: () => {
      const standsAt = read(standsAtCell);
      return standsAt === 0 ? realNow() + read(offsetCell) : standsAt;
    },
    isFrozen: () => read(standsAtCell) !== 0,
  };
}
