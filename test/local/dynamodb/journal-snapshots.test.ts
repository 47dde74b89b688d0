/** Snapshots: how they replace segments, what stops them, and which of them a start refuses. */
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolderStorage } from '../../../local/dynamodb/journal/folder-storage.ts';
import { encodeLine } from '../../../local/dynamodb/journal/format.ts';
import { newFolder } from '../machine-fixture.ts';
import {
  commit,
  createMapTables,
  createMemoryFiles,
  type MemoryFiles,
  put,
  remove,
  turns,
} from './in-memory.ts';
import {
  changed,
  contentOf,
  folder,
  numbered,
  open,
  refusalOf,
  segment,
  snapshot,
  table,
  textOf,
  threeItems,
} from './journal-fixture.ts';

describe('a snapshot', () => {
  const eager = { snapshotAfterBytes: 2_000 };
  /** Time that passes with every read, so that each slice has eight records. */
  const createClock = (): (() => number) => {
    let millis = 0;
    return () => (millis += 0.25);
  };

  /** A folder with a snapshot and a segment after it. */
  async function withSnapshot(): Promise<{ files: MemoryFiles; text: string }> {
    const files = createMemoryFiles();
    const service = await open({ files, ...eager });
    service.write(table);
    for (let n = 0; n < 40; n += 1) service.write(numbered(n));
    await service.settled();
    await expect.poll(() => service.snapshots.map(({ outcome }) => outcome)).toEqual(['written']);
    service.write(numbered(100), commit(remove('Main', 'a', '3')));
    await service.close();
    return { files, text: service.text() };
  }

  it('A snapshot replaces the segments before it', async () => {
    const { files, text } = await withSnapshot();
    expect([...files.contents().keys()]).toEqual([segment(2), snapshot(2)]);
    expect(await textOf(files)).toBe(text);
  });

  it('A snapshot is written an hour after a start and then once a day, so that deleted items leave the disk', async () => {
    const files = createMemoryFiles();
    let elapsed = 0;
    const service = await open({ files, elapsedMillis: () => elapsed });
    const onDisk = (): string => [...files.contents().values()].join('');
    service.write(table);
    for (const [hours, count] of [
      [0, 0],
      [1.1, 1],
      [20, 1],
      [26, 2],
    ] as const) {
      const secret = `secret-${hours}`;
      service.write(commit(put('Main', secret, '1')));
      service.write(commit(remove('Main', secret, '1')));
      await service.settled();
      elapsed = hours * 3_600_000;
      service.write(numbered(hours));
      await service.settled();
      await expect.poll(() => service.snapshots.length).toBe(count);
      expect(onDisk().includes(secret)).toBe(hours !== 1.1 && hours !== 26);
    }
    await service.close();
  });

  it('A snapshot is written while writes go on, and a start gives the last state', async () => {
    const files = createMemoryFiles();
    const service = await open({ files, ...eager, elapsedMillis: createClock() });
    service.write(table);
    for (let n = 0; n < 60; n += 1) service.write(numbered(n));
    for (let round = 0; service.snapshots.length < 3; round += 1) {
      const n = (round * 7) % 60;
      service.write(commit(remove('Main', 'a', String(n)), put('Main', 'a', String((n + 30) % 60))));
      service.write(commit(put('Main', 'b', `${round}`), remove('Main', 'b', `${round - 20}`)));
      await turns(1);
    }
    await service.close();
    expect(service.snapshots.map(({ outcome }) => outcome)).toEqual(['written', 'written', 'written']);
    expect(await textOf(files)).toBe(service.text());
  });

  it('A snapshot lets the event loop turn after each slice of 2 ms', async () => {
    const files = createMemoryFiles();
    let elapsed = 0;
    let read = 0;
    const readPerTurn: number[] = [];
    const tables = createMapTables();
    const storage = createFolderStorage({ folder, files, ...eager, elapsedMillis: () => elapsed });
    await storage.load(tables.apply, function* () {
      for (const record of tables.state()) {
        elapsed += 0.5;
        read += 1;
        yield record;
      }
    });
    tables.apply(table);
    for (let n = 0; n < 40; n += 1) {
      tables.apply(numbered(n));
      storage.append(numbered(n));
    }
    await storage.settled();
    for (let last = 0; read < 41; last = read) {
      await turns(1);
      readPerTurn.push(read - last);
    }
    await storage.close();
    expect(Math.max(...readPerTurn)).toBe(4);
  });

  it('A snapshot counts only when the journal is on disk as far as the snapshot saw', async () => {
    let journalTurns = 1;
    const files = createMemoryFiles([], {
      syncTurns: (file) => (file.includes('journal-') ? journalTurns : 1),
    });
    const service = await open({ files, ...eager, elapsedMillis: createClock() });
    service.write(table);
    for (let n = 0; n < 40; n += 1) service.write(numbered(n));
    const draft = `${snapshot(2)}.draft`;
    while (!files.contents().has(draft)) await turns(1);
    journalTurns = 300;
    service.write(numbered(100));
    await turns(100);
    expect(contentOf(files, draft)).toContain('"N":"100"');
    expect(contentOf(files, draft)).toContain('"end":true');
    expect(files.contents().has(snapshot(2))).toBe(false);
    await expect.poll(() => service.snapshots.map(({ outcome }) => outcome)).toEqual(['written']);
    await service.close();
    expect(await textOf(files)).toBe(service.text());
  });

  it.each(['open', 'write', 'rename', 'syncFolder'] as const)(
    'A snapshot that fails at %s does no harm, and a later one is written',
    async (operation) => {
      let isFull = true;
      const files = createMemoryFiles([], {
        refuse: (one, file) =>
          isFull && one === operation && (one === 'syncFolder' || !file.includes('00000001')),
      });
      isFull = false;
      const service = await open({ files, ...eager });
      service.write(table);
      await service.settled();
      isFull = true;
      for (let n = 0; n < 40; n += 1) service.write(numbered(n));
      await service.settled();
      await expect.poll(() => service.snapshots.map(({ outcome }) => outcome)).toEqual(['failed']);
      expect(await textOf(files.after('kill'))).toBe(service.text());
      isFull = false;
      for (let n = 0; n < 40; n += 1) service.write(numbered(n));
      await expect.poll(() => service.snapshots.map(({ outcome }) => outcome)).toEqual(['failed', 'written']);
      await service.close();
      expect(await textOf(files)).toBe(service.text());
      expect([...files.contents().keys()].filter((name) => name.endsWith('.draft'))).toEqual([]);
    },
  );

  it('A snapshot that is cut off or lacks its segment is refused', async () => {
    const { files } = await withSnapshot();
    const content = contentOf(files, snapshot(2));
    const withoutEnd = `${content.split('\n').slice(0, -2).join('\n')}\n`;
    const withoutRecord = content.split('\n').toSpliced(5, 1).join('\n');
    const advice = 'bring back a copy of the folder, or start on a new folder.';
    for (const cut of [withoutEnd, withoutRecord, content.slice(0, -10), '']) {
      expect(await refusalOf(changed(files, { [snapshot(2)]: cut }))).toBe(
        `${snapshot(2)} ends before its end: ${advice}`,
      );
    }
    const damaged = changed(files, { [snapshot(2)]: content.replace('"S":"9"', '"S":"8"') });
    expect(await refusalOf(damaged)).toMatch(
      /^Line \d+ of \S+ is damaged: bring back a copy of the folder, or s/,
    );
    expect(await refusalOf(changed(files, { [segment(2)]: undefined }))).toBe(
      `${segment(2)} is missing: ${advice}`,
    );
    expect(await refusalOf(changed(files, { [segment(2)]: '' }))).toBe(
      `${segment(2)} ends before its end: ${advice}`,
    );
    expect(await refusalOf(changed(files, { [snapshot(2)]: undefined }))).toBe(
      `${segment(1)} is missing: ${advice}`,
    );
  });
});

/** Files that a kill has cut off, in memory and on a real disk. */
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
    const real = path.join(newFolder(), 'data', 'tables');
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
