/** One table: its items, its indexes and the items that transactions hold. */
import type { Item } from './attributes.ts';
import {
  attributesOf,
  comparePositions,
  idOf,
  insertRow,
  keySchema,
  type KeySchema,
  removeRow,
  type Row,
  scalarOf,
} from './rows.ts';
import type { IndexDefinition, TableDefinition } from './storage.ts';
import { memberOf, sameMembers } from './values.ts';

// A global secondary index may lag: rows that have left it are kept while a read of the past may use them.

/** A moment of an index: a time in epoch milliseconds, or the number of a commit. */
export type Moment = { readonly atMillis: number } | { readonly afterCommit: number };

export interface Stamp {
  readonly millis: number;
  readonly commit: number;
}

interface IndexRow extends Row {
  readonly from: Stamp;
}

interface PastRow extends IndexRow {
  readonly until: Stamp;
}

interface Partition {
  readonly rows: IndexRow[];
  past: PastRow[];
}

export interface TableIndex {
  readonly definition: IndexDefinition;
  readonly key: KeySchema;
  /** The attributes that the index holds; undefined when it holds all. */
  readonly attributes: readonly string[] | undefined;
  /** Brings the index up to date after the item under `id` was written. */
  readonly follow: (id: string, after: Item | undefined, stamp: Stamp) => void;
  /** The rows of a partition in their order. The caller changes nothing in the list. */
  readonly partition: (hash: string, moment?: Moment) => readonly Row[];
  readonly partitions: () => Iterable<string>;
}

/** How many rows of the past one partition collects before the old ones are dropped. */
const pastBeforeDropping = 32;

/**
 * Creates an empty index. `oldest` gives the first stamp that a read of the past may use; undefined: there is
 * none.
 */
function createTableIndex(
  definition: IndexDefinition,
  table: TableDefinition,
  tableKey: KeySchema,
  oldest: () => Stamp | undefined,
): TableIndex {
  const key = keySchema(definition.KeySchema, table);
  const { ProjectionType = 'ALL', NonKeyAttributes = [] } = definition.Projection;
  const attributes =
    ProjectionType === 'ALL'
      ? undefined
      : [
          ...new Set([
            ...tableKey.names,
            ...key.names,
            ...(ProjectionType === 'INCLUDE' ? NonKeyAttributes : []),
          ]),
        ];
  const current = new Map<string, IndexRow>();
  const partitions = new Map<string, Partition>();

  function rowOf(item: Item | undefined): Item | undefined {
    if (item === undefined) return undefined;
    const { hash, range } = key;
    if (memberOf(item, hash.name)?.[hash.type] === undefined) return undefined;
    if (range !== undefined && memberOf(item, range.name)?.[range.type] === undefined) return undefined;
    return attributes === undefined ? item : attributesOf(item, attributes);
  }

  function partitionOf(item: Item): Partition {
    const hash = scalarOf(item[key.hash.name]);
    let partition = partitions.get(hash);
    if (partition === undefined) partitions.set(hash, (partition = { rows: [], past: [] }));
    return partition;
  }

  function keepPast(partition: Partition, row: IndexRow, until: Stamp): void {
    const from = oldest();
    if (from === undefined) {
      partition.past = [];
      return;
    }
    if (partition.past.length >= pastBeforeDropping)
      partition.past = partition.past.filter(
        (one) => one.until.millis >= from.millis && one.until.commit >= from.commit,
      );
    partition.past.push({ ...row, until });
  }

  return {
    definition,
    key,
    attributes,
    partitions: () => partitions.keys(),
    follow: (id, after, stamp) => {
      const before = current.get(id);
      const item = rowOf(after);
      if (before !== undefined && item !== undefined && sameMembers(before.item, item)) return;
      if (before !== undefined) {
        current.delete(id);
        const partition = partitionOf(before.item);
        removeRow(partition.rows, before);
        keepPast(partition, before, stamp);
        if (partition.rows.length + partition.past.length === 0)
          partitions.delete(scalarOf(before.item[key.hash.name]));
      }
      if (item !== undefined) {
        const sort = key.range && item[key.range.name];
        const row = { item, sort, id, from: stamp, size: undefined };
        current.set(id, row);
        insertRow(partitionOf(item).rows, row);
      }
    },
    partition: (hash, moment) => {
      const partition = partitions.get(hash);
      if (partition === undefined) return [];
      if (moment === undefined) return partition.rows;
      const was = [
        ...partition.rows.filter(({ from }) => isAtOrBefore(from, moment)),
        ...partition.past.filter(
          ({ from, until }) => isAtOrBefore(from, moment) && !isAtOrBefore(until, moment),
        ),
      ];
      return was.sort(comparePositions);
    },
  };
}

function isAtOrBefore(stamp: Stamp, moment: Moment): boolean {
  return 'atMillis' in moment ? stamp.millis <= moment.atMillis : stamp.commit <= moment.afterCommit;
}

/** A write of one item, ready to be committed. */
export interface Change {
  readonly table: Table;
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
  readonly put: (id: string, after: Item | undefined, stamp: Stamp) => void;
  /** The rows of a partition in their order. The caller changes nothing in the list. */
  readonly partition: (hash: string) => readonly Row[];
  readonly partitions: () => Iterable<string>;
}

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
      for (const index of all) index.follow(id, after, stamp);
    },
    partition: (hash) => partitions.get(hash) ?? [],
    partitions: () => partitions.keys(),
  };
}

export function keyOf({ key }: Table, item: Item): Item {
  return attributesOf(item, key.names);
}

export function idIn({ key }: Table, item: Item): string {
  return idOf(key, item);
}
