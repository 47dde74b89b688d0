/**
 * The event of an end, a redelivery or a notice: one item, in the transaction that causes it. A reader gives
 * it its position in the log later (service/events/event-store.ts). An account whose events were never read has no such items,
 * because no cursor exists after which they could be missed.
 */
import { keys, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { transact, type TransactionOutcome, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { eventMillis } from '../contract/limits.ts';
import {
  type AccountId,
  type CreationId,
  type EventId,
  eventIdOfEnd,
  type NoticeId,
  timeOfEvent,
} from '../values/ids.ts';
import type { CreationRecord } from './creation.ts';
import { countOpen } from './service-state-store.ts';

const nobodyReadsEvents = 'attribute_not_exists(eventsSince)';

export type EndingItems = readonly [TransactItem, TransactItem, ...TransactItem[]];

/** Unix seconds from which on an event is not shown any more. */
export function eventExpiry(id: EventId): number {
  return Math.ceil((timeOfEvent(id) + eventMillis) / 1000);
}

/** The item of an event without a position. Written by an update, since a renderer may not put items. */
export function eventItem(table: Table, account: AccountId, { id, of, again }: EventEntry): TransactItem {
  return {
    Update: {
      TableName: table.name,
      Key: keys.newEvent(account, id),
      UpdateExpression: `SET #of = :of, ${ttlAttribute} = :ttl${again ? ', again = :again' : ''}`,
      ExpressionAttributeNames: { '#of': 'of' },
      ExpressionAttributeValues: {
        ':of': of,
        ':ttl': eventExpiry(id),
        ...(again && { ':again': again }),
      },
    },
  };
}

/**
 * Ends a creation with its event, by one transaction, and counts the end.
 *
 * The condition on the account costs nothing, because every end changes the account. It decides together with
 * the first read of events: either the end is before that read and needs no event, or the transaction is
 * refused and is made again with the event.
 */
export async function endWithEvent(
  table: Table,
  creation: CreationRecord,
  nowMillis: number,
  items: EndingItems,
): Promise<TransactionOutcome> {
  const outcome = await end(table, creation, nowMillis, items);
  if (outcome.kind === 'done') await countOpen(table, creation.id, -1);
  return outcome;
}

async function end(
  table: Table,
  { id, accountId, tellsEvents }: CreationRecord,
  nowMillis: number,
  [creation, account, ...rest]: EndingItems,
): Promise<TransactionOutcome> {
  if (!tellsEvents) {
    const unread = { Update: { ...account.Update, ConditionExpression: nobodyReadsEvents } };
    const outcome = await transact(table, [creation, unread as TransactItem, ...rest]);
    if (outcome.kind !== 'refused' || outcome.refusals[0] || !outcome.refusals[1]) return outcome;
  }
  const event = eventItem(table, accountId, { id: eventIdOfEnd(id, nowMillis), of: id });
  return transact(table, [creation, account, ...rest, event]);
}

/** An event as it is stored. Its payload is the webhook body of the creation, or the body of the notice. */
export interface EventEntry {
  readonly id: EventId;
  readonly of: CreationId | NoticeId;
  /** A redelivery. Absent: the end of a creation, or a notice. */
  readonly again?: true;
}
