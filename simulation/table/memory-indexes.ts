/**
 * The indexes of the simulated table. Each row is kept together with the time from which and until which it
 * was in the index, because a lagging index is read as it was some time ago.
 */
import type { Attribute, Item } from './attributes.ts';

/** One item before and after a write. All changes of a transaction are reported together. */
export interface Change {
  readonly pk: string;
  readonly sk: string;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** The partition key and the sort key of each index, as in adapters/dynamodb/table.ts. */
export const indexKeys = { open_work: ['openShard', 'dueAt'], listing: ['listing', 'listed'] } as const;
export type IndexName = keyof typeof indexKeys;

interface Row {
  readonly item: Item;
  readonly from: number;
  until: number;
}

export interface MemoryIndexes {
  /** Brings the indexes up to date after a write. */
  readonly follow: (change: Change) => void;
  /**
   * The rows of one partition as they were at an instant, in the order of their sort keys. Uses the first
   * known name.
   */
  readonly partition: (index: IndexName, names: readonly string[], at: number) => Item[];
  /** The present rows of all partitions whose names begin with `beginning`. */
  readonly beginning: (index: IndexName, beginning: string) => Item[];
}

/** Creates empty indexes, which hold keys only. `now` gives epoch milliseconds. */
export function createMemoryIndexes(now: () => number): MemoryIndexes {
  const rows = new Map<string, Row[]>();
  const current = new Map<string, Row>();

  function reindex(index: IndexName, { pk, sk, after }: Change): void {
    const [partition, sort] = indexKeys[index];
    const key = `${index} ${pk} ${sk}`;
    const group = after?.[partition]?.S;
    const place = after?.[sort];
    const before = current.get(key);
    const isIn = after !== undefined && group !== undefined && (place?.S ?? place?.N) !== undefined;
    const item: Item = isIn
      ? { pk: { S: pk }, sk: { S: sk }, [partition]: { S: group }, [sort]: place ?? {} }
      : {};
    if (before && isIn && JSON.stringify(before.item) === JSON.stringify(item)) return;
    if (before) before.until = now();
    current.delete(key);
    if (!isIn) return;
    const row: Row = { item, from: now(), until: Infinity };
    current.set(key, row);
    const name = `${index} ${group}`;
    const list = rows.get(name);
    if (list) list.push(row);
    else rows.set(name, [row]);
  }

  return {
    follow: (change) => {
      reindex('open_work', change);
      reindex('listing', change);
    },
    partition: (index, names, at) => {
      const [, sort] = indexKeys[index];
      const name = names.find((one) => rows.has(`${index} ${one}`)) ?? '';
      const standing = (rows.get(`${index} ${name}`) ?? []).filter((row) => row.from <= at && at < row.until);
      return standing.map(({ item }) => item).sort((a, b) => bySort(a[sort], b[sort]));
    },
    beginning: (index, beginning) =>
      [...current].flatMap(([key, row]) =>
        key.startsWith(`${index} `) && (row.item[indexKeys[index][0]]?.S ?? '').startsWith(beginning)
          ? [row.item]
          : [],
      ),
  };
}

/** Compares two sort keys. */
export function bySort(a: Attribute | undefined, b: Attribute | undefined): number {
  if (a?.N !== undefined && b?.N !== undefined) return Number(a.N) - Number(b.N);
  return (a?.S ?? '') < (b?.S ?? '') ? -1 : 1;
}
