/** Keys of tables and indexes. */
import type { Attribute, Item } from './attributes.ts';
import type { KeyElement, TableDefinition } from './storage.ts';
import { compareTexts, memberOf, order, sizeOfItem } from './values.ts';

export type KeyType = 'S' | 'N' | 'B';

export interface KeyAttribute {
  readonly name: string;
  readonly type: KeyType;
}

export interface KeySchema {
  readonly hash: KeyAttribute;
  readonly range: KeyAttribute | undefined;
  readonly names: readonly string[];
}

export function keySchema(
  elements: readonly KeyElement[],
  { AttributeDefinitions }: Pick<TableDefinition, 'AttributeDefinitions'>,
): KeySchema {
  const attribute = (type: KeyElement['KeyType']): KeyAttribute | undefined => {
    const name = elements.find(({ KeyType }) => KeyType === type)?.AttributeName;
    const found = AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
    return found && { name: found.AttributeName, type: found.AttributeType };
  };
  const hash = attribute('HASH');
  if (hash === undefined) throw new Error('a key has a partition key');
  const range = attribute('RANGE');
  return { hash, range, names: range === undefined ? [hash.name] : [hash.name, range.name] };
}

/** The scalar of a key's value as a text. */
export function scalarOf(value: Attribute | undefined): string {
  return value?.S ?? value?.N ?? value?.B ?? '';
}

/** A primary key as one text, which no other key has. */
export function idOf({ hash, range }: KeySchema, item: Item): string {
  const partition = scalarOf(item[hash.name]);
  return range === undefined ? partition : `${partition.length}:${partition}${scalarOf(item[range.name])}`;
}

export function attributesOf(item: Item, names: readonly string[]): Item {
  const picked: Record<string, Attribute> = {};
  for (const name of names) {
    const value = memberOf(item, name);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

// Rows of one partition in the order of their sort keys.

/** An item in a partition of a table or of an index. */
export interface Row {
  readonly item: Item;
  readonly sort: Attribute | undefined;
  /** The primary key as a text. It orders the rows of an index that have the same sort key. */
  readonly id: string;
  /** The size of the item, once it was computed. */
  size: number | undefined;
}

export function sizeOfRow(row: Row): number {
  return (row.size ??= sizeOfItem(row.item));
}

/** A position between rows: a sort key, and the primary key for rows with the same sort key. */
export type Position = Pick<Row, 'sort' | 'id'>;

/** Negative when `one` stands before `other`. */
export function comparePositions(one: Position, other: Position): number {
  return order(one.sort, other.sort) || (one.id === other.id ? 0 : compareTexts(one.id, other.id));
}

/** The index of the first row for which `isBehind` holds. All rows after it fulfil `isBehind`, too. */
export function firstIndex<Value>(rows: readonly Value[], isBehind: (row: Value) => boolean): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBehind(rows[middle] as Value)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Inserts a row in order, and replaces the row with the same key. */
export function insertRow<One extends Row>(rows: One[], row: One): void {
  const last = rows.at(-1);
  if (last === undefined || comparePositions(last, row) < 0) {
    rows.push(row);
    return;
  }
  const index = firstIndex(rows, (other) => comparePositions(other, row) >= 0);
  const found = rows[index];
  rows.splice(index, found !== undefined && comparePositions(found, row) === 0 ? 1 : 0, row);
}

export function removeRow(rows: Row[], row: Position): void {
  const index = firstIndex(rows, (other) => comparePositions(other, row) >= 0);
  const found = rows[index];
  if (found !== undefined && comparePositions(found, row) === 0) rows.splice(index, 1);
}
