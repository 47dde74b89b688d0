/** Keys of tables and indexes. */
import type { Attribute, Item } from './attributes.ts';
import type { KeyElement, TableDefinition } from './storage.ts';
import { memberOf } from './values.ts';

export type KeyType = 'S' | 'N' | 'B';

/** An attribute of a key. */
export interface KeyAttribute {
  readonly name: string;
  readonly type: KeyType;
}

/** The key of a table or of an index. */
export interface KeySchema {
  readonly hash: KeyAttribute;
  readonly range: KeyAttribute | undefined;
  /** The names of its attributes. */
  readonly names: readonly string[];
}

/** The key that a definition states. */
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

/** The named attributes of an item, as far as the item has them. */
export function attributesOf(item: Item, names: readonly string[]): Item {
  const picked: Record<string, Attribute> = {};
  for (const name of names) {
    const value = memberOf(item, name);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
