import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { WritableFile } from '../../../local/dynamodb/journal/file-operations.ts';
import { createFolderStorage } from '../../../local/dynamodb/journal/folder-storage.ts';
import { encodeLine } from '../../../local/dynamodb/journal/format.ts';
import { createGroupCommit, type GroupCommit } from '../../../local/dynamodb/journal/group-commit.ts';
import { refuseOldForm } from '../../../local/dynamodb/journal/load-folder.ts';
import type { StoredRecord } from '../../../local/dynamodb/storage.ts';
import { newFolder } from '../machine-fixture.ts';
import { createMapTables, createMemoryFiles, put, remove, tableDefinition, turns } from './in-memory.ts';
import {
  changed,
  contentOf,
  folder,
  numbered,
  open,
  refusalOf,
  segment,
  table,
  textOf,
  threeItems,
} from './journal-fixture.ts';

interface TestFile extends WritableFile {
  readonly writes: string[];
  /** Ends the oldest sync that is under way, with this error or well. */
  readonly endSync: (error?: Error) => void;
  readonly isClosed: () => boolean;
}

/** A file whose syncs last until the test ends them. */
function createFile(failWrite?: Error): TestFile {
  const writes: string[] = [];
  const syncs: PromiseWithResolvers<void>[] = [];
  let isClosed = false;
  return {
    writes,
    writeNow: (bytes) => {
      if (failWrite !== undefined) throw failWrite;
      writes.push(Buffer.from(bytes).toString());
    },
    write: () => Promise.reject(new Error('the journal writes at once')),
    sync: () => {
      const sync: PromiseWithResolvers<void> = Promise.withResolvers();
      syncs.push(sync);
      return sync.promise;
    },
    endSync: (error) => {
      const sync = syncs.shift();
      if (sync === undefined) throw new Error('no sync is under way');
      if (error === undefined) sync.resolve();
      else sync.reject(error);
    },
    close: () => {
      isClosed = true;
    },
    isClosed: () => isClosed,
  };
}

const explain = (cause: unknown): Error => new Error('no more writes', { cause });

const explained = 'Error: no more writes';

const commitTo = (file: WritableFile): GroupCommit =>
  createGroupCommit({ file, endOfTurn: setImmediate, onWritten: () => undefined, explain });

/** Whether the promise is still open, has resolved or was rejected. */
async function stateOf(promise: Promise<void> | undefined): Promise<string> {
  let state = 'open';
  promise?.then(
    () => (state = 'resolved'),
    (error: unknown) => (state = String(error)),
  );
  await turns(3);
  return state;
}

describe('a group commit', () => {
  it('A group commit writes all lines of a turn at once, and has settled after one sync', async () => {
    const file = createFile();
    const commit = commitTo(file);
    expect(commit.settled()).toBeUndefined();
    commit.add('a\n');
    const settled = commit.settled();
    commit.add('b\n');
    expect(commit.settled()).toBe(settled);
    expect(await stateOf(settled)).toBe('open');
    expect(file.writes).toEqual(['a\nb\n']);
    file.endSync();
    await settled;
    await turns(1);
    expect(commit.settled()).toBeUndefined();
  });

  it('A group commit collects while a sync is under way, and writes what it has collected with the next write', async () => {
    const file = createFile();
    const commit = commitTo(file);
    commit.add('a\n');
    const first = commit.settled();
    await turns(2);
    expect(commit.settled()).toBe(first);
    commit.add('b\n');
    await turns(2);
    commit.add('c\n');
    const second = commit.settled();
    expect(file.writes).toEqual(['a\n']);
    file.endSync();
    expect(await stateOf(first)).toBe('resolved');
    expect(await stateOf(second)).toBe('open');
    expect(file.writes).toEqual(['a\n', 'b\nc\n']);
    file.endSync();
    expect(await stateOf(second)).toBe('resolved');
  });

  it('A group commit rejects for everybody after a failed sync, for ever, and writes nothing more', async () => {
    const file = createFile();
    const commit = commitTo(file);
    commit.add('a\n');
    const first = commit.settled();
    await turns(2);
    commit.add('b\n');
    const second = commit.settled();
    file.endSync(new Error('EIO'));
    expect(await Promise.all([first, second].map(stateOf))).toEqual([explained, explained]);
    expect(await stateOf(commit.settled())).toBe(explained);
    commit.add('c\n');
    expect(await stateOf(commit.settled())).toBe(explained);
    expect(file.writes).toEqual(['a\n']);
    await expect(commit.continueIn(() => Promise.resolve(createFile()))).rejects.toThrow('no more writes');
  });

  it('A group commit rejects after a failed write, and does not try again', async () => {
    const commit = commitTo(createFile(new Error('ENOSPC')));
    commit.add('a\n');
    expect(await stateOf(commit.settled())).toBe(explained);
    commit.add('b\n');
    expect(await stateOf(commit.settled())).toBe(explained);
  });

  it('A group commit has every earlier line on disk in the old file before it opens the new one', async () => {
    const [file, next] = [createFile(), createFile()];
    const commit = commitTo(file);
    commit.add('a\n');
    let isOpen = false;
    const moved = commit.continueIn(() => {
      isOpen = true;
      return Promise.resolve(next);
    });
    commit.add('b\n');
    await turns(2);
    expect(isOpen).toBe(false);
    file.endSync();
    await moved;
    await turns(2);
    expect([file.writes, file.isClosed(), next.writes]).toEqual([['a\n'], true, ['b\n']]);
    next.endSync();
    expect(await stateOf(commit.settled())).toBe('resolved');
    expect(commit.settled()).toBeUndefined();
  });

  it('A group commit stays with its file when the new file cannot be opened', async () => {
    const file = createFile();
    const commit = commitTo(file);
    await expect(commit.continueIn(() => Promise.reject(new Error('ENOSPC')))).rejects.toThrow('ENOSPC');
    commit.add('a\n');
    await turns(2);
    file.endSync();
    expect(await stateOf(commit.settled())).toBe('resolved');
    expect(commit.settled()).toBeUndefined();
    expect([file.writes, file.isClosed()]).toEqual([['a\n'], false]);
  });

  it('A group commit writes what it has before it closes the file', async () => {
    const file = createFile();
    const commit = commitTo(file);
    commit.add('a\n');
    const closed = commit.close();
    await turns(2);
    expect(file.isClosed()).toBe(false);
    file.endSync();
    await closed;
    expect([file.writes, file.isClosed()]).toEqual([['a\n'], true]);
  });
});

/** A folder with tables: what the storage keeps in it, and which folders it refuses. */
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
    // The suggested fix works.
    const fixed = changed(damaged, { [segment(1)]: contentOf(damaged, segment(1)).slice(0, offset) });
    expect((await open({ files: fixed })).items('Main')).toHaveLength(1);
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
    expect(() => refuseOldForm(path.join(newFolder(), 'none'))).not.toThrow();
    const files = await threeItems();
    expect(() => refuseOldForm(folder, files)).not.toThrow();
  });
});
