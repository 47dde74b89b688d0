import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createHeldSlots } from '../../service/api/held-slots-store.ts';
import { accountId, now } from '../fixtures/records.ts';
import { tableThat } from '../tables/answered-table.ts';

it('A slot that others always take first is asked for eight times', async () => {
  const taken = new ConditionalCheckFailedException({ message: 'taken', $metadata: {}, Item: {} });
  const { table, inputs } = tableThat(taken);
  expect(await createHeldSlots(table, 'images', 3).claim(accountId, now + 60_000, now)).toBeUndefined();
  expect(inputs).toHaveLength(8);
});
