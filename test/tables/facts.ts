/**
 * A fact about the stores is a sentence and a function, which tests the sentence on a table with one account
 * and one key.
 */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import type { ApiKey } from '../../service/accounts/account.ts';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import { createRequestStore } from '../../service/api/request-store.ts';
import type { Item, ItemKey, Table } from '../../service/aws/dynamodb/table.ts';
import { createChargeStore } from '../../service/creations/charge-store.ts';
import type { ChargeOrder } from '../../service/creations/charge.ts';
import { createCreationStore } from '../../service/creations/creation-store.ts';
import type { OpenWorkStore } from '../../service/creations/open-work-store.ts';
import { createOpenWorkStore } from '../../service/creations/open-work-store.ts';
import { createUploadStore } from '../../service/uploads/upload-store.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { asMicros, type Micros } from '../../service/values/money.ts';
import { dayOf, monthOf } from '../../service/values/time.ts';
import { createDeliveryStore } from '../../service/webhooks/delivery-store.ts';
import { differencesIn } from '../fixtures/books.ts';
import { aCreation, anAccount, anApiKey, now } from '../fixtures/records.ts';

/**
 * The stores over one table, which holds the account and the key of test/fixtures/records.ts: 25 USD, no cap.
 */
export interface Stores extends ReturnType<typeof storesOf> {
  readonly table: Table;
}

export type Facts = Readonly<Record<string, (stores: Stores) => Promise<void>>>;

function storesOf(table: Table) {
  return {
    accounts: createAccountStore(table),
    charges: createChargeStore(table),
    creations: createCreationStore(table),
    deliveries: createDeliveryStore(table),
    openWork: createOpenWorkStore(table),
    requests: createRequestStore(table),
    uploads: createUploadStore(table),
    wallet: createWalletStore(table),
    /** The stored form of an item. */
    item: async (key: ItemKey): Promise<Item | undefined> =>
      (await table.client.send(new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true })))
        .Item,
  };
}

/** An engine remembers the token of a transaction across tables, so creations of two tables share no id. */
let tables = 0;

export async function openStores(table: Table): Promise<Stores> {
  tables += 1;
  const stores = storesOf(table);
  const account = anAccount({ availableMicros: asMicros(0) });
  await stores.accounts.create(account);
  await stores.accounts.createKey(anApiKey());
  // An hour ago, so that this row is the first one in the ledger.
  const anHourAgo = { ...table, clock: { ...table.clock, now: () => now - 3_600_000 } };
  await createWalletStore(anHourAgo).topUp(account.id, asMicros(25_000_000), 'opening');
  return { ...stores, table };
}

/**
 * The id of the nth creation of the table that was opened last. The ids differ in the digit that chooses a
 * shard.
 */
export function idOf(number: number): CreationId {
  return `019aa5a0-1000-7000-8000-${tables.toString(16).padStart(10, '0')}${number.toString(16).padStart(2, '0')}` as CreationId;
}

/** A charge of 0.04 USD. */
export function orderOf(
  number: number,
  change: Partial<ChargeOrder> = {},
  creation: Parameters<typeof aCreation>[0] = {},
): ChargeOrder {
  return {
    creations: [aCreation({ id: idOf(number), ...creation })],
    apiKey: anApiKey(),
    maxConcurrent: anAccount().limits.maxConcurrent,
    postRate: 60,
    nowMillis: now,
    ...change,
  };
}

/** The overdue creations of all shards. The shards are read at the same time, as the reconciler does. */
export async function overdueIds(store: OpenWorkStore, atMillis: number): Promise<readonly string[]> {
  const lists = store.overdue(atMillis).map(async (pages) => {
    const ids: string[] = [];
    for await (const page of pages) ids.push(...page);
    return ids;
  });
  return (await Promise.all(lists)).flat();
}

/** The key of the account as the table holds it. */
export async function keyOf({ accounts }: Stores): Promise<ApiKey> {
  const [key] = await accounts.listKeys(anAccount().id);
  if (!key) throw new Error('the table has a key');
  return key;
}

/** A charge of 0.04 USD at this time, by the key as the table holds it then. */
export async function orderAt(
  stores: Stores,
  number: number,
  at = now,
  user = 'customer 7',
): Promise<ChargeOrder> {
  const apiKey = await keyOf(stores);
  return orderOf(
    number,
    { apiKey, nowMillis: at },
    {
      createdAt: new Date(at).toISOString(),
      chargedMonth: monthOf(at),
      chargedDay: dayOf(at),
      user,
      ...(apiKey.perUserMonthlyCapMicros !== undefined && { countedForUser: true }),
    },
  );
}

export const cents = (count: number): Micros => asMicros(count * 10_000);

/** The audit finds no difference in the table at this time. */
export async function expectBalanced({ table }: Stores, at = now): Promise<void> {
  expect(await differencesIn({ ...table, clock: { ...table.clock, now: () => at } })).toEqual([]);
}

/** The answer to the first such command gets lost on its way. */
export function losingAnswer({ table }: Stores, command: string): { answers: number } {
  const losing = { answers: 0 };
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      const answer = await next(args);
      if (context.commandName !== command || losing.answers > 0) return answer;
      losing.answers += 1;
      throw Object.assign(new Error('throttled'), { name: 'ThrottlingException' });
    },
    { step: 'initialize', name: 'loseOneAnswer', priority: 'low', override: true },
  );
  return losing;
}
