/** Reads and writes of single items: their checks, their conditions, and the items that writes make. */
import type { Item } from '../attributes.ts';
import { pick, type Prepared, readExpressions } from '../expressions/prepared.ts';
import { conditionFailed, invalid, KeyMismatch } from '../refusals.ts';
import { type Change, idIn, type Table } from '../table.ts';
import {
  checkIndexKeys,
  checkItemHasKey,
  checkKey,
  checkKeyOfItem,
  checkKeyValues,
  checkSize,
} from '../validation/keys.ts';
import { checkedItem, type Input, textOf } from '../validation/values.ts';
import { sameMembers } from '../values.ts';

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck';

const ofUpdate = ['UpdateExpression', 'ConditionExpression'] as const;
const ofOthers = ['ConditionExpression'] as const;

/** A write that has passed all checks that do not depend on the present item. */
export type Write = ReturnType<typeof readWrite>;

/** Checks a write. A transaction keeps a mismatch of types for its reasons: `onMismatch` receives it. */
export function readWrite(
  kind: WriteKind,
  table: Table,
  input: Input,
  onMismatch = (error: KeyMismatch): void => {
    throw error;
  },
) {
  const item = kind === 'Put' ? readItem(table, input) : readKey(table, input['Key']);
  const returnsItem = returnsItemOnFailure(input);
  try {
    if (kind === 'Put') {
      checkKeyOfItem(table, item);
      checkIndexKeys(table, item, 'put');
    } else checkKeyValues(table, item);
  } catch (error) {
    if (!(error instanceof KeyMismatch)) throw error;
    onMismatch(error);
  }
  const expressions = readExpressions<(typeof ofUpdate)[number]>(
    input,
    kind === 'Update' ? ofUpdate : ofOthers,
  );
  return {
    kind,
    table,
    id: idIn(table, item),
    /** The new item of a Put, or else the key. */
    item,
    condition: expressions.ConditionExpression,
    update: expressions.UpdateExpression,
    values: expressions.values,
    returnsItem,
  };
}

function readItem(table: Table, input: Input): Item {
  if (input['Item'] === undefined || input['Item'] === null)
    throw invalid('Item to put in PutItem cannot be null');
  const item = checkedItem(input['Item']);
  checkItemHasKey(table, item);
  checkSize(item, 'put');
  return item;
}

function readKey(table: Table, given: unknown): Item {
  if (given === undefined || given === null)
    throw invalid('Cannot have null key for GetItem, DeleteItem, or UpdateItem');
  const key = checkedItem(given);
  checkKey(table, key);
  return key;
}

function returnsItemOnFailure(input: Input): boolean {
  const wanted = textOf(input, 'ReturnValuesOnConditionCheckFailure') ?? 'NONE';
  if (wanted !== 'ALL_OLD' && wanted !== 'NONE')
    throw invalid(
      `1 validation error detected: Value '${wanted}' at 'returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]`,
    );
  return wanted === 'ALL_OLD';
}

/** The change that a write makes now. Throws AwsError when the item does not allow it. */
export function changeOf(write: Write): Change {
  const { kind, table, id, item, condition: prepared, values } = write;
  const before = table.get(id);
  if (prepared !== undefined && !prepared.result(before ?? emptyItem, values))
    throw conditionFailed(write.returnsItem ? before : undefined);
  switch (kind) {
    case 'Put':
      return { table, id, before, after: item };
    case 'Delete':
      return { table, id, before, after: undefined };
    case 'ConditionCheck':
      return { table, id, before, after: before };
    case 'Update':
      return { table, id, before, after: updated(write, before) };
  }
}

const emptyItem: Item = {};

function updated({ table, item: key, update: prepared, values }: Write, before: Item | undefined): Item {
  if (prepared === undefined) return before ?? key;
  for (const name of table.key.names)
    if (prepared.result.targets.some(([head]) => head === name))
      throw invalid(
        `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`,
      );
  const after = prepared.result.apply(before ?? key, values);
  checkIndexKeys(table, after, 'update');
  checkSize(after, 'update');
  return after;
}

const returnValues = ['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW'] as const;
type ReturnValues = (typeof returnValues)[number];

export function returnValuesOf(kind: 'Put' | 'Update' | 'Delete', input: Input): ReturnValues {
  const wanted = textOf(input, 'ReturnValues') ?? 'NONE';
  const allowed = kind === 'Update' ? returnValues : returnValues.slice(0, 2);
  const found = allowed.find((one) => one === wanted);
  if (found === undefined) throw invalid('Return values set to invalid value');
  return found;
}

export function returned(
  wanted: ReturnValues,
  { before, after }: Change,
  { update: prepared }: Write,
): { readonly Attributes?: Item } {
  const targets = prepared?.result.targets ?? [];
  const item = wanted.endsWith('_OLD') ? before : after;
  if (wanted === 'NONE' || item === undefined) return {};
  if (wanted === 'ALL_OLD' || wanted === 'ALL_NEW') return { Attributes: item };
  const Attributes = pick(item, targets);
  return sameMembers(Attributes, emptyItem) ? {} : { Attributes };
}

/** The projection of a read; undefined when it wants whole items. Throws ValidationException. */
export function projectionOf(input: Input, { key }: Table): ((item: Item) => Item) | undefined {
  const { ProjectionExpression: prepared } = readExpressions(input, ['ProjectionExpression']);
  if (prepared !== undefined) requireScalarKeys(prepared, key.names);
  return prepared?.result;
}

export function requireScalarKeys({ paths }: Prepared<unknown>, keys: readonly string[]): void {
  const into = paths.find(([head, ...rest]) => rest.length > 0 && keys.includes(head));
  if (into !== undefined)
    throw invalid(
      `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: ${into[0]}`,
    );
}

/** The primary key of a read, as a text. Throws ValidationException. */
export function readId(table: Table, given: unknown): string {
  const key = readKey(table, given);
  checkKeyValues(table, key);
  return idIn(table, key);
}
