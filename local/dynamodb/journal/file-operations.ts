import {
  closeSync,
  createReadStream,
  fdatasync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  truncateSync,
  write,
  writeSync,
} from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { makeFolder } from '../../disk.ts';

/** A file that is open for writing at its end. */
export interface WritableFile {
  /** Writes all bytes before it returns. Some 5 µs for a record, because the kernel only copies them. */
  readonly writeNow: (bytes: Uint8Array) => void;
  /** Writes all bytes without holding the event loop. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Resolves once everything that was written is on disk (fdatasync). */
  readonly sync: () => Promise<void>;
  readonly close: () => void;
}

/** What the storage asks of the file system. Tests put a file system here that fails at a chosen step. */
export interface FileOperations {
  readonly makeFolder: (folder: string) => void;
  /** The names in the folder. An absent folder is empty. */
  readonly list: (folder: string) => string[];
  /** Opens an empty file (`new`, which replaces an old file) or continues a file (`continue`). */
  readonly open: (file: string, mode: 'new' | 'continue') => WritableFile;
  /** Reads a file in pieces of some megabytes. */
  readonly read: (file: string) => AsyncIterable<Buffer>;
  readonly truncate: (file: string, bytes: number) => void;
  readonly rename: (from: string, to: string) => void;
  /** Does not hold the event loop: the kernel takes some 40 ms to free a file of 100 MB. */
  readonly remove: (file: string) => Promise<void>;
  /** Resolves once the names in the folder are on disk. */
  readonly syncFolder: (folder: string) => Promise<void>;
}

const readBytes = 4 * 1024 * 1024;

export const realFiles: FileOperations = {
  makeFolder: (folder) => makeFolder(folder),
  list: (folder) => (statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder) : []),
  open: (file, mode) => openFile(file, mode),
  read: (file) => createReadStream(file, { highWaterMark: readBytes }),
  truncate: truncateSync,
  rename: renameSync,
  remove: (file) => rm(file, { force: true }),
  syncFolder: async (folder) => {
    // Windows cannot open a folder. NTFS keeps names in a journal of its own.
    if (process.platform === 'win32') return;
    const handle = await open(folder);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

function openFile(file: string, mode: 'new' | 'continue'): WritableFile {
  const descriptor = openSync(file, mode === 'new' ? 'w' : 'a');
  return {
    writeNow: (bytes) => {
      // A write can take fewer bytes than it was given, for example just before the disk is full.
      for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
    },
    write: async (bytes) => {
      for (let done = 0; done < bytes.length;) done += await writePart(descriptor, bytes, done);
    },
    sync: () =>
      new Promise((resolve, reject) => {
        fdatasync(descriptor, (error) => (error ? reject(error) : resolve()));
      }),
    close: () => closeSync(descriptor),
  };
}

function writePart(descriptor: number, bytes: Uint8Array, offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, offset, bytes.length - offset, undefined, (error, written) =>
      error ? reject(error) : resolve(written),
    );
  });
}
