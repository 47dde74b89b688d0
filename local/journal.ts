import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** A file of JSON lines that only grows. What append() has taken survives kill -9. */
export interface Journal<Entry> {
  readonly append: (entry: Entry) => void;
  readonly close: () => void;
}

/**
 * Opens a journal and gives what it holds. A last line cut off by a killed process is left out.
 * `keep` rewrites the file at opening, so that it does not grow for ever.
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
  // Written at once and in order: an answer that is sent afterwards promises what is in the file.
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
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function parseLines<Entry>(text: string): Entry[] {
  const lines = text.split('\n');
  // What follows the last line break was being written when the process was killed.
  lines.pop();
  return lines.map((line) => JSON.parse(line) as Entry);
}
