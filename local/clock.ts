import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { offsetCell, readSharedClock, standsAtCell } from './shared-clock.ts';

/**
 * The virtual clock: real time plus an offset that only an advance changes.
 *
 * ```
 * real time  ───────────────────────────────▶
 * virtual    ─────▶│ stands │jump│ stands │jump│─────▶
 *                freeze                      thaw
 * ```
 *
 * While it stands, what falls due can be started at exactly its own instant, however long
 * starting it takes. All instants are milliseconds since 1970.
 */
export interface VirtualClock {
  readonly now: () => number;
  /** Virtual minus real time, as it is kept in the file. */
  readonly offset: () => number;
  readonly isFrozen: () => boolean;
  /** Stops the clock and answers the instant at which it stands. */
  readonly freeze: () => number;
  /** Moves the standing clock on. The new time is on disk before this returns. An instant in the past changes nothing. */
  readonly jumpTo: (instant: number) => void;
  /** Lets time flow again from where the clock stands. */
  readonly thaw: () => void;
  /** What a worker needs to see the same time at once, see shared-clock.ts. */
  readonly shared: SharedArrayBuffer;
}

const recordSchema = z.object({ offset_millis: z.int(), seen_at: z.int() });

/** Opens the clock kept in `file`; without a file it starts at real time and is forgotten. Throws when the file is not a clock's. */
export function openClock(file?: string, realNow: () => number = Date.now): VirtualClock {
  const shared = new SharedArrayBuffer(16);
  const cells = new BigInt64Array(shared);
  const write = (cell: number, value: number): void => {
    Atomics.store(cells, cell, BigInt(value));
  };
  const { now, isFrozen } = readSharedClock(shared, realNow);
  /** From here on real time plus the offset on disk is at least `instant`, so that a killed process never sets time back. */
  const keep = (instant: number): number => {
    const offset = instant - realNow();
    if (file !== undefined) writeRecord(file, offset, instant);
    return offset;
  };

  const kept = file === undefined ? undefined : readRecord(file);
  // The machine's own clock may have been set back since; the virtual one never is.
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
      // The offset first: a reader who finds the clock flowing must find the new offset, too.
      write(offsetCell, keep(now()));
      write(standsAtCell, 0);
    },
  };
}

function readRecord(file: string): z.output<typeof recordSchema> | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${file} is not a clock's file`, { cause });
  }
}

function writeRecord(file: string, offset: number, instant: number): void {
  mkdirSync(dirname(file), { recursive: true });
  const next = `${file}.next`;
  writeFileSync(next, `${JSON.stringify({ offset_millis: offset, seen_at: instant })}\n`);
  renameSync(next, file);
}
