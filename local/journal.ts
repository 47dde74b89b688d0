import { closeSync, fdatasync, fdatasyncSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import {
  FolderRefused,
  inGroups,
  isOfDisk,
  makeFolder,
  type OnWriteFailed,
  readIfPresent,
  replaceFile,
  WriteFailed,
} from './disk.ts';
import { isObject } from './json.ts';

/** The first line of each journal. A release that changes the form counts the version up. */
const header = { format: 'darkroom-journal', version: 1 };

/** A file of JSON lines that only grows. append() returns once an entry survives kill -9, or throws WriteFailed. */
export interface Journal<Entry> {
  readonly append: (entry: Entry) => void;
  /** Resolves once all entries so far survive a power failure, too. */
  readonly settled: () => Promise<void>;
  readonly close: () => void;
}

/** Opens a journal, rewritten with the entries that `keep` chooses. A last line that is cut off is left out. */
export function openJournal<Entry>(
  file: string,
  keep: (entries: Entry[]) => Entry[] = (entries) => entries,
  onWriteFailed?: OnWriteFailed,
): { entries: Entry[]; journal: Journal<Entry> } {
  makeFolder(dirname(file));
  const text = readIfPresent(file) ?? '';
  const entries = keep(entriesOf<Entry>(file, text));
  const whole = [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join('');
  if (whole !== text) rewrite(file, text, whole);
  // Each write is synchronous, so entries are in the file, in order, before any later answer is sent.
  const handle = openSync(file, 'a');
  // The process before may have been killed between its write and its sync, and answers come from its entries.
  fdatasyncSync(handle);
  let isOpen = true;
  const fail = (cause: unknown): never => {
    const failure = new WriteFailed(`The records in ${file}`, cause);
    onWriteFailed?.(failure);
    throw failure;
  };
  return {
    entries,
    journal: {
      // A call that is still under way when the service ends has nobody left to answer.
      settled: inGroups(async () => {
        if (isOpen) await promisify(fdatasync)(handle).catch((cause: unknown) => isOpen && fail(cause));
      }),
      append: (entry) => {
        try {
          writeWhole(handle, Buffer.from(`${JSON.stringify(entry)}\n`));
        } catch (cause) {
          fail(cause);
        }
      },
      close: () => {
        isOpen = false;
        closeSync(handle);
      },
    },
  };
}

/** The rewritten file is shorter, but for a moment it needs room beside the old one. */
function rewrite(file: string, text: string, whole: string): void {
  try {
    replaceFile(file, whole);
  } catch (error) {
    rmSync(`${file}.draft`, { force: true });
    if (!isOfDisk(error)) throw error;
    truncateSync(file, Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)));
  }
}

/** A write can take fewer bytes than it was given, for example just before the disk is full. */
function writeWhole(handle: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += writeSync(handle, bytes, done);
}

/** The text after the last line break is empty, or the process was killed while it wrote that line. */
export function entriesOf<Entry>(file: string, text: string): Entry[] {
  const lines: unknown[] = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
  const [first] = lines;
  // Releases before the header began with an entry.
  if (!isObject(first) || first['format'] !== header.format) return lines as Entry[];
  if (first['version'] !== header.version)
    throw new FolderRefused(
      'FOLDER_UNUSABLE',
      `The file ${file} is of a newer release (its version is ${String(first['version'])}): start that release.`,
    );
  return lines.slice(1) as Entry[];
}
