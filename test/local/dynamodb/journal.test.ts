import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFolderStorage } from '../../../local/dynamodb/journal/folder-storage.ts';
import type {
  FolderStorageOptions,
  SnapshotOutcome,
} from '../../../local/dynamodb/journal/folder-storage.ts';
import { encodeLine } from '../../../local/dynamodb/journal/lines.ts';
import { refuseOldForm } from '../../../local/dynamodb/journal/refusals.ts';
import type { StoredRecord } from '../../../local/dynamodb/storage.ts';
import { FolderRefused } from '../../../local/folder-refused.ts';
import { commit, createMapTables, put, remove, tableDefinition } from './map-tables.ts';
import type { MapTables } from './map-tables.ts';
import { createMemoryFiles, turns } from './memory-files.ts';
import type { MemoryFiles } from './memory-files.ts';

const folder = '/data/tables';
const table: StoredRecord = { kind: 'table', table: tableDefinition('Main') };

interface Service extends MapTables {
  /** Applies and appends, as the engine does. */
  readonly write: (...records: StoredRecord[]) => void;
  readonly settled: () => Promise<void> | undefined;
  readonly close: () => Promise<void>;
  readonly snapshots: SnapshotOutcome[];
}

/** Opens the folder, and puts tables in front of it. */
async function open(options: Partial<FolderStorageOptions>): Promise<Service> {
  const tables = createMapTables();
  const snapshots: SnapshotOutcome[] = [];
  const storage = createFolderStorage({
    folder,
    onSnapshot: (outcome) => void snapshots.push(outcome),
    ...options,
  });
  await storage.load(tables.apply, tables.state);
  return {
    ...tables,
    write: (...records) => {
      for (const record of records) {
        tables.apply(record);
        storage.append(record);
      }
    },
    settled: storage.settled,
    close: storage.close,
    snapshots,
  };
}

async function textOf(files: MemoryFiles): Promise<string> {
  const service = await open({ files });
  await service.close();
  return service.text();
}

async function refusalOf(files: MemoryFiles): Promise<string> {
  const error: unknown = await open({ files }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FolderRefused)) throw new Error('the folder was not refused', { cause: error });
  expect(error.code).toBe('FOLDER_UNUSABLE');
  expect(error.message).toMatch(/^[^\n]+\.$/);
  return error.message;
}

const numbered = (n: number): StoredRecord => commit(put('Main', 'a', String(n), { n: { N: String(n) } }));

/** A folder with a table and three items, without a snapshot. */
async function threeItems(): Promise<MemoryFiles> {
  const files = createMemoryFiles();
  const service = await open({ files });
  service.write(table, numbered(1), numbered(2), numbered(3));
  await service.close();
  return files;
}

const segment = (n: number): string => `${folder}/journal-0000000${n}.jsonl`;
const snapshot = (n: number): string => `${folder}/snapshot-0000000${n}.jsonl`;

/** The same folder with other contents of some files. Undefined removes a file. */
function changed(files: MemoryFiles, changes: Readonly<Record<string, string | undefined>>): MemoryFiles {
  const contents = new Map(files.contents());
  for (const [name, content] of Object.entries(changes)) {
    if (content === undefined) contents.delete(name);
    else contents.set(name, content);
  }
  return createMemoryFiles(contents);
}

const contentOf = (files: MemoryFiles, name: string): string => files.contents().get(name) ?? '';

