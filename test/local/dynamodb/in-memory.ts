import type { FileOperations, WritableFile } from '../../../local/dynamodb/journal/file-operations.ts';
import type { StoredChange, StoredRecord, TableDefinition } from '../../../local/dynamodb/storage.ts';
import type { Item } from '../../../local/dynamodb/attributes.ts';

/** The smallest holder of tables that a storage can serve. Items have the keys pk and sk. */
export interface MapTables {
  readonly apply: (record: StoredRecord) => void;
  /** Lists the present state, also while it changes. */
  readonly state: () => Iterable<StoredRecord>;
  readonly get: (table: string, pk: string, sk: string) => Item | undefined;
  readonly items: (table: string) => Item[];
  /** Everything as plain data, in the order of the keys. Two equal states have equal texts. */
  readonly text: () => string;
}

const keyOf = (item: Item): string => JSON.stringify([item['pk']?.S, item['sk']?.S]);

export function tableDefinition(name: string): TableDefinition {
  return {
    TableName: name,
    AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [],
    createdAtMillis: 0,
  };
}

export const put = (table: string, pk: string, sk: string, more: Item = {}): StoredChange => ({
  table,
  put: { pk: { S: pk }, sk: { S: sk }, ...more },
});

export const remove = (table: string, pk: string, sk: string): StoredChange => ({
  table,
  delete: { pk: { S: pk }, sk: { S: sk } },
});

export const commit = (...changes: StoredChange[]): StoredRecord => ({ kind: 'commit', changes });

export function createMapTables(): MapTables {
  const tables = new Map<string, { definition: TableDefinition; items: Map<string, Item> }>();

  function change(one: StoredChange): void {
    const table = tables.get(one.table);
    if (table === undefined) throw new Error(`a record of the unknown table ${one.table}`);
    if ('put' in one) table.items.set(keyOf(one.put), one.put);
    else table.items.delete(keyOf(one.delete));
  }

  return {
    apply: (record) => {
      switch (record.kind) {
        case 'table': {
          const items = tables.get(record.table.TableName)?.items ?? new Map<string, Item>();
          tables.set(record.table.TableName, { definition: record.table, items });
          return;
        }
        case 'table-deleted':
          tables.delete(record.name);
          return;
        case 'commit':
          record.changes.forEach(change);
      }
    },
    state: function* () {
      for (const [name, { definition, items }] of tables) {
        yield { kind: 'table', table: definition };
        for (const item of items.values()) yield commit({ table: name, put: item });
      }
    },
    get: (table, pk, sk) => tables.get(table)?.items.get(JSON.stringify([pk, sk])),
    items: (table) => [...(tables.get(table)?.items.values() ?? [])],
    text: () =>
      JSON.stringify(
        [...tables.values()]
          .map(({ definition, items }) => [definition, [...items].toSorted(([a], [b]) => (a < b ? -1 : 1))])
          .toSorted(),
      ),
  };
}

/**
 * A file system in memory that can end at any step, as when the process is killed or the power fails.
 * Afterwards `after` gives what is left.
 */
export interface MemoryFiles extends FileOperations {
  /** The steps so far that changed something. */
  readonly steps: () => number;
  readonly after: (end: End) => MemoryFiles;
  readonly contents: () => ReadonlyMap<string, string>;
}

/**
 * - `kill`: the kernel goes on, so all that was written stays.
 * - `power`: only what was synced is left.
 * - `power-names-first`: the names are as they were at the end, but the contents only as they were synced. A
 *   file system may write its names early.
 * - `power-removals-first`: of the names that were not synced, only the removals are on disk.
 */
export type End = 'kill' | 'power' | 'power-names-first' | 'power-removals-first';
export const ends: readonly End[] = ['kill', 'power', 'power-names-first', 'power-removals-first'];

interface Content {
  bytes: Buffer;
  syncedBytes: number;
}

export interface MemoryFilesOptions {
  /** The step that fails half-way. Every later step fails, too. */
  readonly endAtStep?: number;
  /** How much of each file is on disk. Without this, everything is. */
  readonly syncedBytes?: (file: string) => number;
  /** How many turns of the event loop a sync of this file takes. */
  readonly syncTurns?: (file: string) => number;
  /** Fails these operations without ending. */
  readonly refuse?: (operation: keyof WritableFile | keyof FileOperations, file: string) => boolean;
}

