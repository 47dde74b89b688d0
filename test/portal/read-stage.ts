/** A table with an account and its key, and the answers of the operations that read it. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect } from 'vitest';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import type { Account } from '../../service/accounts/account.ts';
import type { Item, Table } from '../../service/aws/dynamodb/table.ts';
import { type CreationId, uuidV7 } from '../../service/values/ids.ts';
import { createDeliveryStore } from '../../service/webhooks/delivery-store.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { accountId, now, seededBytes } from '../fixtures/records.ts';
import { startMemory } from '../tables/engines.ts';
import { openStores } from '../tables/facts.ts';
import { aCaller, ask } from './read-fixture.ts';

/** The table of the test. */
export let table: Table;

/** Opens a new table before each test of the file. */
export function openBeforeEach(): void {
  beforeEach(async () => {
    table = await (await startMemory()).open();
    await openStores(table);
  });
}

export async function stored(item: Item): Promise<void> {
  await table.client.send(new PutCommand({ TableName: table.name, Item: item }));
}

/** A UUIDv7 of this time. */
export const idAt = (millis: number, digit = 0): string =>
  uuidV7(
    millis,
    seededBytes(16).map((byte, place) => (place === 15 ? digit : byte)),
  );

/** The body of a good answer, to the stored account or to the given one. */
export async function bodyOf(
  handle: Parameters<typeof ask>[0],
  options: Parameters<typeof ask>[2] & { readonly account?: Account } = {},
): Promise<unknown> {
  const account = options.account ?? (await createAccountStore(table).read(accountId));
  const { status, body } = await ask(handle, { table, caller: aCaller(account) }, options);
  expect(status).toBe(200);
  return body;
}

/** An attempt a minute ago. */
const delivery = (change: Partial<Delivery> = {}): Delivery => {
  const startedAt = change.startedAt ?? new Date(now - 60_000).toISOString();
  return {
    id: idAt(Date.parse(startedAt), change.attempt ?? 1),
    accountId,
    creationId: idAt(now - 90_000) as CreationId,
    event: 'creation.completed',
    url: 'https://hooks.test/a',
    attempt: 1,
    startedAt,
    ...change,
  };
};
/** Writes the row of an attempt. */
export const log = async (change: Partial<Delivery> = {}): Promise<Delivery> => {
  const row = delivery(change);
  await createDeliveryStore(table).record(row);
  return row;
};