describe('a folder with tables', () => {
  it('The storage gives back tables, items, deletions and tokens at the next start', async () => {
    const files = createMemoryFiles();
    const service = await open({ files });
    const other: StoredRecord = { kind: 'table', table: tableDefinition('Other') };
    const token = { text: 't', fingerprint: 'f', atMillis: 5 };
    service.write(table, other, numbered(1), numbered(2));
    service.write({ kind: 'commit', changes: [remove('Main', 'a', '1'), put('Other', 'b', 'ü\n😀')], token });
    service.write({ kind: 'table-deleted', name: 'Main' }, table, numbered(3));
    await service.settled();
    await service.close();

    const records: StoredRecord[] = [];
    const storage = createFolderStorage({ folder, files });
    await storage.load((record) => void records.push(record), createMapTables().state);
    await storage.close();
    expect(records).toHaveLength(8);
    expect(records[4]).toMatchObject({ token });
    expect(await textOf(files)).toBe(service.text());
    expect(service.get('Main', 'a', '2')).toBeUndefined();
    expect(service.get('Other', 'b', 'ü\n😀')).toBeDefined();
  });

  it('The storage takes no record before it was loaded and after it was closed', async () => {
    const storage = createFolderStorage({ folder, files: createMemoryFiles() });
    expect(() => storage.append(table)).toThrow('not open');
    await storage.load(
      () => undefined,
      () => [],
    );
    await storage.close();
    expect(() => storage.append(table)).toThrow('not open');
    expect(storage.settled()).toBeUndefined();
  });

  it('The storage says its form and version in the first line of each file', async () => {
    const files = await threeItems();
    const [first = ''] = contentOf(files, segment(1)).split('\n');
    expect(JSON.parse(first.slice(9))).toEqual({
      format: 'darkroom-tables',
      version: 1,
      kind: 'journal',
      number: 1,
    });
  });

  it.each([1, 5, 20])(
    'The storage drops a last line of which a kill has left out %i bytes, and goes on there',
    async (bytes) => {
      const files = await threeItems();
      const cut = changed(files, { [segment(1)]: contentOf(files, segment(1)).slice(0, -bytes) });
      const service = await open({ files: cut });
      expect(service.items('Main')).toHaveLength(2);
      service.write(numbered(4));
      await service.close();
      expect(await textOf(cut)).toBe(service.text());
      const lines = contentOf(cut, segment(1)).split('\n');
      expect(lines.map((line) => line.includes('"N":"3"'))).not.toContain(true);
    },
  );

  it('The storage begins a first segment anew when a kill has left no whole first line', async () => {
    const files = await threeItems();
    for (const content of ['', contentOf(files, segment(1)).slice(0, 30)]) {
      const service = await open({ files: changed(files, { [segment(1)]: content }) });
      service.write(table);
      await service.close();
      expect(service.items('Main')).toEqual([]);
    }
  });

  it('The storage refuses a damaged line in the middle, names file and line, and changes nothing', async () => {
    const files = await threeItems();
    const content = contentOf(files, segment(1));
    const lines = content.split('\n');
    const damaged = changed(files, {
      [segment(1)]: content.replace('"S":"2"', '"S":"7"'),
      [`${folder}/snapshot-00000009.jsonl.draft`]: 'unfinished',
    });
    const before = damaged.contents();
    const offset = lines.slice(0, 3).join('\n').length + 1;
    expect(await refusalOf(damaged)).toBe(
      `Line 4 of ${segment(1)} is damaged: bring back a copy of the folder, or cut the file before this line (truncate -s ${offset} ${segment(1)}), which loses this line and all lines after it.`,
    );
    expect(damaged.contents()).toEqual(before);
    // The remedy works.
    const remedied = changed(damaged, { [segment(1)]: contentOf(damaged, segment(1)).slice(0, offset) });
    expect((await open({ files: remedied })).items('Main')).toHaveLength(1);
  });

  it('The storage refuses a damaged last line that is whole, since no kill leaves such a line', async () => {
    const files = await threeItems();
    const damaged = changed(files, {
      [segment(1)]: contentOf(files, segment(1)).replace('"S":"3"', '"S":"7"'),
    });
    expect(await refusalOf(damaged)).toContain(`Line 5 of ${segment(1)} is damaged`);
  });

  it('The storage refuses a file whose first line is that of another file', async () => {
    const files = await threeItems();
    const misplaced = changed(files, { [segment(2)]: contentOf(files, segment(1)) });
    expect(await refusalOf(misplaced)).toContain(`Line 1 of ${segment(2)} is damaged`);
  });

  it('The storage refuses a version that it does not know', async () => {
    const line = encodeLine({ format: 'darkroom-tables', version: 2, kind: 'journal', number: 1 });
    expect(await refusalOf(createMemoryFiles([[segment(1), line]]))).toBe(
      `${segment(1)} is of version 2, and this release reads version 1: start the release that wrote it, or start on a new folder.`,
    );
  });

  it('The storage refuses to answer for anything once a write has failed', async () => {
    let isFull = false;
    const files = createMemoryFiles([], { refuse: (operation) => isFull && operation === 'writeNow' });
    const service = await open({ files });
    service.write(table);
    await service.settled();
    isFull = true;
    service.write(numbered(1));
    const sentence = `The tables in ${folder} take no more writes (ENOSPC: no space left on device, writeNow): make room on the disk or repair it, and start the service again.`;
    await expect(service.settled()).rejects.toThrow(sentence);
    isFull = false;
    service.write(numbered(2));
    await expect(service.settled()).rejects.toThrow(sentence);
    await service.close();
    expect((await open({ files })).items('Main')).toEqual([]);
  });
});

