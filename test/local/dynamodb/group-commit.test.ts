import { describe, expect, it } from 'vitest';
import type { WritableFile } from '../../../local/dynamodb/journal/file-operations.ts';
import { createGroupCommit } from '../../../local/dynamodb/journal/group-commit.ts';
import type { GroupCommit } from '../../../local/dynamodb/journal/group-commit.ts';
import { turns } from './memory-files.ts';

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
