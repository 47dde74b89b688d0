/**
 * The running count of open creations, in an item of its own (core/open-count.ts). The item is apart from the service
 * item, because it changes several hundred times a second where every request reads the service item.
 */
import type { OpenCountStore } from '../../core/ports/open-count.ts';
import { openNow, type OpenAnchor } from '../../core/open-count.ts';
import { batchGet } from './batch-get.ts';
import { updateItem } from './send.ts';
import { keys, type Item, type Table } from './table.ts';

export function createOpenCountStore(table: Omit<Table, 'signal'>): OpenCountStore {
  return {
    // Without a condition and outside of every transaction: a note can never refuse a charge or an end.
    add: async (change, signal) => {
      await updateItem({ ...table, signal }, keys.openCount(), {
        UpdateExpression: 'ADD running :change',
        ExpressionAttributeValues: { ':change': change },
      });
    },
  };
}

/** The service item, with the creations that are open. The running count comes with the same read. */
export async function readService(table: Table): Promise<{ item: Item | undefined; openCreations: number }> {
  const items = await batchGet(table, [keys.service(), keys.openCount()]);
  const item = items.find(({ pk }) => pk === keys.service().pk);
  const openCount = items.find(({ pk }) => pk === keys.openCount().pk);
  return { item, openCreations: openCreationsOf(item, openCount) };
}

/** What the service item says of the last count. */
export function anchorOf(service: Item | undefined): OpenAnchor {
  const running = service?.['openRunning'];
  return {
    counted: Number(service?.['openCreations'] ?? 0),
    ...(running !== undefined && { running: Number(running) }),
  };
}

/** The running count of its item. Before the first note the item does not exist. */
export function runningOf(openCount: Item | undefined): number {
  return Number(openCount?.['running'] ?? 0);
}

/** The creations that are open, from the two items that a request reads. */
export function openCreationsOf(service: Item | undefined, openCount: Item | undefined): number {
  return openNow(anchorOf(service), runningOf(openCount));
}
