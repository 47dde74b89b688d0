/** One table: its items, its indexes and the items that transactions hold. */
import type { Item } from './attributes.ts';
import { attributesOf, idOf, keySchema, scalarOf, type KeySchema } from './keys.ts';
import { insertRow, removeRow, type Row } from './sorted-rows.ts';
import type { TableDefinition } from './storage.ts';
import { createTableIndex, type IndexChange, type Stamp, type TableIndex } from './table-index.ts';

/** A write of one item, ready to be committed. */
export interface Change {
  readonly table: Table;
  /** The primary key as a text. */
  readonly id: string;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

export interface Table {
  definition: TableDefinition;
  readonly key: KeySchema;
  readonly indexes: ReadonlyMap<string, TableIndex>;
  readonly get: (id: string) => Item | undefined;
  /** All items. A caller may read slowly, while writes go on. */
  readonly items: () => Iterable<Item>;
  readonly size: () => number;
  readonly put: (id: string, after: Item | undefined, stamp: Stamp) => readonly IndexChange[];
  /** The rows of a partition in their order. The caller changes nothing in the list. */
  readonly partition: (hash: string) => readonly Row[];
  readonly partitions: () => Iterable<string>;
}

/** Creates an empty table. */
export function createTable(definition: TableDefinition, oldest: () => Stamp | undefined): Table {
  const key = keySchema(definition.KeySchema, definition);
  const rows = new Map<string, Row>();
  const partitions = new Map<string, Row[]>();
  const indexes = new Map(
    definition.GlobalSecondaryIndexes.map((index) => [
      index.IndexName,
      createTableIndex(index, definition, key, oldest),
    ]),
  );
  const all = [...indexes.values()];

  return {
    definition,
    key,
    indexes,
    get: (id) => rows.get(id)?.item,
    items: function* () {
      for (const { item } of rows.values()) yield item;
    },
    size: () => rows.size,
    put: (id, after, stamp) => {
      const before = rows.get(id);
      const hash = scalarOf((after ?? before?.item)?.[key.hash.name]);
      let partition = partitions.get(hash);
      if (after !== undefined) {
        const row: Row = { item: after, sort: key.range && after[key.range.name], id, size: undefined };
        rows.set(id, row);
        if (partition === undefined) partitions.set(hash, (partition = []));
        insertRow(partition, row);
      } else if (before !== undefined) {
        rows.delete(id);
        if (partition !== undefined) removeRow(partition, before);
        if (partition?.length === 0) partitions.delete(hash);
      }
      return all.map((index) => index.follow(id, after, stamp));
    },
    partition: (hash) => partitions.get(hash) ?? [],
    partitions: () => partitions.keys(),
  };
}

/** The primary key of an item of this table. */
export function keyOf({ key }: Table, item: Item): Item {
  return attributesOf(item, key.names);
}

/** The primary key of an item of this table, as a text. */
export function idIn({ key }: Table, item: Item): string {
  return idOf(key, item);
}
