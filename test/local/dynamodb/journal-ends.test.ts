import { describe, expect, it } from 'vitest';
import { createFolderStorage, type SnapshotOutcome } from '../../../local/dynamodb/journal/folder-storage.ts';
import type { StoredRecord } from '../../../local/dynamodb/storage.ts';
import {
  commit,
  createMapTables,
  createMemoryFiles,
  ends,
  type MemoryFiles,
  put,
  remove,
  tableDefinition,
  turns,
} from './in-memory.ts';

const folder = '/data/tables';
const transactions = 50;
const snapshotAfterBytes = 1_000;

/**
 * Transaction n writes its number in two halves, changes an item that many transactions change, and deletes
 * an older one. So the state after n transactions differs from every other, and half a transaction shows.
 */
const transaction = (n: number): StoredRecord =>
  commit(
    put('Main', 'half', 'one', { n: { N: String(n) } }),
    put('Main', `item-${n % 8}`, 'x', { n: { N: String(n) }, text: { S: 'ä'.repeat(n % 7) } }),
    remove('Main', `item-${(n + 4) % 8}`, 'x'),
    put('Main', 'half', 'two', { n: { N: String(n) } }),
  );

/** The state after n transactions, for every n. */
const states = (() => {
  const tables = createMapTables();
  tables.apply({ kind: 'table', table: tableDefinition('Main') });
  const texts = [tables.text()];
  for (let n = 1; n <= transactions; n += 1) {
    tables.apply(transaction(n));
    texts.push(tables.text());
  }
  return texts;
})();

/** Fake time that passes with every read, so that a snapshot consists of many slices. */
function createClock(): () => number {
  let millis = 0;
  return () => (millis += 1);
}

interface Run {
  readonly answered: number;
  readonly snapshots: readonly SnapshotOutcome[];
}

/** Goes on with the transactions until all are done or the file system ends. */
async function writeAll(files: MemoryFiles): Promise<Run> {
  const tables = createMapTables();
  const snapshots: SnapshotOutcome[] = [];
  const storage = createFolderStorage({
    folder,
    files,
    snapshotAfterBytes,
    elapsedMillis: createClock(),
    onSnapshot: (outcome) => void snapshots.push(outcome),
  });
  let answered = 0;
  try {
    await storage.load(tables.apply, tables.state);
    const write = (record: StoredRecord): void => {
      tables.apply(record);
      storage.append(record);
    };
    if (tables.text() === '[]') write({ kind: 'table', table: tableDefinition('Main') });
    for (let n = numberOf(tables.text()) + 1; n <= transactions; n += 1) {
      write(transaction(n));
      // Some transactions share a batch. Sometimes nothing is written for a while.
      if (n % 3 === 0) continue;
      if (n % 10 === 0) await turns(100);
      await storage.settled();
      answered = n;
    }
    await storage.settled();
    answered = transactions;
    await storage.close();
  } catch {
    // The file system has ended.
  }
  return { answered, snapshots };
}

/**
 * A disk on which the journal is now and then slow, so that a snapshot can be ready before the journal has
 * what the snapshot saw.
 */
function createSlowDisk(): (file: string) => number {
  const turnsOfSync = [1, 9, 3, 14, 6, 2];
  let syncs = 0;
  return (file) => (file.includes('journal-') ? (turnsOfSync[(syncs += 1) % turnsOfSync.length] ?? 1) : 1);
}

/** After how many transactions this is the state. */
const numberOf = (text: string): number => Math.max(0, states.indexOf(text));

/** Loads the folder and returns the state. */
async function load(files: MemoryFiles): Promise<string> {
  const tables = createMapTables();
  const storage = createFolderStorage({ folder, files });
  await storage.load(tables.apply, tables.state);
  await storage.close();
  return tables.text();
}

const whole = createMemoryFiles([], { syncTurns: createSlowDisk() });
const wholeRun = await writeAll(whole);

describe('a storage that ends at any step', () => {
  it('A storage that does not end writes several snapshots', async () => {
    expect(wholeRun.answered).toBe(transactions);
    expect(wholeRun.snapshots.filter(({ outcome }) => outcome === 'written').length).toBeGreaterThan(2);
    expect(await load(whole)).toBe(states.at(-1));
    const names = [...whole.contents().keys()];
    expect(names.filter((name) => name.includes('/snapshot-'))).toHaveLength(1);
  });

  it(`After ${ends.join(', ')}, every answered transaction is there, and each as a whole`, async () => {
    for (let step = 1; step <= whole.steps(); step += 1) {
      const files = createMemoryFiles([], { endAtStep: step, syncTurns: createSlowDisk() });
      const { answered } = await writeAll(files);
      for (const end of ends) {
        const text = await load(files.after(end));
        if (text === '[]') expect({ end, step, answered }).toEqual({ end, step, answered: 0 });
        else
          expect({ end, step, found: states.indexOf(text) >= answered }).toEqual({ end, step, found: true });
      }
    }
  });

  it.each(ends.map((end, place) => [end, 1 + 9 * place] as const))(
    'After %s, the next start goes on, also when it ends at any step itself',
    async (end, firstStep) => {
      for (let step = firstStep; step <= whole.steps(); step += 9 * ends.length) {
        const first = createMemoryFiles([], { endAtStep: step, syncTurns: createSlowDisk() });
        const { answered } = await writeAll(first);
        for (let second = 1; second <= 12; second += 1) {
          const restarted = createMemoryFiles(first.after(end).contents(), { endAtStep: second });
          const again = await writeAll(restarted);
          const third = restarted.after(end);
          const found = states.indexOf(await load(third));
          const enough = Math.max(answered, again.answered);
          const isFound = enough === 0 || found >= enough;
          expect({ step, second, isFound }).toEqual({ step, second, isFound: true });
          expect((await writeAll(third)).answered).toBe(transactions);
          expect(await load(third)).toBe(states.at(-1));
        }
      }
    },
  );

  it('A start after a kill shows nothing that a power failure after the next start takes away', async () => {
    for (let step = 1; step <= whole.steps(); step += 1) {
      const files = createMemoryFiles([], { endAtStep: step });
      await writeAll(files);
      const left = files.after('kill');
      const seen = await load(left);
      expect({ step, text: await load(left.after('power')) }).toEqual({ step, text: seen });
    }
  });
});
