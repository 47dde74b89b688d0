/**
 * The refund is one transaction. Its condition is a creation that has not ended, so that it is made only
 * once.
 */
import type { CreationRecord } from '../../core/creation.ts';
import type { Refund } from '../../core/ports/charges.ts';
import { spentAttribute } from './mapping.ts';
import { settleTerminal } from './terminal.ts';
import { keys, type Table } from './table.ts';
import type { TransactItem } from './transaction.ts';

/** The transaction's items: creation, account, key month, ledger row. */
export function refundItems(table: Table, creation: CreationRecord, refund: Refund): TransactItem[] {
  const at = new Date(refund.nowMillis).toISOString();
  return [
    settleTerminal(table, creation, {
      status: 'failed',
      nowMillis: refund.nowMillis,
      announce: refund.announce,
      values: { failure: refund.failure, refundedMicros: creation.costMicros },
    }),
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
          reason: refund.failure,
          at,
        },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
  ];
}