describe('a folder of an earlier release', () => {
  it.each(['CURRENT', 'MANIFEST-000002', '000005.ldb', '000003.log'])(
    'A folder of an earlier release is refused by its file %s, and nothing is written to it',
    async (name) => {
      const files = createMemoryFiles([[`${folder}/${name}`, 'x']]);
      const sentence = `The tables in ${folder} are of an earlier release, which kept them in LevelDB: start on a new folder (--data), or go on with the release that wrote them.`;
      expect(await refusalOf(files)).toBe(sentence);
      expect(() => refuseOldForm(folder, files)).toThrow(sentence);
      expect(files.steps()).toBe(0);
    },
  );

  it('A folder of an earlier release is not seen in an absent folder, or in a folder of the present form', async () => {
    expect(() => refuseOldForm(path.join(temporaryFolder(), 'none'))).not.toThrow();
    const files = await threeItems();
    expect(() => refuseOldForm(folder, files)).not.toThrow();
  });
});

describe('a snapshot', () => {
  const eager = { snapshotAfterBytes: 2_000 };
  /** Time that passes with every look, so that each slice has eight records. */
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

  it('A snapshot is given up when a table is deleted meanwhile, and the next one is written', async () => {
    const files = createMemoryFiles();
    const service = await open({ files, ...eager, elapsedMillis: createClock() });
    const other = tableDefinition('Other');
    service.write(table, { kind: 'table', table: other });
    for (let n = 0; n < 40; n += 1) service.write(numbered(n), commit(put('Other', 'o', String(n))));
    await service.settled();
    await turns(5);
    service.write(commit(put('Other', 'o', 'last')), { kind: 'table-deleted', name: 'Other' });
    await expect.poll(() => service.snapshots.map(({ outcome }) => outcome)).toEqual(['given-up']);
    expect(await textOf(files.after('kill'))).toBe(service.text());
    for (let n = 0; n < 40; n += 1) service.write(numbered(n));
    await expect.poll(() => service.snapshots.map(({ outcome }) => outcome)).toEqual(['given-up', 'written']);
    await service.close();
    expect(await textOf(files)).toBe(service.text());
  });

  it('A snapshot knows nothing of a table that was deleted in the turn in which the snapshot began', async () => {
    // A slow sync: the records of the deleted table wait while the batch before makes a snapshot due.
    const files = createMemoryFiles([], { syncTurns: () => 3 });
    const service = await open({ files, ...eager });
    service.write(table, { kind: 'table', table: tableDefinition('Other') });
    for (let n = 0; n < 40; n += 1) service.write(numbered(n));
    await turns(2);
    service.write(commit(put('Other', 'o', '1')), { kind: 'table-deleted', name: 'Other' });
    await expect.poll(() => service.snapshots.map(({ outcome }) => outcome)).toEqual(['written']);
    await service.close();
    expect(await textOf(files)).toBe(service.text());
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

  it('A snapshot is deleted at the next start when it was not finished', async () => {
    const { files, text } = await withSnapshot();
    const draft = `${snapshot(3)}.draft`;
    const left = changed(files, { [draft]: contentOf(files, snapshot(2)) });
    expect(await textOf(left)).toBe(text);
    expect(left.contents().has(draft)).toBe(false);
  });

  it('A snapshot stays the newest when a kill has left the files that it replaces', async () => {
    const { files, text } = await withSnapshot();
    const older = await threeItems();
    const left = changed(files, { [segment(1)]: contentOf(older, segment(1)) });
    expect(await textOf(left)).toBe(text);
    expect([...left.contents().keys()]).toEqual([segment(2), snapshot(2)]);
  });

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

function temporaryFolder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'darkroom-journal-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

describe('the storage on a real disk', () => {
  it('The storage writes, makes snapshots, cuts off a broken line, and has everything at the next start', async () => {
    const real = path.join(temporaryFolder(), 'data', 'tables');
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
