/** All payments of an account. Those that another payment system than Stripe took are written here. */
import { getItem, queryPage } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table } from '../aws/dynamodb/table.ts';
import { toPutNew, type TransactItem } from '../aws/dynamodb/transaction.ts';
import type { AccountId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import { type AnyPayment, partsOf, type Payment, type PaymentId } from './payment.ts';

const begins = 'PAYMENT#';

function keyOf(account: AccountId, uuid: string): ItemKey {
  return { pk: keys.account(account).pk, sk: `${begins}${uuid}` };
}

export function paymentKey(id: PaymentId): ItemKey {
  const parts = partsOf(id);
  if (!parts) throw new Error('a payment has a malformed id');
  return keyOf(parts.account, parts.uuid);
}

export function createPaymentStore(table: Table) {
  return {
    toPut: (payment: Payment): TransactItem => toPutNew(table, { ...paymentKey(payment.id), ...payment }),
    /** Undefined when there is no such payment, or the text is no id of one. */
    read: async (text: string): Promise<AnyPayment | undefined> => {
      const parts = partsOf(text);
      const item = parts && (await getItem(table, keyOf(parts.account, parts.uuid)));
      return item && fromItem(item);
    },
    /** What goes back to the payer. The condition: never more than was credited. */
    toReverse: ({ id, creditedMicros }: Payment, amount: Micros): TransactItem => ({
      Update: {
        TableName: table.name,
        Key: paymentKey(id),
        UpdateExpression: 'SET reversedMicros = reversedMicros + :amount',
        ConditionExpression: 'reversedMicros <= :room',
        ExpressionAttributeValues: { ':amount': amount, ':room': creditedMicros - amount },
      },
    }),
    /** The newest first. @param after the id of the last payment of the page before */
    list: async (account: AccountId, limit: number, after?: PaymentId): Promise<readonly AnyPayment[]> => {
      const page = await queryPage(table, {
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :begins)',
        ExpressionAttributeValues: { ':pk': keys.account(account).pk, ':begins': begins },
        ScanIndexForward: false,
        Limit: limit,
        ...(after !== undefined && { ExclusiveStartKey: paymentKey(after) }),
      });
      return (page.Items ?? []).map(fromItem);
    },
  };
}

function fromItem({ pk: _pk, sk: _sk, openShard: _part, dueAt: _due, ...item }: Item): AnyPayment {
  return item as unknown as AnyPayment;
}
