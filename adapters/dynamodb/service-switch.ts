/** The switch is an attribute of the service item, which every request that can charge reads consistently anyway. */
import type { ClosedService, ServiceSwitch } from '../../core/ports/service-switch.ts';
import { readService } from './open-count-store.ts';
import { updateItem } from './send.ts';
import { keys, type Item, type Table } from './table.ts';

export function createServiceSwitch(table: Table): ServiceSwitch {
  return {
    read: async () => {
      const { item, openCreations } = await readService(table);
      return { ...closedOf(item), openCreations };
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
  return closed ? { closed } : {};
}
