import path from 'node:path';
import { type OnWriteFailed, WriteFailed } from '../../disk.ts';
import type { StoredRecord, TableStorage } from '../storage.ts';
import { type FileOperations, realFiles, type WritableFile } from './file-operations.ts';
import {
  draftName,
  encodeLine,
  headerOf,
  readNames,
  segmentName,
  type SnapshotEnd,
  snapshotName,
} from './format.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { type LoadedFolder, loadFolder } from './load-folder.ts';

export type SnapshotOutcome =
  | { readonly outcome: 'written'; readonly number: number; readonly bytes: number }
  | { readonly outcome: 'given-up'; readonly number: number }
  /** The journal continues without it. The next attempt comes when the journal has grown again. */
  | { readonly outcome: 'failed'; readonly cause: unknown };

export interface FolderStorageOptions {
  /** The folder of the tables. Only one process may use it, so the caller holds a lock. */
  readonly folder: string;
  /**
   * A snapshot is written when the journal is larger than this and larger than the snapshot before, and once a day:
   * only then erased items leave the disk.
   */
  readonly snapshotAfterBytes?: number;
  readonly onSnapshot?: (outcome: SnapshotOutcome) => void;
  /** Called with the first write that failed. The storage takes no more writes. */
  readonly onWriteFailed?: OnWriteFailed;
  readonly files?: FileOperations;
  /** Runs `work` at the end of this turn of the event loop. */
  readonly endOfTurn?: (work: () => void) => void;
  /** Milliseconds of a clock that only goes forward. */
  readonly elapsedMillis?: () => number;
}

const megabyte = 1024 * 1024;

const defaults = {
  snapshotAfterBytes: 16 * megabyte,
  onSnapshot: () => undefined,
  onWriteFailed: () => undefined,
  files: realFiles,
  endOfTurn: setImmediate,
  elapsedMillis: () => performance.now(),
} satisfies Partial<FolderStorageOptions>;

/** Keeps the tables in segments and snapshots. settled() resolves once records survive a power failure. */
export function createFolderStorage(options: FolderStorageOptions): TableStorage {
  const complete = { ...defaults, ...options };
  let journal: OpenJournal | undefined;
  return {
    load: async (apply, state) => {
      const loaded = await loadFolder(complete.files, complete.folder, apply);
      journal = await openJournal(complete, loaded, state);
    },
    append: (record) => {
      if (journal === undefined) throw new Error('the tables are not open, so no record can be kept');
      journal.append(record);
    },
    settled: () => journal?.settled(),
    close: async () => {
      const closing = journal;
      journal = undefined;
      await closing?.close();
    },
  };
}

type JournalOptions = Required<FolderStorageOptions>;
type OpenJournal = Pick<TableStorage, 'append' | 'settled' | 'close'>;

/** Puts the folder in order after the last process, and continues with its journal. */
async function openJournal(
  options: JournalOptions,
  loaded: LoadedFolder,
  state: () => Iterable<StoredRecord>,
): Promise<OpenJournal> {
  const { folder, files, endOfTurn, onWriteFailed } = options;
  const file = await openPresentSegment(files, folder, loaded);
  for (const name of loaded.leftovers) await files.remove(path.join(folder, name));
  const commit = createGroupCommit({
    file,
    endOfTurn,
    onWritten: (bytes) => snapshots.onWritten(bytes),
    explain: (cause) => {
      const failure = new WriteFailed(`The tables in ${folder}`, cause);
      onWriteFailed(failure);
      return failure;
    },
  });
  const snapshots = createSnapshots(options, commit, loaded, state);
  return {
    append: (record) => commit.add(encodeLine(record)),
    settled: commit.settled,
    close: async () => {
      await snapshots.close();
      await commit.close();
    },
  };
}

async function openPresentSegment(
  files: FileOperations,
  folder: string,
  { present, cut }: LoadedFolder,
): Promise<WritableFile> {
  files.makeFolder(folder);
  await files.syncFolder(path.dirname(folder));
  if (cut !== undefined) files.truncate(path.join(folder, cut.name), cut.wholeBytes);
  if (!present.isBegun) return beginSegment(files, folder, present.number);
  const file = files.open(path.join(folder, segmentName(present.number)), 'continue');
  // The process before may have ended between its write and its sync, and the engine answers from its records.
  await file.sync();
  await files.syncFolder(folder);
  return file;
}

