import type { CreationRecord, CreationStatus, RouteAttempt } from '../../core/creation.ts';
import { webhookGraceMillis } from '../../core/webhook.ts';
import { keys, openShard, type Item, type Table } from './table.ts';
import type { TransactItem } from './transaction.ts';

const isOpen = '#status IN (:queued, :processing)';
/** An attempt is saved before its vendor is called, so nothing was sent that this list does not have. */
const hasTheseAttempts = 'attempts = :known';

export interface Settlement {
  readonly status: Extract<CreationStatus, 'completed' | 'failed'>;
  readonly nowMillis: number;
  /** Whether the creation's webhook, if it has one, is to be sent. */
  readonly announce: boolean;
  /** Further attributes that are set with the status. */
  readonly values: Item;
  /** The creation is ended only while these are its attempts. */
  readonly onlyAt?: readonly RouteAttempt[];
}

/**
 * The update that ends a creation, once. It removes the lease that an earlier release wrote into the creation. A
 * creation with a webhook stays in the index of open work until the webhook is settled.
 */
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
      ConditionExpression: settlement.onlyAt ? `${isOpen} AND ${hasTheseAttempts}` : isOpen,
      ExpressionAttributeNames: {
        '#status': 'status',
        ...Object.fromEntries(names.map((name, index) => [`#n${index}`, name])),
      },
      ExpressionAttributeValues: {
        ':status': status,
        ':queued': 'queued',
        ':processing': 'processing',
        ...(webhook && { ':webhook': webhook }),
        ...(settlement.onlyAt && { ':known': settlement.onlyAt }),
        ...Object.fromEntries(names.map((name, index) => [`:v${index}`, set[name]])),
      },
    },
  };
}
