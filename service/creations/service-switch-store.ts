/** The switch is an attribute of the service item, which every request that can charge reads consistently anyway. */
import { updateItem } from '../aws/dynamodb/send.ts';
import { type Item, keys, type Table } from '../aws/dynamodb/table.ts';
import { readService } from './open-count-store.ts';

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

/** The operator's switch: a closed service accepts no new creation (decision 3). */

export interface ClosedService {
  /** The message for clients. */
  readonly message: string;
  /** When the service was closed. */
  readonly since: string;
}

export interface ServiceStanding {
  /** Absent: the service is open. */
  readonly closed?: ClosedService;
  /** Open creations of the whole service, as an estimate. */
  readonly openCreations: number;
}

/** Every method throws Overloaded when the table stayed busy. */
export interface ServiceSwitch {
  read(): Promise<ServiceStanding>;
  /** Every request that the API reads from then on is refused before a charge. */
  close(closed: ClosedService): Promise<void>;
  open(): Promise<void>;
}
