/** The operations that read, over a table of the engine, as the frame calls them. */
import { createActionLog } from '../../../adapters/dynamodb/portal/action-log.ts';
import { createPortalAccess } from '../../../adapters/dynamodb/portal/session-store.ts';
import type { Table } from '../../../adapters/dynamodb/table.ts';
import type { Account } from '../../../core/account.ts';
import type { PersonId } from '../../../core/ids.ts';
import type { ApiRequest } from '../../../functions/http/request.ts';
import type { MemberCaller, PortalAnswer } from '../../../functions/portal/http/caller.ts';
import { readOperatorCatalog } from '../../../adapters/dynamodb/operator-catalog.ts';
import { soldCatalogs } from '../../../core/sold-catalog.ts';
import { catalog as ours } from '../../../functions/services/lambda.ts';
import { readStores, type ReadServices } from '../../../functions/services/portal-read.ts';
import { anAccount, now } from '../../fixtures/records.ts';
import { stub } from '../fakes.ts';

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
