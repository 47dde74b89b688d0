/** The switch is an attribute of the service item, which every request that can charge reads consistently anyway. */
import type { ClosedService, ServiceSwitch } from '../../core/ports/service-switch.ts';
import { batchGet } from './batch-get.ts';
import { openCreationsOf } from './open-count-store.ts';
import { updateItem } from './send.ts';
import { keys, type Item, type Table } from './table.ts';

export function createServiceSwitch(table: Table): ServiceSwitch {
  return {
    read: async () => {
      const items = await batchGet(table, [keys.service(), keys.openCount()]);
      const service = items.find(({ pk }) => pk === keys.service().pk);
      const openCount = items.find(({ pk }) => pk === keys.openCount().pk);
      return { ...closedOf(service), openCreations: openCreationsOf(service, openCount) };
    },
    close: async (closed) => {
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

/** Whether the service is closed, from the service item. */
export function closedOf(service: Item | undefined): { readonly closed?: ClosedService } {
  const closed = service?.['closed'] as ClosedService | undefined;
  return closed ? { closed: { message: String(closed.message), since: String(closed.since) } } : {};
}