/** Begins a segment. Resolves once its name and its first line are on disk. */
async function beginSegment(files: FileOperations, folder: string, number: number): Promise<WritableFile> {
  const file = files.open(path.join(folder, segmentName(number)), 'new');
  try {
    file.writeNow(Buffer.from(encodeLine(headerOf('journal', number))));
    await file.sync();
    await files.syncFolder(folder);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** So long after a start, and after each snapshot, the next one is written whatever the size of the journal. */
const [hourMillis, dayMillis] = [3_600_000, 86_400_000];

/** Writes a snapshot whenever the journal has grown enough, or is old enough. */
function createSnapshots(
  options: JournalOptions,
  commit: GroupCommit,
  loaded: LoadedFolder,
  state: () => Iterable<StoredRecord>,
): { readonly onWritten: (bytes: number) => void; readonly close: () => Promise<void> } {
  const { folder, files, snapshotAfterBytes, onSnapshot, elapsedMillis } = options;
  let segment = loaded.present.number;
  /** The bytes of the journal since the last snapshot or attempt. */
  let { journalBytes, snapshotBytes } = loaded;
  let dueAt = elapsedMillis() + hourMillis;
  let isClosing = false;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    const number = segment + 1;
    try {
      await commit.continueIn(() => beginSegment(files, folder, number));
      segment = number;
      journalBytes = 0;
      const bytes = await writeSnapshot(options, {
        number,
        state: state(),
        journalSettled: commit.settled,
        isGivenUp: () => isClosing,
      });
      if (bytes === undefined) {
        onSnapshot({ outcome: 'given-up', number });
        return;
      }
      snapshotBytes = bytes;
      const { segments, snapshots } = readNames(files.list(folder));
      for (const file of [...segments, ...snapshots])
        if (file.number < number) await files.remove(path.join(folder, file.name));
      onSnapshot({ outcome: 'written', number, bytes });
    } catch (cause) {
      journalBytes = 0;
      onSnapshot({ outcome: 'failed', cause });
    }
  }

  return {
    onWritten: (bytes) => {
      journalBytes += bytes;
      const isDue = journalBytes > Math.max(snapshotAfterBytes, snapshotBytes) || elapsedMillis() >= dueAt;
      if (!isDue || isClosing || writing !== undefined) return;
      dueAt = elapsedMillis() + dayMillis;
      writing = write().finally(() => {
        writing = undefined;
      });
    },
    close: async () => {
      isClosing = true;
      await writing;
    },
  };
}

/** How long the event loop is held for the records of one slice. */
const sliceMillis = 2;
/** Syncs in parts, as a sync of a whole big file would hold up those of the journal. */
const syncBytes = 1 * 1024 * 1024;

interface NewSnapshot {
  /** The number of the segment that was begun just before. */
  readonly number: number;
  readonly state: Iterable<StoredRecord>;
  /** Resolves once the journal is on disk as far as the engine is now. */
  readonly journalSettled: () => Promise<void> | undefined;
  /** Asked after each slice. With true the snapshot is given up. */
  readonly isGivenUp: () => boolean;
}

/**
 * A snapshot replaces all segments before its number. It is written while the engine continues, from t0 to t1:
 *
 *   segment 8                 | records while the snapshot is written ... and so on
 *   snapshot 8                | item a ... item b ... item c, end |
 *
 * An item that changes meanwhile may be in it in any state, or be missing, and a transaction by halves. Segment 8
 * repairs that, as every record is absolute, once it is on disk up to t1. So the snapshot counts only then.
 * Resolves with its bytes, or undefined when it was given up. The next start deletes what a kill leaves.
 */
async function writeSnapshot(
  { files, folder, elapsedMillis }: JournalOptions,
  snapshot: NewSnapshot,
): Promise<number | undefined> {
  const { number, journalSettled, isGivenUp } = snapshot;
  const draft = path.join(folder, draftName(number));
  const file = files.open(draft, 'new');
  let bytes: number | undefined;
  try {
    const written = await writeRecords(file, snapshot, elapsedMillis);
    // The draft and the journal must be on disk up to t1.
    await journalSettled();
    if (!isGivenUp()) bytes = written;
  } finally {
    file.close();
    if (bytes === undefined) await files.remove(draft);
  }
  if (bytes === undefined) return undefined;
  files.rename(draft, path.join(folder, snapshotName(number)));
  await files.syncFolder(folder);
  return bytes;
}

async function writeRecords(
  file: WritableFile,
  { number, state, isGivenUp }: NewSnapshot,
  elapsedMillis: () => number,
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
