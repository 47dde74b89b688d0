/**
 * The refund is one transaction. Its condition is a creation that has not ended, so that it is made only
 * once.
 */
import { isCounterGivenBack, isDayGivenBack } from '../../core/caps.ts';
import type { CreationRecord } from '../../core/creation.ts';
import type { FailureName } from '../../core/failure.ts';
import type { Cancel, Refund } from '../../core/ports/charges.ts';
import { userHash } from '../../core/user.ts';
import { dayAttribute, spentAttribute } from './mapping.ts';
import { settleTerminal } from './terminal.ts';
import { keys, type Table } from './table.ts';
import type { EndingItems } from './event-items.ts';
import type { TransactItem } from './transaction.ts';

/** The transaction's items: creation, account, key, counter of the user if it was counted, ledger row. */
export function refundItems(table: Table, creation: CreationRecord, refund: Refund): EndingItems {
  const { failure, nowMillis, announce, isCancelled = false } = refund;
  const at = new Date(nowMillis).toISOString();
  const values = {
    failure,
    refundedMicros: creation.costMicros,
    ...(isCancelled && { cancelledAt: at }),
  };
  return [
    settleTerminal(table, creation, { status: 'failed', nowMillis, announce, values }),
    ...moneyBack(table, creation, nowMillis, isCancelled ? cancelledReason : failure),
  ];
}

/** The same for a cancel. Its condition also holds the attempts that were looked at. */
export function cancelItems(
  table: Table,
  creation: CreationRecord,
  { nowMillis, attempts }: Cancel,
): EndingItems {
  const at = new Date(nowMillis).toISOString();
  const failure: FailureName = 'InternalFailure';
  const { costMicros: refundedMicros } = creation;
  const values = { failure, refundedMicros, cancelledAt: at, attempts };
  const onlyAt = creation.attempts;
  return [
    settleTerminal(table, creation, { status: 'failed', nowMillis, announce: true, values, onlyAt }),
    ...moneyBack(table, creation, nowMillis, cancelledReason),
  ];
}

/** The reason in the ledger row of a cancelled creation. */
const cancelledReason = 'Cancelled';

function moneyBack(
  table: Table,
  creation: CreationRecord,
  nowMillis: number,
  reason: string,
): [TransactItem, ...TransactItem[]] {
  const at = new Date(nowMillis).toISOString();
  const day = dayGivenBack(creation, nowMillis);
  const counter = counterGivenBack(table, creation, nowMillis);
  return [
    {
      Update: {
        TableName: table.name,
        Key: keys.account(creation.accountId),
        UpdateExpression: 'SET availableMicros = availableMicros + :cost, inFlight = inFlight - :one',
        ExpressionAttributeValues: { ':cost': creation.costMicros, ':one': 1 },
      },
    },
    {
      Update: {
        TableName: table.name,
        Key: keys.apiKey(creation.accountId, creation.keyId),
        UpdateExpression: day === undefined ? 'ADD #spent :back' : 'ADD #spent :back, #day :back',
        ExpressionAttributeNames: {
          '#spent': spentAttribute(creation.chargedMonth),
          ...(day !== undefined && { '#day': dayAttribute(day) }),
        },
        ExpressionAttributeValues: { ':back': 0 - creation.costMicros },
      },
    },
    ...counter,
    {
      Put: {
        TableName: table.name,
        Item: {
          ...keys.ledger(creation.accountId, at, 'refund', creation.id),
          kind: 'refund',
          amountMicros: creation.costMicros,
          creationId: creation.id,
          keyId: creation.keyId,
          month: creation.chargedMonth,
          ...(day !== undefined && { day }),
          ...(counter.length > 0 && { countedForUser: true }),
          ...(creation.user !== undefined && { user: creation.user }),
          model: creation.model,
          chargedOn: creation.createdAt.slice(0, 10),
          reason,
          at,
        },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
  ];
}

/**
 * The day of the charge. Undefined when an older release charged it without a day, or when the day is long
 * over and may be removed from the key.
 */
function dayGivenBack({ chargedDay }: CreationRecord, nowMillis: number): string | undefined {
  return chargedDay !== undefined && isDayGivenBack(chargedDay, nowMillis) ? chargedDay : undefined;
}

/** The user's counter of the month of the charge, if the charge was counted there and the counter exists. */
function counterGivenBack(table: Table, creation: CreationRecord, nowMillis: number): TransactItem[] {
  const { accountId, keyId, user, chargedMonth, countedForUser } = creation;
  if (!countedForUser || user === undefined || !isCounterGivenBack(chargedMonth, nowMillis)) return [];
  return [
    {
      Update: {
        TableName: table.name,
        Key: keys.userSpend(accountId, keyId, chargedMonth, userHash(user)),
        UpdateExpression: 'ADD spentMicros :userBack',
        ExpressionAttributeValues: { ':userBack': 0 - creation.costMicros },
      },
    },
  ];
}