/** Lets the event loop turn so many times. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

/** Makes a file system with these files. */
export function createMemoryFiles(
  files: Iterable<readonly [string, string | Buffer]> = [],
  { endAtStep = Infinity, syncTurns = () => 1, syncedBytes, refuse = () => false }: MemoryFilesOptions = {},
): MemoryFiles {
  const contents = [...files].map(([name, content]): [string, Content] => {
    const bytes = Buffer.from(content);
    return [name, { bytes, syncedBytes: syncedBytes?.(name) ?? bytes.length }];
  });
  const names = new Map(contents);
  let namesOnDisk = new Map(contents);
  /** The names on disk without those that were removed since. */
  let notRemoved = new Map(contents);
  let steps = 0;

  /** Returns true for the step during which everything ends. */
  function step(operation: keyof WritableFile | keyof FileOperations, file: string): boolean {
    steps += 1;
    if (steps > endAtStep) throw new Error('the process has ended');
    if (refuse(operation, file)) throw new Error(`ENOSPC: no space left on device, ${operation}`);
    return steps === endAtStep;
  }

  function contentOf(file: string): Content {
    const content = names.get(file);
    if (content === undefined) throw new Error(`ENOENT: no such file, ${file}`);
    return content;
  }

  function writable(file: string, content: Content): WritableFile {
    const write = (operation: 'write' | 'writeNow', bytes: Uint8Array): void => {
      const ends = step(operation, file);
      const written = ends ? bytes.subarray(0, bytes.length >> 1) : bytes;
      content.bytes = Buffer.concat([content.bytes, written]);
      if (ends) throw new Error('the process has ended');
    };
    return {
      writeNow: (bytes) => write('writeNow', bytes),
      write: async (bytes) => {
        write('write', bytes);
        await turns(1);
      },
      sync: async () => {
        const { length } = content.bytes;
        if (step('sync', file)) throw new Error('the process has ended');
        await turns(syncTurns(file));
        content.syncedBytes = Math.max(content.syncedBytes, length);
      },
      close: () => undefined,
    };
  }

  /** A step that happens as a whole or not at all. */
  function whole(operation: keyof FileOperations, file: string, work: () => void): void {
    if (step(operation, file)) throw new Error('the process has ended');
    work();
  }

  return {
    steps: () => steps,
    contents: () => new Map([...names].map(([name, { bytes }]) => [name, bytes.toString()])),
    after: (end) => {
      const left = {
        kill: names,
        power: namesOnDisk,
        'power-names-first': names,
        'power-removals-first': notRemoved,
      }[end];
      return createMemoryFiles(
        [...left].map(([name, { bytes, syncedBytes }]) => [
          name,
          end === 'kill' ? bytes : bytes.subarray(0, syncedBytes),
        ]),
        { syncedBytes: (name) => left.get(name)?.syncedBytes ?? 0 },
      );
    },
    makeFolder: () => undefined,
    list: (folder) =>
      [...names.keys()]
        .filter((name) => name.startsWith(`${folder}/`))
        .map((name) => name.slice(folder.length + 1)),
    open: (file, mode) => {
      if (mode === 'continue') return writable(file, contentOf(file));
      const content: Content = { bytes: Buffer.alloc(0), syncedBytes: 0 };
      whole('open', file, () => names.set(file, content));
      return writable(file, content);
    },
    read: async function* (file) {
      const { bytes } = contentOf(file);
      // Small pieces, so that lines lie across their borders.
      for (let start = 0; start < bytes.length; start += 1_000) {
        await Promise.resolve();
        yield bytes.subarray(start, start + 1_000);
      }
    },
    truncate: (file, length) =>
      whole('truncate', file, () => {
        const content = contentOf(file);
        content.bytes = content.bytes.subarray(0, length);
        content.syncedBytes = Math.min(content.syncedBytes, length);
      }),
    rename: (from, to) =>
      whole('rename', from, () => {
        names.set(to, contentOf(from));
        names.delete(from);
      }),
    remove: async (file) => {
      whole('remove', file, () => {
        names.delete(file);
        notRemoved.delete(file);
      });
      await turns(1);
    },
    syncFolder: async (folder) => {
      if (step('syncFolder', folder)) throw new Error('the process has ended');
      await turns(1);
      namesOnDisk = new Map(names);
      notRemoved = new Map(names);
    },
  };
}
