/**
 * Every call of the table that is not a transaction goes through here. DynamoDB refuses a single
 * write while a transaction holds the item, and it throttles; either clears by itself. The SDK
 * retries throttles a few times, and conflicts never.
 */
import {
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
export type QueryParts = Omit<QueryCommandInput, 'TableName'>;

/** What the SDK's `send` takes beside its command. */
export interface CallOptions {
  readonly abortSignal?: AbortSignal;
}

/**
 * The answer of a call that DynamoDB may refuse for the moment. The call is made again, with
 * jitter, until DynamoDB takes it.
 * @param call sends one command; it is called once a try
 * @throws Overloaded when conflicts or throttles outlast the tries, or the time of the request is used up.
 *   The refused call wrote nothing, unless the answer to an earlier try was lost.
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

/** One consistent read; undefined when there is no such item. */
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

/** One page. A query of an index cannot be consistent: DynamoDB refuses it. */
export async function queryPage(table: Table, parts: QueryParts): Promise<QueryCommandOutput> {
  const query = {
    TableName: table.name,
    ...(parts.IndexName === undefined && { ConsistentRead: true }),
    ...parts,
  };
  return send(table, (options) => table.client.send(new QueryCommand(query), options));
}

/** A single update. Throws ConditionalCheckFailedException when its condition does not hold. */
export async function updateItem(
  table: Table,
  key: ItemKey,
  parts: UpdateParts,
): Promise<UpdateCommandOutput> {
  const update = { TableName: table.name, Key: key, ...parts };
  return send(table, (options) => table.client.send(new UpdateCommand(update), options));
}

/** A single put. Throws ConditionalCheckFailedException when its condition does not hold. */
export async function putItem(table: Table, item: Item, parts: PutParts = {}): Promise<void> {
  const put = { TableName: table.name, Item: item, ...parts };
  await send(table, (options) => table.client.send(new PutCommand(put), options));
}
