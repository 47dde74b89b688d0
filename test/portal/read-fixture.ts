/** The operations that read, over a table of the engine, as the frame calls them. */
import type { Account } from '../../service/accounts/account.ts';
import type { ApiRequest } from '../../service/api/request.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { readOperatorCatalog } from '../../service/catalog/operator-catalog-store.ts';
import { soldCatalogs } from '../../service/catalog/sold-catalog.ts';
import { catalog as ours } from '../../service/platform/lambda.ts';
import { createActionLog } from '../../service/portal/action-store.ts';
import type { MemberCaller, PortalAnswer } from '../../service/portal/http/caller.ts';
import { type ReadServices, readStores } from '../../service/portal/read/open.ts';
import { createPortalAccess } from '../../service/portal/session-store.ts';
import type { PersonId } from '../../service/values/ids.ts';
import { stub } from '../api/fakes.ts';
import { anAccount, now } from '../fixtures/records.ts';

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
    settings: {
      portalUrl: new URL('https://portal.test/'),
      apiUrl: 'https://api.test/api/public/v1',
      resultsBaseUrl: 'https://results.test',
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
