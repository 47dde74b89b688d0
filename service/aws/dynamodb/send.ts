/**
 * Every call of the table except transactions goes through here. DynamoDB refuses a single write while a
 * transaction holds the item, and it throttles calls. Both pass after a moment. The SDK retries throttles a
 * few times, and it never retries conflicts.
 */
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  UpdateCommand,
  type UpdateCommandInput,
  type UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { Overloaded } from '../../values/errors.ts';
import type { Item, ItemKey, Table } from './table.ts';

/** How often a call is tried when other calls hold its items, and the pauses between the tries. */
const tries = 10;
/** Within a try the SDK retries throttles with pauses of seconds. Ten such tries would exceed 30 s. */
const longestTryingMillis = 4_000;
const firstBackoffMillis = 15;
const longestBackoffMillis = 400;

/** Whether no further try follows: after ten tries, or four seconds after the first try began. */
export function isExhausted(table: Table, begunAt: number, attempt: number): boolean {
  return attempt === tries || table.clock.elapsed() - begunAt > longestTryingMillis;
}

/** Milliseconds before the next try, all of them random, so that two calls do not collide again. */
export function backoffMillis(table: Table, attempt: number): number {
  const most = Math.min(longestBackoffMillis, firstBackoffMillis * 2 ** attempt);
  return 1 + ((table.randomBytes(1)[0] ?? 0) / 256) * most;
}

/** Errors of DynamoDB that mean: nothing was written, and the same call may succeed a moment later. */
const shed = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

export function isShed(error: unknown): boolean {
  return error instanceof Error && shed.has(error.name);
}

/** A 4xx: DynamoDB read the request and says that it wrote nothing, as when a permission is missing. */
export function isRefusal(error: unknown): error is Error {
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500;
}

/** The HTTP status that the SDK keeps beside an error; undefined when no answer came. */
function statusOf(error: unknown): number | undefined {
  const metadata = error instanceof Error && '$metadata' in error ? error.$metadata : undefined;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

export type UpdateParts = Omit<UpdateCommandInput, 'TableName' | 'Key'>;
export type PutParts = Omit<PutCommandInput, 'TableName' | 'Item'>;
export interface QueryParts extends Omit<QueryCommandInput, 'TableName'> {
  /** Limits the sort keys. Only here does a query get a BETWEEN. */
  readonly range?: SortRange;
}

interface SortRange {
  readonly sort: string;
  readonly from: string | number;
  readonly to: string | number;
}

export interface CallOptions {
  readonly abortSignal?: AbortSignal;
}

/**
 * Makes a call again, with random pauses, while DynamoDB refuses it only for the moment.
 * @param call sends one command. It is called once for each try.
 * @throws Overloaded when the last try fails, too, or when the time of the request is used up. The call wrote
 *   nothing, unless the answer to an earlier try was lost.
 */
export async function send<Answer>(
  table: Table,
  call: (options: CallOptions) => Promise<Answer>,
): Promise<Answer> {
  const begun = table.clock.elapsed();
  const { signal } = table;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call(signal ? { abortSignal: signal } : {});
    } catch (error) {
      if (signal?.aborted === true)
        throw new Overloaded('the time of the request is used up', { cause: error });
      if (!isShed(error)) throw error;
      if (isExhausted(table, begun, attempt)) throw new Overloaded('the table stayed busy', { cause: error });
      await table.clock.sleep(backoffMillis(table, attempt));
    }
  }
}

/**
 * As send(), for a call that only reads. No answer and an internal error of DynamoDB are Overloaded as well: nothing was
 * changed, and the same read may succeed a moment later.
 */
export async function sendRead<Answer>(
  table: Table,
  call: (options: CallOptions) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await send(table, call);
  } catch (error) {
    throw isUnanswered(error)
      ? new Overloaded('the table gave no answer to a read', { cause: error })
      : error;
  }
}

/** The SDK notes its tries beside every error of a call, and a status only when an answer came. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error && '$metadata' in error)) return false;
  const status = statusOf(error);
  return status === undefined || status >= 500;
}

/** Reads one item consistently. Undefined: there is no such item. */
export async function getItem(
  table: Table,
  key: ItemKey,
  projection?: string,
  names?: Readonly<Record<string, string>>,
): Promise<Item | undefined> {
  const wanted = {
    TableName: table.name,
    Key: key,
    ConsistentRead: true,
    ...(projection !== undefined && { ProjectionExpression: projection }),
    ...(names && { ExpressionAttributeNames: names }),
  };
  const answer = await sendRead(table, (options) => table.client.send(new GetCommand(wanted), options));
  return answer.Item;
}

/** Reads one page. The read is consistent, except in an index, where DynamoDB refuses consistent reads. */
export async function queryPage(
  table: Table,
  { range, ...parts }: QueryParts,
): Promise<Pick<QueryCommandOutput, 'Items' | 'Count' | 'LastEvaluatedKey'>> {
  // A range that ends before it begins is empty. DynamoDB refuses its BETWEEN with a ValidationException.
  if (range && range.from > range.to) return { Items: [], Count: 0 };
  const query = {
    TableName: table.name,
    ...(parts.IndexName === undefined && { ConsistentRead: true }),
    ...parts,
    ...(range && between(parts, range)),
  };
  return sendRead(table, (options) => table.client.send(new QueryCommand(query), options));
}

function between(
  { KeyConditionExpression: partition = '', ExpressionAttributeValues: values }: QueryParts,
  { sort, from, to }: SortRange,
): QueryParts {
  return {
    KeyConditionExpression: `${partition} AND ${sort} BETWEEN :from AND :to`,
    ExpressionAttributeValues: { ...values, ':from': from, ':to': to },
  };
}

/** Updates one item. Throws ConditionalCheckFailedException when the condition fails. */
export async function updateItem(
  table: Table,
  key: ItemKey,
  parts: UpdateParts,
): Promise<UpdateCommandOutput> {
  const update = { TableName: table.name, Key: key, ...parts };
  return send(table, (options) => table.client.send(new UpdateCommand(update), options));
}

/** Puts one item. Throws ConditionalCheckFailedException when the condition fails. */
export async function putItem(table: Table, item: Item, parts: PutParts = {}): Promise<void> {
  const put = { TableName: table.name, Item: item, ...parts };
  await send(table, (options) => table.client.send(new PutCommand(put), options));
}

export async function deleteItem(table: Table, key: ItemKey): Promise<void> {
  const removal = { TableName: table.name, Key: key };
  await send(table, (options) => table.client.send(new DeleteCommand(removal), options));
}
