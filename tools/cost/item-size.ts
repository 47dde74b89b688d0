/**
 * The size of an item as DynamoDB counts it, in bytes: names and values in UTF-8, a number
 * about a byte for two digits, three bytes for a list or map and one for each of its elements
 * (Amazon DynamoDB developer guide, "DynamoDB item sizes and formats").
 */
export type AttributeValue = Readonly<Record<string, unknown>>;
export type AttributeMap = Readonly<Record<string, AttributeValue>>;

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
    case 'M':
      return 3 + itemBytes(held as AttributeMap) + Object.keys(held as object).length;
    case 'L':
      return 3 + (held as readonly AttributeValue[]).reduce((sum, one) => sum + valueBytes(one) + 1, 0);
    case 'SS':
      return (held as readonly string[]).reduce((sum, one) => sum + Buffer.byteLength(one), 0);
    case 'B':
      return Buffer.from(String(held), 'base64').byteLength;
    default:
      return 1;
  }
}
