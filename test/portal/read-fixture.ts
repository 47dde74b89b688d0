/** The operations that read, over a table of the engine, as the frame calls them. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect } from 'vitest';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import type { Account } from '../../service/accounts/account.ts';
import type { ApiRequest } from '../../service/api/request.ts';
import type { Item, Table } from '../../service/aws/dynamodb/table.ts';
import { readOperatorCatalog } from '../../service/catalog/operator-catalog-store.ts';
import { soldCatalogs } from '../../service/catalog/sold-catalog.ts';
import { catalog as ours } from '../../service/platform/lambda.ts';
import { createActionLog } from '../../service/operated/action-store.ts';
import type { MemberCaller, PortalAnswer } from '../../service/portal/http/caller.ts';
import { type ReadServices, readStores } from '../../service/portal/read/open.ts';
import { createPortalAccess } from '../../service/portal/session-store.ts';
import { type CreationId, type PersonId, uuidV7 } from '../../service/values/ids.ts';
import { createDeliveryStore } from '../../service/webhooks/delivery-store.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { stub } from '../api/fakes.ts';
import { accountId, anAccount, now, seededBytes } from '../fixtures/records.ts';
import { startMemory } from '../tables/engines.ts';
import { openStores } from '../tables/facts.ts';
import { resultsOfTests } from '../fixtures/records.ts';

export const personId = 'p'.repeat(43) as PersonId;

export function aCaller(account: Account = anAccount(), change: Partial<MemberCaller> = {}): MemberCaller {
  const at = new Date(now).toISOString();
  const email = 'owner@studio.test';
  return {
    person: {
      id: personId,
      issuer: 'https://issuer.test',
      subject: 'one',
      email,
      accounts: [account.id],
      createdAt: at,
      lastSignInAt: at,
    },
    session: {
      hash: 'hash',
      personId,
      accountId: account.id,
      authenticatedAt: now - 60_000,
      createdAt: now - 60_000,
      lastSeenAt: now,
    },
    isOperator: false,
    account,
    member: { accountId: account.id, personId, email, role: 'owner', since: at },
    clientAddress: '203.0.113.9',
    nowMillis: now,
    ...change,
  };
}

function servicesOf(table: Table): ReadServices {
  return stub<ReadServices>({
    ...readStores(table),
    catalogs: soldCatalogs({ ours }, () => readOperatorCatalog(table)),
    access: createPortalAccess(table),
    actions: createActionLog(table),
    clientUrls: { openai: 'https://api.test/openai/v1', mcp: 'https://api.test/mcp' },
    serviceCapacity: 2_000,
    results: resultsOfTests,
    settings: {
      takesPayments: false,
      portalUrl: new URL('https://portal.test/'),
      apiUrl: 'https://api.test/api/public/v1',
      emailsAreVerified: false,
      hasAuthTime: true,
      paymentUrl: 'https://pay.test/',
      contact: null,
      credentialsUrl: null,
      inboxUrl: null,
    },
  });
}

type Handle = (request: ApiRequest, caller: MemberCaller, services: ReadServices) => Promise<PortalAnswer>;

/** Calls the operation as the frame does. */
export async function ask(
  handle: Handle,
  { table, caller = aCaller() }: { readonly table: Table; readonly caller?: MemberCaller },
  { query = {}, pathId = '' }: Partial<Pick<ApiRequest, 'query' | 'pathId'>> = {},
): Promise<PortalAnswer> {
  return handle(stub<ApiRequest>({ query, pathId }), caller, servicesOf(table));
}

// A table with an account and its key, and the answers of the operations that read it.

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
