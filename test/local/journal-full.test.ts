/** The journals of JSON lines on a disk that takes no more bytes. `ulimit -f` refuses the writes of a real file system. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openJournal } from '../../local/journal.ts';
import { temporaryFolder } from './machine-fixture.ts';

const module = fileURLToPath(new URL('../../local/journal.ts', import.meta.url));

/** Runs the program in a process whose files cannot grow beyond so many half kilobytes, and returns its output. */
function withFilesOf(halfKilobytes: number, program: string, file: string): string {
  const source = `import { openJournal } from ${JSON.stringify(module)};\nconst file = ${JSON.stringify(file)};\n${program}`;
  const command = ['-c', `ulimit -f ${halfKilobytes}; exec "$@"`, 'sh', process.execPath];
  const { stdout, stderr } = spawnSync('sh', [...command, '--input-type=module', '-e', source], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout;
}

const appendUntilItFails = `
  const { journal } = openJournal(file, undefined, (failure) => console.log(failure.name, failure.message));
  let kept = 0;
  try { for (;;) { journal.append({ number: kept, text: 'x'.repeat(70) }); kept += 1; } }
  catch { console.log(kept); }`;

function fullJournal(): { readonly file: string; readonly kept: number; readonly said: string } {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const file = path.join(folder, 'journal.jsonl');
  const [said = '', kept = ''] = withFilesOf(8, appendUntilItFails, file).split('\n');
  return { file, kept: Number(kept), said };
}

describe('a journal on a full disk', () => {
  it('tells in one sentence that a write failed', () => {
    const { file, kept, said } = fullJournal();
    expect(kept).toBeGreaterThan(10);
    expect(said).toBe(
      `WriteFailed The records in ${file} take no more writes (EFBIG: file too large, write): make room on the disk or repair it, and start the service again.`,
    );
  });

  it('has every entry that was kept, and no part of the entry that was not', () => {
    const { file, kept } = fullJournal();
    expect(readFileSync(file, 'utf8').endsWith('\n')).toBe(false);
    const { entries, journal } = openJournal<{ readonly number: number }>(file);
    journal.append({ number: kept });
    journal.close();
    const again = openJournal<{ readonly number: number }>(file);
    again.journal.close();
    expect(entries.map(({ number }) => number)).toEqual(Array.from({ length: kept }, (_, number) => number));
    expect(again.entries).toHaveLength(kept + 1);
  });

  it('opens while there is no room to rewrite its file, and cuts off the part of an entry', () => {
    const { file, kept } = fullJournal();
    const open = 'console.log(openJournal(file, (entries) => entries.slice(1)).entries.length);';
    expect(withFilesOf(0, open, file)).toBe(`${kept - 1}\n`);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(kept + 1);
  });
});
