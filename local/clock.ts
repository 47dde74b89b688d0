import { readIfPresent, replaceFile } from './disk.ts';
import { isObject, parseJson } from './json.ts';

/** The 64-bit cell with the offset in milliseconds. worker-boot.mjs reads the cells by number. */
const offsetCell = 0;
/** The cell with the instant at which the clock stands. It is 0 while the clock flows. */
const standsAtCell = 1;

/** Reads the virtual time in any thread. `realNow` is that thread's real Date.now. */
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

/**
 * The virtual clock shows real time plus an offset, in milliseconds since 1970. Only an advance changes the
 * offset: it freezes the clock, jumps from due work to due work, and lets time flow again.
 */
export interface VirtualClock {
  readonly now: () => number;
  /** Virtual time minus real time, as the file keeps it. */
  readonly offset: () => number;
  readonly isFrozen: () => boolean;
  /** Stops the clock. Returns the instant at which the clock stands. */
  readonly freeze: () => number;
  /** Sets the standing clock to a later instant, on disk before it returns. Throws while the clock flows. */
  readonly jumpTo: (instant: number) => void;
  /** Lets time flow again, from the instant at which the clock stands. */
  readonly thaw: () => void;
  /** Shared memory through which a worker sees the same time at once. offsetCell and standsAtCell are its cells. */
  readonly shared: SharedArrayBuffer;
}

/** Opens the clock whose offset is in `file`, at real time without one. Throws when the file holds no clock. */
export function openClock(file?: string, realNow: () => number = Date.now): VirtualClock {
  const shared = new SharedArrayBuffer(16);
  const cells = new BigInt64Array(shared);
  const write = (cell: number, value: number): void => {
    Atomics.store(cells, cell, BigInt(value));
  };
  const { now, isFrozen } = readSharedClock(shared, realNow);
  /** Writes an offset that gives at least `instant`, so that a killed process never sets time back. */
  const keep = (instant: number): number => {
    const offset = instant - realNow();
    if (file !== undefined)
      replaceFile(file, `${JSON.stringify({ offset_millis: offset, seen_at: instant })}\n`);
    return offset;
  };

  const kept = file === undefined ? undefined : readRecord(file);
  // The machine's own clock may have been set back since. The virtual clock must not go back with it.
  if (kept !== undefined) write(offsetCell, Math.max(kept.offset_millis, kept.seen_at - realNow()));

  return {
    now,
    shared,
    isFrozen,
    offset: () => Number(Atomics.load(cells, offsetCell)),
    freeze: () => {
      const instant = now();
      write(standsAtCell, instant);
      return instant;
    },
    jumpTo: (instant) => {
      if (!isFrozen()) throw new Error('the clock can only jump while it stands');
      if (instant <= now()) return;
      keep(instant);
      write(standsAtCell, instant);
    },
    thaw: () => {
      if (!isFrozen()) return;
      // Write the offset first. A reader that finds the clock flowing must find the new offset, too.
      write(offsetCell, keep(now()));
      write(standsAtCell, 0);
    },
  };
}

function readRecord(file: string): { offset_millis: number; seen_at: number } | undefined {
  const text = readIfPresent(file);
  if (text === undefined) return undefined;
  const record = parseJson(text);
  const { offset_millis, seen_at } = isObject(record) ? record : {};
  if (!Number.isInteger(offset_millis) || !Number.isInteger(seen_at))
    throw new Error(`${file} is not a clock's file`);
  return { offset_millis: Number(offset_millis), seen_at: Number(seen_at) };
}
