/**
 * The cell with the offset in the clock's shared memory. Cells are 64-bit integers, in milliseconds.
 * worker-boot.mjs reads the same cells by number.
 */
export const offsetCell = 0;
/** The cell with the instant at which the clock stands. It is 0 while the clock flows. */
export const standsAtCell = 1;

/**
 * Reads the virtual time from the clock's shared memory, in any thread. `realNow` is that thread's real
 * Date.now.
 */
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
