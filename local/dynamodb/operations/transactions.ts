/** Reads the items of transactions. */
import { hash } from 'node:crypto';
import { AwsError } from '../../aws/aws-error.ts';
import type { Item } from '../attributes.ts';
import type { Token } from '../holds.ts';
import {
  type CancellationReason,
  invalid,
  KeyMismatch,
  maxTokenLength,
  maxTransactionBytes,
  maxTransactionItems,
  reasonOf,
  transactionCanceled,
} from '../refusals.ts';
import type { Change, Table } from '../table.ts';
import { type Input, isRecord, listOf, recordOf, textOf } from '../validation/values.ts';
import { sizeOfItem } from '../values.ts';
import { changeOf, projectionOf, readId, readWrite, type Write, type WriteKind } from './single-items.ts';

/** One item of a transaction. `refusal` is what DynamoDB reports as the reason of this item. */
export interface Step {
  readonly write: Write;
  readonly refusal: KeyMismatch | undefined;
}

const kinds: readonly WriteKind[] = ['ConditionCheck', 'Put', 'Update', 'Delete'];

export function readSteps(input: Input, find: (name: unknown) => Table): Step[] {
  const steps = itemsOf(input).map((item, position) => readStep(item, position, find));
  requireDistinct(steps.map(({ write }) => write));
  const bytes = steps.reduce((sum, { write }) => sum + sizeOfItem(write.item), 0);
  if (bytes > maxTransactionBytes)
    throw invalid(`Transaction payload size cannot exceed 4MB. Payload Size: ${bytes}`);
  return steps;
}

function itemsOf(input: Input): readonly unknown[] {
  const items = listOf(input, 'TransactItems');
  if (items === undefined) throw missing('transactItems');
  if (items.length === 0)
    throw invalid(
      "Value [] at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1",
    );
  if (items.length > maxTransactionItems)
    throw invalid(`Member must have length less than or equal to ${maxTransactionItems}`);
  return items;
}

function readStep(item: unknown, position: number, find: (name: unknown) => Table): Step {
  const given = kinds.filter((kind) => isRecord(item) && isRecord(item[kind]));
  const [kind] = given;
  if (kind === undefined)
    throw invalid('Invalid Request: TransactWriteRequest should contain Delete or Put or Update request');
  if (given.length > 1) throw invalid('TransactItems can only contain one of Check, Put, Update or Delete');
  const input = recordOf(item as Input, kind) ?? {};
  const path = `transactItems.${position + 1}.member.${kind.charAt(0).toLowerCase()}${kind.slice(1)}`;
  if (textOf(input, 'TableName') === undefined) throw missing(`${path}.tableName`);
  const member = kind === 'Put' ? 'Item' : 'Key';
  if (input[member] === undefined || input[member] === null) throw missing(`${path}.${member.toLowerCase()}`);
  if (kind === 'ConditionCheck' && textOf(input, 'ConditionExpression') === undefined)
    throw missing(`${path}.conditionExpression`);
  let refusal: KeyMismatch | undefined;
  const write = readWrite(kind, find(input['TableName']), input, (error) => {
    refusal = error;
  });
  return { write, refusal };
}

function missing(path: string): Error {
  return invalid(`Value null at '${path}' failed to satisfy constraint: Member must not be null`);
}

function requireDistinct(items: readonly { readonly table: Table; readonly id: string }[]): void {
  const seen = new Map<Table, Set<string>>();
  for (const { table, id } of items) {
    const ids = seen.get(table) ?? new Set();
    if (ids.has(id)) throw invalid('Transaction request cannot include multiple operations on one item');
    seen.set(table, ids.add(id));
  }
}

export function tokenOf(input: Input): Token | undefined {
  const text = textOf(input, 'ClientRequestToken');
  if (text === undefined || text === '') return undefined;
  if (text.length > maxTokenLength)
    throw invalid(
      `Value ${text} at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to ${maxTokenLength}`,
    );
  return { text, fingerprint: hash('sha256', JSON.stringify(input['TransactItems'])) };
}

/** The changes of a transaction. Throws TransactionCanceledException with one reason for each step. */
export function planOf(steps: readonly Step[]): Change[] {
  const changes: Change[] = [];
  const reasons = steps.map(({ write, refusal }): CancellationReason => {
    try {
      if (refusal !== undefined) throw refusal;
      changes.push(changeOf(write));
      return { Code: 'None' };
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      return reasonOf(error);
    }
  });
  if (reasons.some(({ Code }) => Code !== 'None')) throw transactionCanceled(reasons);
  return changes;
}

export interface Get {
  readonly table: Table;
  readonly id: string;
  readonly project: ((item: Item) => Item) | undefined;
  readonly refusal: KeyMismatch | undefined;
}

export function readGets(input: Input, find: (name: unknown) => Table): Get[] {
  const gets = itemsOf(input).map((item, position) => {
    const get = isRecord(item) ? recordOf(item, 'Get') : undefined;
    if (get === undefined) throw missing(`transactItems.${position + 1}.member.get`);
    const table = find(get['TableName']);
    const project = projectionOf(get, table);
    return { table, project, ...idFor(table, get['Key'], position) };
  });
  requireDistinct(gets);
  return gets;
}

/** The id of the item that a get reads. DynamoDB reports a key that does not fit as the reason of this item. */
function idFor(table: Table, key: unknown, position: number): Pick<Get, 'id' | 'refusal'> {
  try {
    return { id: readId(table, key), refusal: undefined };
  } catch (error) {
    if (!(error instanceof KeyMismatch)) throw error;
    return { id: `no item ${position}`, refusal: error };
  }
}
