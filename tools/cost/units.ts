/**
 * The read and write units of one call. Source: Amazon DynamoDB developer guide, "Read and write operations".
 *
 * - A consistent read takes one unit for each 4 KB. An eventually consistent read takes half of that.
 * - A write takes one unit for each 1 KB of the item. The larger of the old and the new item counts.
 * - A transaction doubles both.
 * - A new or removed entry of an index takes one more write unit. A moved entry takes two.
 */
import { itemBytes, type AttributeMap } from './item-size.ts';

/** One item before and after a call that wrote it. */
export interface Touched {
  readonly before: AttributeMap | undefined;
  readonly after: AttributeMap | undefined;
}

/**
 * The key attributes of each index, by the name of the index. An index has an entry for an item with both
 * attributes.
 */
export type Indexes = Readonly<Record<string, readonly [partition: string, sort: string]>>;

export function writeUnits({ before, after }: Touched, indexes: Indexes, inTransaction: boolean): number {
  const size = Math.max(itemBytes(before), itemBytes(after), 1);
  const own = Math.ceil(size / 1024) * (inTransaction ? 2 : 1);
  return own + Object.values(indexes).reduce((sum, keys) => sum + indexWrites(before, after, keys), 0);
}

/** The indexes of the table hold only keys, so each entry is smaller than 1 KB. */
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
