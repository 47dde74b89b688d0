/** What the tests of the journal share: a storage with tables in front of it, and its files in memory. */
import { expect } from 'vitest';
import { FolderRefused } from '../../../local/disk.ts';
import {
  createFolderStorage,
  type FolderStorageOptions,
  type SnapshotOutcome,
} from '../../../local/dynamodb/journal/folder-storage.ts';
import type { StoredRecord } from '../../../local/dynamodb/storage.ts';
import {
  commit,
  createMapTables,
  createMemoryFiles,
  type MapTables,
  type MemoryFiles,
  put,
  tableDefinition,
} from './in-memory.ts';

export const folder = '/data/tables';
export const table: StoredRecord = { kind: 'table', table: tableDefinition('Main') };

interface Service extends MapTables {
  /** Applies and appends, as the engine does. */
  readonly write: (...records: StoredRecord[]) => void;
  readonly settled: () => Promise<void> | undefined;
  readonly close: () => Promise<void>;
  readonly snapshots: SnapshotOutcome[];
}

/** Opens the folder, and puts tables in front of it. */
export async function open(options: Partial<FolderStorageOptions>): Promise<Service> {
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

/** The state after a start on these files. */
export async function textOf(files: MemoryFiles): Promise<string> {
  const service = await open({ files });
  await service.close();
  return service.text();
}

/** The sentence with which a start refuses these files. */
export async function refusalOf(files: MemoryFiles): Promise<string> {
  const error: unknown = await open({ files }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FolderRefused)) throw new Error('the folder was not refused', { cause: error });
  expect(error.code).toBe('FOLDER_UNUSABLE');
  expect(error.message).toMatch(/^[^\n]+\.$/);
  return error.message;
}

export const numbered = (n: number): StoredRecord =>
  commit(put('Main', 'a', String(n), { n: { N: String(n) } }));

/** A folder with a table and three items, without a snapshot. */
export async function threeItems(): Promise<MemoryFiles> {
  const files = createMemoryFiles();
  const service = await open({ files });
  service.write(table, numbered(1), numbered(2), numbered(3));
  await service.close();
  return files;
}

export const segment = (n: number): string => `${folder}/journal-0000000${n}.jsonl`;
export const snapshot = (n: number): string => `${folder}/snapshot-0000000${n}.jsonl`;

/** The same folder with other contents of some files. Undefined removes a file. */
export function changed(
  files: MemoryFiles,
  changes: Readonly<Record<string, string | undefined>>,
): MemoryFiles {
  const contents = new Map(files.contents());
  for (const [name, content] of Object.entries(changes)) {
    if (content === undefined) contents.delete(name);
    else contents.set(name, content);
  }
  return createMemoryFiles(contents);
}

export const contentOf = (files: MemoryFiles, name: string): string => files.contents().get(name) ?? '';
