import type { CreationRecord, CreationStatus } from '../../core/creation.ts';
import { keys, openShard, type Item, type Table } from './table.ts';
import type { TransactItem } from './transaction.ts';

const isOpen = '#status IN (:queued, :processing)';
/**
 * The execution sends the first attempt at once. When that did not happen, or died, the
 * reconciler looks behind the time at which a second one would be due, 10 s for the first
 * and 60 s between them, so that the first attempt need not move this entry of the index.
 */
const webhookGraceMillis = 110_000;

export interface Settlement {
  readonly status: Extract<CreationStatus, 'completed' | 'failed'>;
  readonly nowMillis: number;
  /** Whether its webhook, if it has one, is to be sent. */
  readonly announce: boolean;
  /** Attributes that go with the status. */
  readonly values: Item;
}

/** The update that makes a creation terminal, once: with a webhook it stays in the index of open work until that is settled. */
export function settleTerminal(table: Table, creation: CreationRecord, settlement: Settlement): TransactItem {
  const { nowMillis, status } = settlement;
  const pending = creation.webhook !== undefined && settlement.announce;
  const set: Item = {
    ...settlement.values,
    completedAt: new Date(nowMillis).toISOString(),
    ...(pending && { openShard: openShard('WEBHOOK', creation.id), dueAt: nowMillis + webhookGraceMillis }),
  };
  const names = Object.keys(set);
  const webhook = creation.webhook && {
    ...creation.webhook,
    nextAt: nowMillis,
    status: settlement.announce ? ('pending' as const) : ('skipped' as const),
  };
  return {
    Update: {
      TableName: table.name,
      Key: keys.creation(creation.id),
      UpdateExpression:
        `SET #status = :status${webhook ? ', webhook = :webhook' : ''}` +
        names.map((_, index) => `, #n${index} = :v${index}`).join('') +
        ` REMOVE lease${pending ? '' : ', openShard, dueAt'}`,
      ConditionExpression: isOpen,
      ExpressionAttributeNames: {
        '#status': 'status',
        ...Object.fromEntries(names.map((name, index) => [`#n${index}`, name])),
      },
      ExpressionAttributeValues: {
        ':status': status,
        ':queued': 'queued',
        ':processing': 'processing',
        ...(webhook && { ':webhook': webhook }),
        ...Object.fromEntries(names.map((name, index) => [`:v${index}`, set[name]])),
      },
    },
  };
}
