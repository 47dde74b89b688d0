/** Files that a kill has cut off, in memory and on a real disk. */
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeLine } from '../../../local/dynamodb/journal/lines.ts';
import { temporaryFolder } from '../machine-fixture.ts';
import {
  changed,
  contentOf,
  numbered,
  open,
  refusalOf,
  segment,
  table,
  textOf,
  threeItems,
} from './journal-fixture.ts';

describe('a segment that a kill has cut off', () => {
  const header = (number: number): string =>
    encodeLine({ format: 'darkroom-tables', version: 1, kind: 'journal', number });

  it('A segment that a kill has cut off may be followed by a segment without records', async () => {
    const files = await threeItems();
    for (const next of ['', header(2).slice(0, 20), header(2)]) {
      const left = changed(files, {
        [segment(1)]: contentOf(files, segment(1)).slice(0, -5),
        [segment(2)]: next,
      });
      const service = await open({ files: left });
      expect(service.items('Main')).toHaveLength(2);
      service.write(numbered(7));
      await service.close();
      expect(await textOf(left)).toBe(service.text());
    }
  });

  it('A segment that a kill has cut off is refused when records follow it', async () => {
    const files = await threeItems();
    const left = changed(files, {
      [segment(1)]: contentOf(files, segment(1)).slice(0, -5),
      [segment(2)]: header(2) + encodeLine(numbered(7)),
    });
    expect(await refusalOf(left)).toContain(`${segment(1)} ends before its end`);
  });
});

describe('the storage on a real disk', () => {
  it('The storage writes, makes snapshots, cuts off a broken line, and has everything at the next start', async () => {
    const { folder, remove } = temporaryFolder();
    onTestFinished(remove);
    const real = path.join(folder, 'data', 'tables');
    const service = await open({ folder: real, snapshotAfterBytes: 20_000 });
    service.write(table);
    for (let n = 0; service.snapshots.length < 2; n += 1) {
      service.write(numbered(n % 300));
      if (n % 10 === 0) await service.settled();
    }
    await service.close();
    expect(service.snapshots.map(({ outcome }) => outcome)).toEqual(['written', 'written']);
    const names = readdirSync(real).toSorted();
    expect(names).toEqual(['journal-00000003.jsonl', 'snapshot-00000003.jsonl']);
    const last = path.join(real, 'journal-00000003.jsonl');
    const { size } = statSync(last);
    writeFileSync(last, `${readFileSync(last, 'utf8')}0123abcd {"kind":"comm`);

    const again = await open({ folder: real });
    expect(again.text()).toBe(service.text());
    expect(statSync(last).size).toBe(size);
    again.write(numbered(1_000));
    await again.close();
    const third = await open({ folder: real });
    expect(third.text()).toBe(again.text());
    await third.close();
    truncateSync(last, size - 3);
  });
});
