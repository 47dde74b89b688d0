/** Facts about the charges and refunds that usage and report sum. */
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import { readBookedRows } from '../../service/usage/booked-row-reads.ts';
import type { BookedRow } from '../../service/usage/booked-row.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId, aCreation, now } from '../fixtures/records.ts';
import { type Facts, idOf, orderOf, type Stores } from './facts.ts';

async function bookedRows({ table }: Stores, from: string, to: string): Promise<BookedRow[]> {
  const rows: BookedRow[] = [];
  for await (const some of readBookedRows(table, accountId, { from, to })) rows.push(...some);
  return rows;
}

export const bookedFacts: Facts = {
  'The booked rows of some days begin at 00:00 UTC of the first and end before 00:00 UTC after the last':
    async (stores) => {
      const times = [
        '2026-11-19T23:59:59.999Z',
        '2026-11-20T00:00:00.000Z',
        '2026-11-21T23:59:59.999Z',
        '2026-11-22T00:00:00.000Z',
      ];
      for (const [number, createdAt] of times.entries())
        await stores.charges.charge(orderOf(number, {}, { createdAt }));
      const of = async (from: string, to: string): Promise<string[]> =>
        (await bookedRows(stores, from, to)).map(({ row }) => row.at);
      expect(await of('2026-11-20', '2026-11-21')).toEqual(times.slice(1, 3));
      expect(await of('2026-11-19', '2026-11-19')).toEqual(times.slice(0, 1));
      expect(await of('2026-11-01', '2026-11-30')).toEqual(times);
      expect(await of('2026-11-23', '2026-11-30')).toEqual([]);
    },

  'A booked row has what the sums need of its creation, and not the prompt': async (stores) => {
    const [creation] = orderOf(1).creations;
    await stores.charges.charge(orderOf(1));
    await stores.charges.refund(creation, { failure: 'InternalFailure', announce: true, nowMillis: now + 1 });
    await stores.wallet.topUp(accountId, asMicros(1), 'no booked row');
    const rows = await bookedRows(stores, '2026-11-21', '2026-11-21');
    expect(rows.map(({ row }) => [row.kind, row.amountMicros])).toEqual([
      ['charge', -40_000],
      ['refund', 40_000],
    ]);
    for (const row of rows)
      expect(row.creation).toEqual({
        id: idOf(1),
        status: 'failed',
        model: creation.model,
        attempts: [],
        refundedMicros: 40_000,
      });
  },

  'A booked row without a record of its creation is there without one': async (stores) => {
    await stores.charges.charge(orderOf(1));
    await stores.table.client.send(
      new DeleteCommand({ TableName: stores.table.name, Key: keys.creation(idOf(1)) }),
    );
    const [row] = await bookedRows(stores, '2026-11-21', '2026-11-21');
    expect(row).toMatchObject({ row: { kind: 'charge', creationId: idOf(1) } });
    expect(row).not.toHaveProperty('creation');
  },

  'More booked rows than one read of creations takes are all there, in order': async (stores) => {
    const count = 103;
    const { client, name } = stores.table;
    for (let number = 0; number < count; number += 1) {
      const creation = aCreation({ id: idOf(number), createdAt: new Date(now + number).toISOString() });
      const { id, createdAt } = creation;
      const row = { kind: 'charge', amountMicros: 0 - number, at: createdAt, creationId: id };
      const key = keys.ledger(accountId, createdAt, 'charge', id);
      await client.send(new PutCommand({ TableName: name, Item: creationToItem(creation) }));
      await client.send(new PutCommand({ TableName: name, Item: { ...key, ...row } }));
    }
    const rows = await bookedRows(stores, '2026-11-21', '2026-11-21');
    expect(rows.map(({ row, creation }) => [row.amountMicros, creation?.id])).toEqual(
      Array.from({ length: count }, (_, number) => [0 - number, idOf(number)]),
    );
  },
};
