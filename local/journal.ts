import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasErrorCode } from './error-code.ts';

/** A file of JSON lines that only grows. An entry survives kill -9 as soon as append() has returned. */
export interface Journal<Entry> {
  readonly append: (entry: Entry) => void;
  readonly close: () => void;
}

/**
 * Opens a journal and returns its entries. A last line that a killed process has cut off is left out. `keep`
 * chooses the entries that stay: the file is rewritten with them at opening, so that it does not grow for
 * ever.
 */
export function openJournal<Entry>(
  file: string,
  keep: (entries: Entry[]) => Entry[] = (entries) => entries,
): { entries: Entry[]; journal: Journal<Entry> } {
  mkdirSync(dirname(file), { recursive: true });
  const text = readText(file);
  const entries = keep(parseLines<Entry>(text));
  const whole = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  if (whole !== text) {
    writeFileSync(`${file}.next`, whole);
    renameSync(`${file}.next`, file);
  }
  // Each write is synchronous, so entries are in the file, in order, before any later answer is sent.
  const handle = openSync(file, 'a');
  return {
    entries,
    journal: {
      append: (entry) => {
        writeSync(handle, `${JSON.stringify(entry)}\n`);
      },
      close: () => closeSync(handle),
    },
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return '';
    throw error;
  }
}

function parseLines<Entry>(text: string): Entry[] {
  const lines = text.split('\n');
  // The text after the last line break is empty, or the process was killed while it wrote that line.
  lines.pop();
  return lines.map((line) => JSON.parse(line) as Entry);
}
