/**
 * The refund is one transaction. Its condition is a creation that has not ended, so that it is made only
 * once.
 */
import type { CreationRecord } from '../../core/creation.ts';
import type { FailureName } from '../../core/failure.ts';
import type { Cancel, Refund } from '../../core/ports/charges.ts';
import { spentAttribute } from './mapping.ts';
import { settleTerminal } from './terminal.ts';
import { keys, type Table } from './table.ts';
import type { TransactItem } from './transaction.ts';

/** The transaction's items: creation, account, key month, ledger row. */
export function refundItems(table: Table, creation: CreationRecord, refund: Refund): TransactItem[] {
  const { failure, nowMillis, announce, isCancelled = false } = refund;
  const at = new Date(nowMillis).toISOString();
  const values = {
    failure,
    refundedMicros: creation.costMicros,
    ...(isCancelled && { cancelledAt: at }),
  };
  return [
    settleTerminal(table, creation, { status: 'failed', nowMillis, announce, values }),
    ...moneyBack(table, creation, at, isCancelled ? cancelledReason : failure),
  ];
}

/** The same for a cancel. Its condition also holds the attempts that were looked at. */
export function cancelItems(
  table: Table,
  creation: CreationRecord,
  { nowMillis, attempts }: Cancel,
): TransactItem[] {
  const at = new Date(nowMillis).toISOString();
  const failure: FailureName = 'InternalFailure';
  const values = { failure, refundedMicros: creation.costMicros, cancelledAt: at, attempts };
  const onlyAt = creation.attempts;
  return [
    settleTerminal(table, creation, { status: 'failed', nowMillis, announce: true, values, onlyAt }),
    ...moneyBack(table, creation, at, cancelledReason),
  ];
}

/** The reason in the ledger row of a cancelled creation. */
const cancelledReason = 'Cancelled';

function moneyBack(table: Table, creation: CreationRecord, at: string, reason: string): TransactItem[] {
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
        UpdateExpression: 'ADD #spent :back',
        ExpressionAttributeNames: { '#spent': spentAttribute(creation.chargedMonth) },
        ExpressionAttributeValues: { ':back': 0 - creation.costMicros },
      },
    },
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
          reason,
          at,
        },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
  ];
}
