/** One write of one item: its checks, its condition, and the item that it makes. */
import type { Item } from '../attributes.ts';
import type { Test } from '../expressions/condition.ts';
import type { Values } from '../expressions/placeholders.ts';
import { condition, pick, type Prepared, projection, update } from '../expressions/prepared.ts';
import type { Update } from '../expressions/update.ts';
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
import { type Input, placeholdersOf, refuseLegacy, requireAllUsed, textOf } from '../validation/requests.ts';
import { checkedItem } from '../validation/values.ts';
import { sameMembers } from '../values.ts';

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck';

/** A write that has passed all checks that do not depend on the present item. */
export interface Write {
  readonly kind: WriteKind;
  readonly table: Table;
  /** The primary key as a text. */
  readonly id: string;
  /** The new item of a Put, or else the key. */
  readonly item: Item;
  readonly condition: Prepared<Test> | undefined;
  readonly update: Prepared<Update> | undefined;
  readonly values: Values;
  /** Whether a failed condition answers with the present item. */
  readonly returnsItem: boolean;
}

const valueUsers = [{ parameter: 'ConditionExpression', mayUseValues: true }] as const;
const valueUsersOfUpdate = [{ parameter: 'UpdateExpression', mayUseValues: true }, ...valueUsers] as const;

/**
 * Checks a write. Throws ValidationException. A transaction keeps a mismatch of types for the reasons of its
 * cancellation: `onMismatch` receives it.
 */
export function readWrite(
  kind: WriteKind,
  table: Table,
  input: Input,
  onMismatch: (error: KeyMismatch) => void = throwIt,
): Write {
  const item = kind === 'Put' ? readItem(table, input) : readKey(table, input);
  const returnsItem = returnsItemOnFailure(input);
  try {
    checkTypes(kind, table, item);
  } catch (error) {
    if (!(error instanceof KeyMismatch)) throw error;
    onMismatch(error);
  }
  refuseLegacy(input);
  const placeholders = placeholdersOf(input, kind === 'Update' ? valueUsersOfUpdate : valueUsers);
  const { names, values } = placeholders;
  const updateText = kind === 'Update' ? textOf(input, 'UpdateExpression') : undefined;
  const conditionText = textOf(input, 'ConditionExpression');
  const preparedUpdate =
    updateText === undefined ? undefined : update('UpdateExpression', updateText, names, values);
  const preparedCondition =
    conditionText === undefined ? undefined : condition('ConditionExpression', conditionText, names, values);
  requireAllUsed(placeholders, [preparedUpdate, preparedCondition]);
  return {
    kind,
    table,
    id: idIn(table, item),
    item,
    condition: preparedCondition,
    update: preparedUpdate,
    values,
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

function readKey(table: Table, input: Input): Item {
  if (input['Key'] === undefined || input['Key'] === null)
    throw invalid('Cannot have null key for GetItem, DeleteItem, or UpdateItem');
  const key = checkedItem(input['Key']);
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

function throwIt(error: KeyMismatch): void {
  throw error;
}

/** Checks the values of the key, and of the keys of indexes in a new item. */
function checkTypes(kind: WriteKind, table: Table, item: Item): void {
  if (kind !== 'Put') {
    checkKeyValues(table, item);
    return;
  }
  checkKeyOfItem(table, item);
  checkIndexKeys(table, item, 'put');
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

export type ReturnValues = 'NONE' | 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_OLD' | 'UPDATED_NEW';

const allowedReturns: Readonly<Record<'Put' | 'Update' | 'Delete', readonly ReturnValues[]>> = {
  Put: ['NONE', 'ALL_OLD'],
  Delete: ['NONE', 'ALL_OLD'],
  Update: ['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW'],
};

export function returnValuesOf(kind: 'Put' | 'Update' | 'Delete', input: Input): ReturnValues {
  const wanted = textOf(input, 'ReturnValues') ?? 'NONE';
  const found = allowedReturns[kind].find((one) => one === wanted);
  if (found === undefined) throw invalid('Return values set to invalid value');
  return found;
}

/** The attributes that a write answers. */
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

/** Reads of single items: GetItem, and the parts that BatchGetItem and TransactGetItems share with it. */
const projectionOnly = [{ parameter: 'ProjectionExpression', mayUseValues: false }] as const;

/** The projection of a request; undefined when it wants whole items. Throws ValidationException. */
export function projectionOf(input: Input, { key }: Table): ((item: Item) => Item) | undefined {
  refuseLegacy(input);
  const placeholders = placeholdersOf(input, projectionOnly);
  const text = textOf(input, 'ProjectionExpression');
  if (text === undefined) return undefined;
  const prepared = projection('ProjectionExpression', text, placeholders.names, placeholders.values);
  requireAllUsed(placeholders, [prepared]);
  requireScalarKeys(prepared, key.names);
  return prepared.result;
}

/** Refuses a path into a key attribute. */
export function requireScalarKeys({ paths }: Prepared<unknown>, keys: readonly string[]): void {
  const into = paths.find(([head, ...rest]) => rest.length > 0 && keys.includes(head));
  if (into !== undefined)
    throw invalid(
      `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: ${into[0]}`,
    );
}

/** The primary key of a read, as a text. Throws ValidationException. */
export function readId(table: Table, key: unknown): string {
  if (key === undefined || key === null)
    throw invalid('Cannot have null key for GetItem, DeleteItem, or UpdateItem');
  const checked = checkedItem(key);
  checkKey(table, checked);
  checkKeyValues(table, checked);
  return idIn(table, checked);
}
