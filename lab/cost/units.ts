/**
 * The read and write units of one call. Source: Amazon DynamoDB developer guide, "Read and write operations".
 *
 * - A consistent read takes one unit for each 4 KB. An eventually consistent read takes half of that.
 * - A write takes one unit for each 1 KB of the item. The larger of the old and the new item counts.
 * - A transaction doubles both.
 * - A new or removed entry of an index takes one more write unit. A moved entry takes two.
 */
import * as z from 'zod';

const valueSchema = z.record(z.string(), z.unknown());
const itemSchema = z.record(z.string(), valueSchema);
const textsSchema = z.array(z.string());

type AttributeValue = z.infer<typeof valueSchema>;
export type AttributeMap = z.infer<typeof itemSchema>;

/** An item of a request or an answer; undefined when the message has none. */
export function itemOf(value: unknown): AttributeMap | undefined {
  return itemSchema.optional().parse(value);
}

/** The items of an answer; empty when the answer has none. */
export function itemsOf(value: unknown): AttributeMap[] {
  return z.array(itemSchema).default([]).parse(value);
}

export function itemBytes(item: AttributeMap | undefined): number {
  if (item === undefined) return 0;
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value),
    0,
  );
}

function valueBytes(value: AttributeValue): number {
  const [[type, held] = ['NULL', true]] = Object.entries(value);
  switch (type) {
    case 'S':
      return Buffer.byteLength(String(held));
    case 'N':
      return Math.ceil(String(held).replace(/[-.]/g, '').length / 2) + 1;
    case 'M': {
      const map = itemSchema.parse(held);
      return 3 + itemBytes(map) + Object.keys(map).length;
    }
    case 'L':
      return (
        3 +
        z
          .array(valueSchema)
          .parse(held)
          .reduce((sum, one) => sum + valueBytes(one) + 1, 0)
      );
    case 'SS':
      return textsSchema.parse(held).reduce((sum, one) => sum + Buffer.byteLength(one), 0);
    case 'B':
      return Buffer.from(String(held), 'base64').byteLength;
    default:
      return 1;
  }
}

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
