/** Facts about the refusals of DynamoDB itself, which service/aws/dynamodb reads. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { expect } from 'vitest';
import { apiKeyToItem } from '../../service/accounts/account-items.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { transact } from '../../service/aws/dynamodb/transaction.ts';
import { chargeParts } from '../../service/creations/charge.ts';
import { accountId, anApiKey, now } from '../fixtures/records.ts';
import { type Facts, orderOf, type Stores } from './facts.ts';

type Items = NonNullable<TransactWriteCommand['input']['TransactItems']>;

/** Code and item of each reason, in the order of the transaction's items. */
async function reasonsOf({ table }: Stores, items: Items): Promise<unknown> {
  const error: unknown = await table.client
    .send(new TransactWriteCommand({ TransactItems: items }))
    .catch((caught: unknown) => caught);
  if (!(error instanceof TransactionCanceledException)) throw error;
  return (error.CancellationReasons ?? []).map(({ Code, Item }) =>
    Item ? [Code, unmarshall(Item)] : [Code],
  );
}

const itemsOf = (...charge: Parameters<typeof chargeParts>): Items =>
  chargeParts(...charge).map(({ item }) => item);

export const refusalFacts: Facts = {
  'A cancelled transaction has a reason for each item, in order, with the old item if it was requested':
    async (stores) => {
      const { table, accounts, charges, item } = stores;
      const order = orderOf(1, { postRate: 1, idempotency: { hash: 'hash', requestHash: 'request' } });
      await charges.charge(order);
      await accounts.change(accountId, { condition: 'suspended' });
      await accounts.revokeKey(accountId, anApiKey().id, 'then');
      expect(await reasonsOf(stores, itemsOf(table, order))).toEqual([
        ['ConditionalCheckFailed', await item(keys.account(accountId))],
        [
          'ConditionalCheckFailed',
          {
            ...apiKeyToItem(anApiKey()),
            spent_2026_11: 40_000,
            day_2026_11_21: 40_000,
            lastUsedAt: '2026-11-21T12:00:00.000Z',
            revokedAt: 'then',
          },
        ],
        // The transaction does not request the old items of the rate window, the creation and the ledger row.
        ['ConditionalCheckFailed'],
        ['ConditionalCheckFailed'],
        ['ConditionalCheckFailed'],
        ['ConditionalCheckFailed', await item(keys.idempotency(accountId, 'hash'))],
      ]);
    },

  'A condition that held has the reason None, and an absent item has no old item': async (stores) => {
    const absent = orderOf(1, {}, { accountId: 'N0body0000' as typeof accountId });
    expect(await reasonsOf(stores, itemsOf(stores.table, absent))).toEqual([
      ['ConditionalCheckFailed'],
      ['ConditionalCheckFailed'],
      ['None'],
      ['None'],
      ['None'],
    ]);
  },

  'An impossible update fails and writes nothing, and so do two operations on one item': async (stores) => {
    const { table, item } = stores;
    const key = keys.creation(orderOf(1).creations[0].id);
    const update = {
      Update: {
        TableName: table.name,
        Key: key,
        UpdateExpression: 'SET amount = amount - :one',
        ExpressionAttributeValues: { ':one': 1 },
      },
    };
    // DynamoDB cancels with the reason ValidationError, DynamoDB Local throws a ValidationException. The
    // stores throw in both cases.
    await expect(transact(table, [update])).rejects.toThrow();
    await expect(transact(table, [update, update])).rejects.toMatchObject({ name: 'ValidationException' });
    expect(await item(key)).toBeUndefined();
  },

  'The same token and request are answered as done and change nothing; another request is a mismatch': async (
    stores,
  ) => {
    const { table, charges, creations } = stores;
    const order = orderOf(1);
    await charges.charge(order);
    await charges.refund(order.creations[0], { failure: 'GenerationFailed', nowMillis: now, announce: true });
    const again = (items: Items): Promise<unknown> =>
      table.client.send(
        new TransactWriteCommand({ TransactItems: items, ClientRequestToken: order.creations[0].id }),
      );
    await again(itemsOf(table, order));
    expect((await creations.read(order.creations[0].id))?.status).toBe('failed');
    await expect(again(itemsOf(table, orderOf(2)))).rejects.toMatchObject({
      name: 'IdempotentParameterMismatchException',
    });
  },
};
