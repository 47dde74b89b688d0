/** The calls of an import or a re-entry: they wait for as long as AWS is busy, and each may be made twice. */
import {
  BatchWriteItemCommand,
  PutItemCommand,
  ScanCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { isShed } from '../../service/aws/dynamodb/send.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { inLanes } from '../../service/values/lanes.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import type { RawItem } from './items.ts';

/** The most of BatchWriteItem. */
const itemsInBatch = 25;
export const atOnce = 8;
/** A new table takes 4,000 writes a second, and more from minute to minute. */
const longestPauseMillis = 10_000;
export const tries = 30;

/** Writes items, replacing stored ones. */
export async function writeItems(services: OperatorServices, items: readonly RawItem[]): Promise<void> {
  const batches = Array.from({ length: Math.ceil(items.length / itemsInBatch) }, (_, place) =>
    items.slice(place * itemsInBatch, (place + 1) * itemsInBatch),
  );
  await inLanes(atOnce, batches, (batch) => writeBatch(services, batch));
}

async function writeBatch(services: OperatorServices, items: readonly RawItem[]): Promise<void> {
  const { raw, table, clock } = services;
  let open: readonly WriteRequest[] = items.map((Item) => ({ PutRequest: { Item } }));
  for (let attempt = 0; open.length > 0; attempt += 1) {
    if (attempt > 0) await clock.sleep(pauseMillis(attempt));
    if (attempt === tries) throw new OperatorError('The table stayed busy: run the command again later.');
    const requests = { [table.name]: [...open] };
    const { UnprocessedItems = {} } = await patiently(services, () =>
      raw.dynamo.send(new BatchWriteItemCommand({ RequestItems: requests })),
    );
    open = UnprocessedItems[table.name] ?? [];
  }
}

/** A client may have used this item before an earlier run was killed. */
export async function putAbsent(services: OperatorServices, Item: RawItem): Promise<void> {
  const { raw, table } = services;
  const put = { TableName: table.name, Item, ConditionExpression: 'attribute_not_exists(pk)' };
  await patiently(services, () =>
    raw.dynamo.send(new PutItemCommand(put)).catch((error: unknown) => {
      if (!(error instanceof Error && error.name === 'ConditionalCheckFailedException')) throw error;
    }),
  );
}

/** Every item of the table, by consistent reads. */
export async function* itemsOf(services: OperatorServices): AsyncGenerator<RawItem> {
  const { raw, table } = services;
  let from: RawItem | undefined;
  do {
    const scan = { TableName: table.name, ConsistentRead: true, ...(from && { ExclusiveStartKey: from }) };
    const page = await patiently(services, () => raw.dynamo.send(new ScanCommand(scan)));
    yield* page.Items ?? [];
    from = page.LastEvaluatedKey;
  } while (from);
}

export function pauseMillis(attempt: number): number {
  return Math.min(longestPauseMillis, 50 * 2 ** attempt);
}

/** Makes a call again that AWS was too busy for, or did not answer. Each call here may be made twice. */
export async function patiently<Answer>(
  { clock }: OperatorServices,
  call: () => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await call();
    } catch (error) {
      if (attempt === tries || !mayPass(error)) throw error;
      await clock.sleep(pauseMillis(attempt));
    }
}

function mayPass(error: unknown): boolean {
  if (error instanceof Overloaded || isShed(error)) return true;
  if (!(error instanceof Error && '$metadata' in error)) return false;
  const { httpStatusCode: status } = error.$metadata as { readonly httpStatusCode?: number };
  return status === undefined || status >= 500;
}
