/**
 * The read and write units of one call (Amazon DynamoDB developer guide, "Read and write
 * operations"): a consistent read 1 for 4 KB, an eventual one half of it, a write 1 for
 * 1 KB of the larger of the item before and after, both double in a transaction; a change
 * of an index's keys a write to the index, or two where an entry moves.
 */
import { itemBytes, type AttributeMap } from './item-size.ts';

/** One item that a call touched, as it was and as it is. */
export interface Touched {
  readonly before: AttributeMap | undefined;
  readonly after: AttributeMap | undefined;
}

/** The keys of each index, by its name: an entry is there when the item has both. */
export type Indexes = Readonly<Record<string, readonly [partition: string, sort: string]>>;

export function writeUnits({ before, after }: Touched, indexes: Indexes, inTransaction: boolean): number {
  const size = Math.max(itemBytes(before), itemBytes(after), 1);
  const own = Math.ceil(size / 1024) * (inTransaction ? 2 : 1);
  return own + Object.values(indexes).reduce((sum, keys) => sum + indexWrites(before, after, keys), 0);
}

/** Indexes of keys alone: an entry is always below 1 KB. */
function indexWrites(
  before: AttributeMap | undefined,
  after: AttributeMap | undefined,
  keys: readonly [string, string],
): number {
  const [old, now] = [entryOf(before, keys), entryOf(after, keys)];
  if (old === now) return 0;
  return (old === undefined ? 0 : 1) + (now === undefined ? 0 : 1);
}

function entryOf(item: AttributeMap | undefined, keys: readonly [string, string]): string | undefined {
  const values = keys.map((key) => item?.[key]);
  return values.every((value) => value !== undefined) ? JSON.stringify(values) : undefined;
}

export function readUnits(items: readonly (AttributeMap | undefined)[], isConsistent: boolean): number {
  return items.reduce(
    (sum, item) => sum + Math.max(1, Math.ceil(itemBytes(item) / 4096)) * (isConsistent ? 1 : 0.5),
    0,
  );
}
