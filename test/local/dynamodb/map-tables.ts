import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { StoredChange, StoredRecord, TableDefinition } from '../../../local/dynamodb/storage.ts';

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
