/** Checks keys against the definition of their table. */
import type { Attribute, Item } from '../attributes.ts';
import { invalid, KeyMismatch, maxHashBytes, maxItemBytes, maxRangeBytes } from '../refusals.ts';
import type { KeyAttribute, KeyType } from '../rows.ts';
import type { Table } from '../table.ts';
import { byteLength, bytesOfBase64, isWithin, memberOf } from '../values.ts';

const wrongKey = 'The provided key element does not match the schema';

export function checkKey({ key }: Table, item: Item): void {
  const isFit =
    Object.keys(item).length === key.names.length &&
    key.names.every((name) => memberOf(item, name) !== undefined);
  if (!isFit) throw new KeyMismatch(wrongKey);
}

/** Checks the values of a `Key` that checkKey() has accepted. */
export function checkKeyValues(
  { key }: Table,
  item: Item,
  mismatch: (attribute: KeyAttribute, actual: string) => string = () => wrongKey,
): void {
  checkKeyValue(key.hash, item[key.hash.name], maxHashBytes, mismatch);
  if (key.range !== undefined) checkKeyValue(key.range, item[key.range.name], maxRangeBytes, mismatch);
}

export function checkItemHasKey({ key }: Table, item: Item): void {
  for (const name of key.names)
    if (memberOf(item, name) === undefined)
      throw invalid(`One or more parameter values were invalid: Missing the key ${name} in the item`);
}

/** Checks the key of an item as a whole: types, empty values and sizes. */
export function checkKeyOfItem(table: Table, item: Item): void {
  checkKeyValues(
    table,
    item,
    ({ name, type }, actual) =>
      `One or more parameter values were invalid: Type mismatch for key ${name} expected: ${type} actual: ${actual}`,
  );
}

function checkKeyValue(
  attribute: KeyAttribute,
  value: Attribute | undefined,
  maxBytes: number,
  mismatch: (attribute: KeyAttribute, actual: string) => string,
): void {
  if (value?.[attribute.type] === undefined)
    throw new KeyMismatch(mismatch(attribute, Object.keys(value ?? {})[0] ?? ''));
  if (value.S === '' || value.B === '') throw invalid(emptyKey(attribute.name, value));
  if (keyBytes(value) > maxBytes)
    throw new KeyMismatch(
      `Hash primary key values must be under ${maxHashBytes} bytes, and range primary key values must be under ${maxRangeBytes} bytes`,
    );
}

export function emptyKey(name: string, value: Attribute): string {
  const kind = value.B === undefined ? 'string' : 'binary';
  return `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${kind} value. Key: ${name}`;
}

/** Only the length of strings and bytes is limited. */
function keyBytes(value: Attribute): number {
  if (value.S !== undefined) return value.S.length * 3 <= maxRangeBytes ? 0 : byteLength(value.S);
  return value.B === undefined ? 0 : bytesOfBase64(value.B);
}

/** What a write does to the keys of indexes: a put names the index, an update does not. */
export type WriteKind = 'put' | 'update';

/** Checks that the attributes that are keys of indexes can be so. */
export function checkIndexKeys({ indexes }: Table, item: Item, kind: WriteKind): void {
  for (const { definition, key } of indexes.values()) {
    for (const attribute of key.range === undefined ? [key.hash] : [key.hash, key.range]) {
      const value = memberOf(item, attribute.name);
      if (value === undefined) continue;
      if (value[attribute.type] === undefined)
        throw new KeyMismatch(typeMismatch(attribute.name, attribute.type, value, definition.IndexName));
      if (value.S === '' || value.B === '')
        throw invalid(emptyIndexKey(attribute.name, value, definition.IndexName, kind));
      if (keyBytes(value) > (attribute === key.hash ? maxHashBytes : maxRangeBytes))
        throw invalid('One or more parameter values were invalid: Size limit exceeded');
    }
  }
}

function typeMismatch(name: string, expected: KeyType, value: Attribute, index: string): string {
  const actual = Object.keys(value)[0] ?? '';
  return `One or more parameter values were invalid: Type mismatch for Index Key ${name} Expected: ${expected} Actual: ${actual} IndexName: ${index}`;
}

function emptyIndexKey(name: string, value: Attribute, index: string, kind: WriteKind): string {
  const empty = `The AttributeValue for a key attribute cannot contain an empty ${value.B === undefined ? 'string' : 'binary'} value.`;
  return kind === 'put'
    ? `One or more parameter values are not valid. A value specified for a secondary index key is not supported. ${empty} IndexName: ${index}, IndexKey: ${name}`
    : `One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. ${empty}`;
}

export function checkSize(item: Item, kind: WriteKind): void {
  if (!isWithin(item, maxItemBytes))
    throw invalid(
      kind === 'put'
        ? 'Item size has exceeded the maximum allowed size'
        : 'Item size to update has exceeded the maximum allowed size',
    );
}
