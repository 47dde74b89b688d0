import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { Overloaded } from '../../core/ports/requests.ts';
import type { Item, ItemKey, Table } from './table.ts';

const unprocessedTries = 4;

/** All of the keys, or Overloaded: what was not processed must never be read as absent. */
export async function batchGet(table: Table, wanted: readonly ItemKey[]): Promise<Item[]> {
  const items: Item[] = [];
  let open: readonly Item[] = wanted;
  for (let attempt = 1; attempt <= unprocessedTries; attempt += 1) {
    const answer = await table.client
      .send(new BatchGetCommand({ RequestItems: { [table.name]: { Keys: [...open], ConsistentRead: true } } }))
      .catch((error: unknown) => {
        throw isThrottle(error) ? new Overloaded('the read was throttled', { cause: error }) : error;
      });
    items.push(...(answer.Responses?.[table.name] ?? []));
    open = answer.UnprocessedKeys?.[table.name]?.Keys ?? [];
    if (open.length === 0) return items;
    await table.clock.sleep(20 * 2 ** attempt);
  }
  throw new Overloaded('the read stayed unprocessed');
}

function isThrottle(error: unknown): boolean {
  const names = ['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'];
  return error instanceof Error && names.includes(error.name);
}
