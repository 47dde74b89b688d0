/**
 * A snapshot replaces all segments before its number. It is written while the engine continues, so it is
 * fuzzy: it holds each item as the item was at some moment of the writing.
 *
 *   segment 7      records ...|                                          deleted at the end
 *   segment 8                 | records while the snapshot is written ... and so on
 *   snapshot 8                | item a ... item b ... item c, end |
 *                             t0                                  t1
 *
 * Snapshot 8 and then segment 8 give the right state, because every record is absolute:
 *
 * - An item that does not change between t0 and t1 is in the snapshot as it is. `state` promises to list
 *   it.
 * - An item that changes between t0 and t1 may be in the snapshot in any of its states, or be missing.
 *   Segment 8 holds all its changes in order, and the last one decides.
 * - A transaction may be in the snapshot by halves. Segment 8 holds the whole transaction, provided that
 *   segment 8 is on disk up to t1. So the snapshot counts only after that.
 * - A table that is deleted between t0 and t1 would leave records of the table in segment 8 that the engine
 *   cannot apply, since the snapshot may not know the table or know its successor. Such a snapshot is given
 *   up.
 *
 * A kill leaves either the draft, which the next start deletes, or the snapshot beside segments that it
 * replaces, which the next start deletes, too.
 */
import path from 'node:path';
import type { StoredRecord } from '../storage.ts';
import type { FileOperations, WritableFile } from './file-operations.ts';
import { draftName, encodeLine, headerOf, type SnapshotEnd, snapshotName } from './format.ts';

/** What writeSnapshot() needs. */
export interface SnapshotOptions {
  readonly files: FileOperations;
  readonly folder: string;
  /** The number of the segment that was begun just before. */
  readonly number: number;
  readonly state: Iterable<StoredRecord>;
  /** Resolves once the journal is on disk as far as the engine is now. */
  readonly journalSettled: () => Promise<void> | undefined;
  /** Asked after each slice. With true the snapshot is given up. */
  readonly isGivenUp: () => boolean;
  /** Milliseconds of a clock that only goes forward. */
  readonly elapsedMillis: () => number;
}

/** How long the event loop is held for the records of one slice. */
const sliceMillis = 2;
/**
 * A sync of a whole big file would hold up the syncs of the journal, which wait for the same disk. Smaller
 * syncs in between let the journal through.
 */
const syncBytes = 1 * 1024 * 1024;

/** Writes a snapshot. Resolves with its bytes, or with undefined when it was given up. */
export async function writeSnapshot(options: SnapshotOptions): Promise<number | undefined> {
  const { files, folder, number } = options;
  const draft = path.join(folder, draftName(number));
  const bytes = await writeDraft(draft, options);
  if (bytes === undefined) return undefined;
  files.rename(draft, path.join(folder, snapshotName(number)));
  await files.syncFolder(folder);
  return bytes;
}

/** Resolves when the draft and the journal are on disk up to t1. Leaves no draft that is not wanted. */
async function writeDraft(draft: string, options: SnapshotOptions): Promise<number | undefined> {
  const { files, journalSettled, isGivenUp } = options;
  const file = files.open(draft, 'new');
  let isWanted = false;
  try {
    const bytes = await writeRecords(file, options);
    await journalSettled();
    isWanted = bytes !== undefined && !isGivenUp();
    return isWanted ? bytes : undefined;
  } finally {
    file.close();
    if (!isWanted) await files.remove(draft);
  }
}

async function writeRecords(
  file: WritableFile,
  { number, state, isGivenUp, elapsedMillis }: SnapshotOptions,
): Promise<number | undefined> {
  const records = state[Symbol.iterator]();
  let lines = [encodeLine(headerOf('snapshot', number))];
  let count = 0;
  let bytes = 0;
  let syncedBytes = 0;
  for (let isDone = false; !isDone;) {
    const sliceEnd = elapsedMillis() + sliceMillis;
    do {
      const next = records.next();
      isDone = next.done === true;
      if (next.done !== true) {
        lines.push(encodeLine(next.value));
        count += 1;
      }
    } while (!isDone && elapsedMillis() < sliceEnd);
    if (isDone) lines.push(encodeLine({ end: true, records: count } satisfies SnapshotEnd));
    const slice = Buffer.from(lines.join(''));
    lines = [];
    await file.write(slice);
    bytes += slice.length;
    if (isDone || bytes - syncedBytes > syncBytes) {
      await file.sync();
      syncedBytes = bytes;
    }
    if (isGivenUp()) return undefined;
  }
  return bytes;
}
