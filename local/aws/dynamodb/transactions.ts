import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isObject } from '../../json-object.ts';
import { AwsError } from '../aws-error.ts';
import type { AwsOutput } from '../aws-call.ts';
import { checkInput, engine, readItem, readTable, refusalOf, runAction } from './dynalite.ts';
import type { AttributeMap, BatchStep, CheckedInput, Operation, Store } from './dynalite.ts';
import { transactionCanceled } from './transaction-canceled.ts';
import type { CancellationReason } from './transaction-canceled.ts';
import { bufferWrites } from './write-buffer.ts';

/** The greatest number of items in a transaction (API reference of TransactWriteItems). */
const maxTransactionItems = 100;

/** How long a ClientRequestToken identifies its request (API reference of TransactWriteItems). */
export const tokenLifetimeMillis = 600_000;

/**
 * The kinds of item, each with the operation whose rules check it. A ConditionCheck has the form of a
 * conditional delete.
 */
const checkedAs = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'DeleteItem',
} as const satisfies Record<string, Operation>;

type Kind = keyof typeof checkedAs;

interface Step {
  readonly kind: Kind;
  readonly input: CheckedInput;
  /** The item's key in the table's sub-database. */
  readonly key: string;
  readonly returnsItem: boolean;
}

/** The prefix of the request tokens among the keys of LevelDB. */
export const tokenPrefix = 'token~';

/**
 * The record of a request token. The batch of the transaction writes it, too, so that a crash never separates
 * the two. Data folders hold these names.
 */
export const tokenRecordSchema = z.object({ fingerprint: z.string(), atMs: z.number() });

type TokenRecord = z.output<typeof tokenRecordSchema>;

/**
 * Writes all items or none. The caller holds the write lock. Throws TransactionCanceledException with one
 * reason for each item.
 */
export async function transactWrite(
  store: Store,
  request: Record<string, unknown>,
  nowMillis: number,
): Promise<AwsOutput> {
  const items = readItems(request, 'TransactItems');
  const fingerprint = createHash('sha256').update(JSON.stringify(items)).digest('hex');
  const token = typeof request.ClientRequestToken === 'string' ? request.ClientRequestToken : undefined;
  const checked = items.map((item) => checkItem(store, item));
  if (token !== undefined && (await isReplay(store, token, fingerprint, nowMillis))) return {};

  const steps: Step[] = [];
  for (const one of checked) steps.push(await place(store, one));
  const places = steps.map((step) => `${step.input.TableName}/${step.key}`);
  if (new Set(places).size < places.length)
    throw invalid('Transaction request cannot include multiple operations on one item');

  const buffer = bufferWrites(store);
  const reasons: CancellationReason[] = [];
  for (const step of steps) reasons.push(await attempt(store, buffer.store, step));
  if (reasons.some((reason) => reason.Code !== 'None')) throw transactionCanceled(reasons);
  await buffer.commit(token === undefined ? [] : [rememberToken(token, { fingerprint, atMs: nowMillis })]);
  return {};
}

/** Reads the items at one moment. The caller holds the write lock. */
export async function transactGet(store: Store, request: Record<string, unknown>): Promise<AwsOutput> {
  const gets = readItems(request, 'TransactItems').map((item) =>
    checkInput(store, 'GetItem', isObject(item) && isObject(item.Get) ? item.Get : {}),
  );
  const answers = await Promise.all(gets.map((get) => runAction(store, 'GetItem', get)));
  return { Responses: answers.map(({ Item }) => (Item === undefined ? {} : { Item })) };
}

function readItems(request: Record<string, unknown>, member: string): readonly unknown[] {
  const items: unknown = request[member];
  if (!Array.isArray(items) || items.length < 1 || items.length > maxTransactionItems) {
    throw invalid(
      `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length between 1 and ${maxTransactionItems}`,
    );
  }
  return items;
}

function checkItem(store: Store, item: unknown): Omit<Step, 'key'> {
  const members = Object.entries(isObject(item) ? item : {}).filter(([, value]) => value !== undefined);
  const [[kind, input] = ['', undefined]] = members;
  if (members.length !== 1 || !isKind(kind) || !isObject(input))
    throw invalid('TransactItems can only contain one of Check, Put, Update or Delete');
  const { ReturnValuesOnConditionCheckFailure: onFailure, ...request } = input;
  if (kind === 'ConditionCheck' && request.ConditionExpression === undefined)
    throw invalid('The ConditionExpression is required for ConditionCheck');
  return { kind, input: checkInput(store, checkedAs[kind], request), returnsItem: onFailure === 'ALL_OLD' };
}

function isKind(name: string): name is Kind {
  return name in checkedAs;
}

async function place(store: Store, step: Omit<Step, 'key'>): Promise<Step> {
  const table = await readTable(store, step.input.TableName);
  return { ...step, key: itemKey(table, step.input) };
}

/**
 * The item's key in its table's sub-database. Throws ValidationException when the key does not fit the table.
 */
export function itemKey(table: Awaited<ReturnType<typeof readTable>>, input: CheckedInput): string {
  const wrong =
    input.Key === undefined
      ? engine.validateItem(input.Item ?? {}, table)
      : engine.validateKey(input.Key, table);
  if (wrong)
    throw invalid(
      wrong.message === ''
        ? 'The provided key element does not match the schema'
        : (refusalOf(wrong)?.message ?? wrong.message),
    );
  return engine.createKey(input.Key ?? input.Item ?? {}, table);
}

async function attempt(store: Store, buffered: Store, step: Step): Promise<CancellationReason> {
  try {
    if (step.kind === 'ConditionCheck') await checkCondition(buffered, step);
    else await runAction(buffered, checkedAs[step.kind], step.input);
    return { Code: 'None' };
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    const Item =
      step.returnsItem && error.code === 'ConditionalCheckFailedException'
        ? await currentItem(store, step)
        : undefined;
    return { Code: reasonCode(error.code), Message: error.message, ...(Item && { Item }) };
  }
}

async function checkCondition(buffered: Store, step: Step): Promise<void> {
  const failed = engine.checkConditional(step.input, await currentItem(buffered, step));
  if (failed) throw new AwsError('ConditionalCheckFailedException', 'The conditional request failed');
}

function currentItem(store: Store, step: Step): Promise<AttributeMap | undefined> {
  return readItem(store, step.input.TableName, step.key);
}

function reasonCode(code: string): string {
  return code === 'ValidationException' ? 'ValidationError' : code.replace(/Exception$/, '');
}

async function isReplay(
  store: Store,
  token: string,
  fingerprint: string,
  nowMillis: number,
): Promise<boolean> {
  const record = tokenRecordSchema.optional().parse(await store.db.get(tokenPrefix + token));
  if (record === undefined || record.atMs <= nowMillis - tokenLifetimeMillis) return false;
  if (record.fingerprint === fingerprint) return true;
  throw new AwsError(
    'IdempotentParameterMismatchException',
    'Request token matches an existing request token but the request parameters do not match',
  );
}

function rememberToken(token: string, record: TokenRecord): BatchStep {
  return { type: 'put', key: tokenPrefix + token, value: record };
}

function invalid(message: string): AwsError {
  return new AwsError('ValidationException', message);
}
