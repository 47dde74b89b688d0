import path from 'node:path';
import { type OnWriteFailed, WriteFailed } from '../../disk.ts';
import type { StoredRecord, TableStorage } from '../storage.ts';
import { type FileOperations, realFiles, type WritableFile } from './file-operations.ts';
import { encodeLine, headerOf, readNames, segmentName } from './format.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { type LoadedFolder, loadFolder } from './load-folder.ts';
import { writeSnapshot } from './snapshot.ts';

/** How the writing of a snapshot ended. */
export type SnapshotOutcome =
  | { readonly outcome: 'written'; readonly number: number; readonly bytes: number }
  /** A table was deleted meanwhile, or the storage was closed. */
  | { readonly outcome: 'given-up'; readonly number: number }
  /** The journal continues without it. The next attempt comes when the journal has grown again. */
  | { readonly outcome: 'failed'; readonly cause: unknown };

/** The options of createFolderStorage(). */
export interface FolderStorageOptions {
  /** The folder of the tables. Only one process may use it, so the caller holds a lock. */
  readonly folder: string;
  /** A snapshot is written when the journal is larger than this and larger than the snapshot before. */
  readonly snapshotAfterBytes?: number;
  readonly onSnapshot?: (outcome: SnapshotOutcome) => void;
  /** Hears of the first write that failed. The storage takes no more writes. */
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

/**
 * Keeps the tables in a folder: an append-only journal in segments, and snapshots. settled() resolves once
 * the records are on disk (fdatasync), so they survive kill -9 and a power failure. load() throws
 * FolderRefused when the folder cannot be read.
 */
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
    append: (record) => {
      if (record.kind === 'table-deleted') snapshots.giveUp();
      commit.add(encodeLine(record));
    },
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
  // The process before may have been killed between its write and its sync. The engine has read those records
  // now, and it will answer from them.
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

/** Writes a snapshot whenever the journal has grown enough. */
interface Snapshots {
  readonly onWritten: (bytes: number) => void;
  /** Gives up the snapshot that is being written. */
  readonly giveUp: () => void;
  readonly close: () => Promise<void>;
}

function createSnapshots(
  { folder, files, snapshotAfterBytes, onSnapshot, elapsedMillis }: JournalOptions,
  commit: GroupCommit,
  loaded: LoadedFolder,
  state: () => Iterable<StoredRecord>,
): Snapshots {
  let segment = loaded.present.number;
  /** The bytes of the journal since the last snapshot or attempt. */
  let { journalBytes, snapshotBytes } = loaded;
  let isGivenUp = false;
  let isClosing = false;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    isGivenUp = false;
    const number = segment + 1;
    try {
      await commit.continueIn(() => beginSegment(files, folder, number));
      segment = number;
      journalBytes = 0;
      const bytes = await writeSnapshot({
        files,
        folder,
        number,
        state: state(),
        journalSettled: commit.settled,
        isGivenUp: () => isGivenUp || isClosing,
        elapsedMillis,
      });
      if (bytes === undefined) {
        onSnapshot({ outcome: 'given-up', number });
        return;
      }
      snapshotBytes = bytes;
      for (const name of replacedBy(number)) await files.remove(path.join(folder, name));
      onSnapshot({ outcome: 'written', number, bytes });
    } catch (cause) {
      journalBytes = 0;
      onSnapshot({ outcome: 'failed', cause });
    }
  }

  function replacedBy(number: number): string[] {
    const { segments, snapshots } = readNames(files.list(folder));
    return [...segments, ...snapshots].filter((file) => file.number < number).map(({ name }) => name);
  }

  return {
    onWritten: (bytes) => {
      journalBytes += bytes;
      const isDue = journalBytes > Math.max(snapshotAfterBytes, snapshotBytes);
      if (!isDue || isClosing || writing !== undefined) return;
      writing = write().finally(() => {
        writing = undefined;
      });
    },
    giveUp: () => {
      isGivenUp = true;
    },
    close: async () => {
      isClosing = true;
      await writing;
    },
  };
}
