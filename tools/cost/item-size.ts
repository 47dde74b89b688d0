/**
 * The size of an item in bytes, as DynamoDB counts it. Names and texts count in UTF-8. A number takes about
 * one byte for two digits. A list or a map takes three bytes, and one byte for each of its elements. Source:
 * Amazon DynamoDB developer guide, "DynamoDB item sizes and formats".
 */
import * as z from 'zod';

const valueSchema = z.record(z.string(), z.unknown());
const itemSchema = z.record(z.string(), valueSchema);
const textsSchema = z.array(z.string());

export type AttributeValue = z.infer<typeof valueSchema>;
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
