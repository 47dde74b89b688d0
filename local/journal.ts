import { closeSync, mkdirSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { isOfDisk, type OnWriteFailed, readIfPresent, replaceFile, WriteFailed } from './disk.ts';

/** A file of JSON lines that only grows. append() returns once an entry survives kill -9, or throws WriteFailed. */
export interface Journal<Entry> {
  readonly append: (entry: Entry) => void;
  readonly close: () => void;
}

/** Opens a journal, rewritten with the entries that `keep` chooses. A last line that is cut off is left out. */
export function openJournal<Entry>(
  file: string,
  keep: (entries: Entry[]) => Entry[] = (entries) => entries,
  onWriteFailed?: OnWriteFailed,
): { entries: Entry[]; journal: Journal<Entry> } {
  mkdirSync(dirname(file), { recursive: true });
  const text = readIfPresent(file) ?? '';
  const entries = keep(parseLines<Entry>(text));
  const whole = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  if (whole !== text) rewrite(file, text, whole);
  // Each write is synchronous, so entries are in the file, in order, before any later answer is sent.
  const handle = openSync(file, 'a');
  return {
    entries,
    journal: {
      append: (entry) => {
        try {
          writeWhole(handle, Buffer.from(`${JSON.stringify(entry)}\n`));
        } catch (cause) {
          const failure = new WriteFailed(`The records in ${file}`, cause);
          onWriteFailed?.(failure);
          throw failure;
        }
      },
      close: () => closeSync(handle),
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
function parseLines<Entry>(text: string): Entry[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Entry);
}
