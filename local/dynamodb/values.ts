/** How DynamoDB compares, measures and looks up values. */
import type { Attribute, Item } from './attributes.ts';
import { compareNumbers } from './numbers.ts';

export type TypeName = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'M' | 'L' | 'SS' | 'NS' | 'BS';

/** The way to a value inside an item: names of attributes and members, and positions in lists. */
export type Path = readonly [string, ...(string | number)[]];

export function typeOf(value: Attribute): TypeName {
  for (const name in value) return name as TypeName;
  throw new Error('a checked value has a type');
}

/** A member of a record that came from a client. Names such as `constructor` are not found by accident. */
export function memberOf<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The value at a path of an item; undefined when there is none. */
export function lookUp(item: Item, path: Path): Attribute | undefined {
  let found = memberOf(item, path[0]);
  for (let depth = 1; depth < path.length && found !== undefined; depth += 1) {
    const part = path[depth] ?? '';
    found = typeof part === 'number' ? found.L?.[part] : memberOf(found.M, part);
  }
  return found;
}

/** Whether two checked values are equal. Sets are sorted and numbers have one form, so texts decide. */
export function equal(left: Attribute | undefined, right: Attribute | undefined): boolean {
  if (left === right) return left !== undefined;
  if (left === undefined || right === undefined) return false;
  if (left.S !== undefined) return left.S === right.S;
  if (left.N !== undefined) return left.N === right.N;
  if (left.BOOL !== undefined) return left.BOOL === right.BOOL;
  if (left.M !== undefined) return right.M !== undefined && sameMembers(left.M, right.M);
  if (left.L !== undefined) return right.L !== undefined && sameList(left.L, right.L, equal);
  if (left.NULL !== undefined) return right.NULL !== undefined;
  if (left.B !== undefined) return left.B === right.B;
  const sets = [left.SS, right.SS, left.NS, right.NS, left.BS, right.BS];
  const [one, other] = sets.filter((set) => set !== undefined);
  const isSameType = typeOf(left) === typeOf(right);
  return isSameType && one !== undefined && other !== undefined && sameList(one, other, Object.is);
}

function sameList<Value>(
  left: readonly Value[],
  right: readonly Value[],
  same: (left: Value, right: Value) => boolean,
): boolean {
  // The index is in range of both lists, because they are equally long.
  return left.length === right.length && left.every((value, index) => same(value, right[index] as Value));
}

export function sameMembers(left: Item, right: Item): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => equal(left[name], memberOf(right, name)))
  );
}

/** Negative, zero or positive. Undefined when DynamoDB has no order for the two. */
export function order(left: Attribute | undefined, right: Attribute | undefined): number | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (left.N !== undefined && right.N !== undefined) return compareNumbers(left.N, right.N);
  if (left.S !== undefined && right.S !== undefined) return compareTexts(left.S, right.S);
  if (left.B !== undefined && right.B !== undefined) return compareBytes(left.B, right.B);
  return undefined;
}

/** Whether a text or a byte string begins with another one. */
export function beginsWith(value: Attribute | undefined, start: Attribute | undefined): boolean {
  if (value?.S !== undefined && start?.S !== undefined) return value.S.startsWith(start.S);
  if (value?.B === undefined || start?.B === undefined) return false;
  const bytes = Buffer.from(start.B, 'base64');
  return Buffer.from(value.B, 'base64').subarray(0, bytes.length).equals(bytes);
}

const firstSurrogate = 0xd800;
const lastSurrogate = 0xdfff;

/** Compares two texts by their bytes in UTF-8, as DynamoDB does. */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  let place = 0;
  while (place < length && left.charCodeAt(place) === right.charCodeAt(place)) place += 1;
  if (place === length) return left.length - right.length;
  const [one, other] = [left.charCodeAt(place), right.charCodeAt(place)];
  // A surrogate is half of a character above all others, but its unit is below U+E000.
  if (isSurrogate(one) !== isSurrogate(other) && one >= firstSurrogate && other >= firstSurrogate)
    return other - one;
  return one - other;
}

function isSurrogate(unit: number): boolean {
  return unit >= firstSurrogate && unit <= lastSurrogate;
}

/** Compares two byte strings in base64. */
export function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left, 'base64'), Buffer.from(right, 'base64'));
}

/**
 * The bytes of an item, as DynamoDB counts them.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function sizeOfItem(item: Item, bytesOf: (text: string) => number = byteLength): number {
  let size = 0;
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value !== undefined) size += bytesOf(name) + sizeOf(value, bytesOf);
  }
  return size;
}

/** Whether an item has at most this number of bytes. Small items are not measured exactly. */
export function isWithin(item: Item, maxBytes: number): boolean {
  return sizeOfItem(item, mostBytes) <= maxBytes || sizeOfItem(item) <= maxBytes;
}

/** No unit of a text takes more than three bytes in UTF-8. */
function mostBytes(text: string): number {
  return text.length * 3;
}

/** A list or a map costs three bytes, and each of its members one. */
const documentBytes = 3;

function sizeOf(value: Attribute, bytesOf: (text: string) => number): number {
  if (value.S !== undefined) return bytesOf(value.S);
  if (value.N !== undefined) return bytesOf === mostBytes ? maxNumberBytes : sizeOfNumber(value.N);
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  if (value.B !== undefined) return bytesOfBase64(value.B);
  if (value.M !== undefined)
    return documentBytes + sizeOfItem(value.M, bytesOf) + Object.keys(value.M).length;
  if (value.L !== undefined)
    return value.L.reduce((sum, one) => sum + 1 + sizeOf(one, bytesOf), documentBytes);
  if (value.SS !== undefined) return value.SS.reduce((sum, one) => sum + bytesOf(one), 0);
  if (value.NS !== undefined) return value.NS.reduce((sum, one) => sum + sizeOfNumber(one), 0);
  return (value.BS ?? []).reduce((sum, one) => sum + bytesOfBase64(one), 0);
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** 38 digits, the exponent and the sign. */
const maxNumberBytes = 21;

/** Two digits take one byte, and each number one more. */
function sizeOfNumber(text: string): number {
  const digits = text.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length;
  return Math.ceil(digits / 2) + 1 + (text.startsWith('-') ? 1 : 0);
}

export function bytesOfBase64(text: string): number {
  return Buffer.byteLength(text, 'base64');
}
