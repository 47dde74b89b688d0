/** The switch is an attribute of the service item, which every request that can charge reads consistently anyway. */
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { updateItem } from '../aws/dynamodb/send.ts';
import { type Item, keys, openCountKey, openCountKeys, type Table } from '../aws/dynamodb/table.ts';
import type { CreationId } from '../values/ids.ts';

// How many creations are open in the whole service, at every moment (decision 3). Four counters together follow the
// creations: each start adds one, and each end takes one away. Once a minute the reconciler counts the index of open
// work and stores the count with the sum of the counters at that moment. The estimate is that count and what the
// counters changed since. So a change that was lost, or was counted twice, is repaired within a minute.

/** How long a change may take. A usual one takes 6 ms. */
const changeMillis = 300;

/** Counts a start or an end outside of transactions. A failed change is left to the reconciler. */
export async function countOpen(table: Table, id: CreationId, change: 1 | -1): Promise<void> {
  const limit = table.clock.timeout(changeMillis);
  try {
    await updateItem({ ...table, signal: limit.signal }, openCountKey(id), {
      UpdateExpression: 'ADD running :change',
      ExpressionAttributeValues: { ':change': change },
    });
  } catch {
    // The caller's own work is done, whatever became of the count.
  } finally {
    limit.release();
  }
}

/** The service item, with the creations that are open. The counters come with the same read. */
export async function readService(table: Table): Promise<{ item: Item | undefined; openCreations: number }> {
  const items = await batchGet(table, [keys.service(), ...openCountKeys]);
  const item = items.find(({ pk }) => pk === keys.service().pk);
  return { item, openCreations: openCreationsOf(item, items) };
}

/** The creations that are open, from the service item and the items that were read with it. */
export function openCreationsOf(service: Item | undefined, items: readonly Item[]): number {
  const counted = Number(service?.['openCreations'] ?? 0);
  const sumThen = Number(service?.['openSum'] ?? 0);
  return Math.max(0, Math.round(counted + sumOf(items) - sumThen));
}

/** The sum of the counters, of which some may have no item yet. */
export async function readSum(table: Table): Promise<number> {
  return sumOf(await batchGet(table, openCountKeys));
}

function sumOf(items: readonly Item[]): number {
  const counters = items.filter(({ sk }) => sk === 'OPEN_COUNT');
  return counters.reduce((sum, counter) => sum + Number(counter['running']), 0);
}

/** Every method throws Overloaded when the table stayed busy. */
export function createServiceSwitch(table: Table) {
  return {
    read: async (): Promise<ServiceStanding> => {
      const { item, openCreations } = await readService(table);
      return { ...closedOf(item), openCreations };
    },
    /** Every request that the API reads from then on is refused before a charge. */
    close: async (closed: ClosedService) => {
      await updateItem(table, keys.service(), {
        UpdateExpression: 'SET closed = :closed',
        ExpressionAttributeValues: { ':closed': closed },
      });
    },
    open: async () => {
      await updateItem(table, keys.service(), { UpdateExpression: 'REMOVE closed' });
    },
  };
}

export function closedOf(service: Item | undefined): { readonly closed?: ClosedService } {
  const closed = service?.['closed'] as ClosedService | undefined;
  return closed ? { closed } : {};
}

/** The operator's switch: a closed service accepts no new creation (decision 3). */

export interface ClosedService {
  readonly message: string;
  readonly since: string;
}

export interface ServiceStanding {
  readonly closed?: ClosedService;
  readonly openCreations: number;
}
