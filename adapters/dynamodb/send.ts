/**
 * Every call of the table except transactions goes through here. DynamoDB refuses a single write while a
 * transaction holds the item, and it throttles calls. Both pass after a moment. The SDK retries throttles a
 * few times, and it never retries conflicts.
 */
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
  type PutCommandInput,
  type QueryCommandInput,
  type QueryCommandOutput,
  type UpdateCommandInput,
  type UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { Overloaded } from '../../core/ports/requests.ts';
import { backoffMillis, isExhausted } from './backoff.ts';
import { isShed } from './shed.ts';
import type { Item, ItemKey, Table } from './table.ts';

export type UpdateParts = Omit<UpdateCommandInput, 'TableName' | 'Key'>;
export type PutParts = Omit<PutCommandInput, 'TableName' | 'Item'>;
export interface QueryParts extends Omit<QueryCommandInput, 'TableName'> {
  /** Limits the sort keys. Only here does a query get a BETWEEN. */
  readonly range?: SortRange;
}

/** The sort keys from `from` to `to`, both included. */
interface SortRange {
  /** The attribute that is the sort key of the table or of the index. */
  readonly sort: string;
  readonly from: string | number;
  readonly to: string | number;
}

/** The options that the SDK's `send` takes with a command. */
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

/** Reads one item consistently. Undefined: there is no such item. */
export async function getItem(table: Table, key: ItemKey, projection?: string): Promise<Item | undefined> {
  const read = {
    TableName: table.name,
    Key: key,
    ConsistentRead: true,
    ...(projection !== undefined && { ProjectionExpression: projection }),
  };
  const answer = await send(table, (options) => table.client.send(new GetCommand(read), options));
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
  return send(table, (options) => table.client.send(new QueryCommand(query), options));
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

/** Deletes one item. Does nothing when there is no such item. */
export async function deleteItem(table: Table, key: ItemKey): Promise<void> {
  const removal = { TableName: table.name, Key: key };
  await send(table, (options) => table.client.send(new DeleteCommand(removal), options));
}
