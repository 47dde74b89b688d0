import type { PortalOperationName } from '../../contract/operations.ts';
import type { PersonCaller, PortalHandle } from '../http/caller.ts';
import type { Account } from '../../accounts/account.ts';
import { type CatalogPlatform, catalogsOf } from '../../api/open.ts';
import { createRequestLogReads } from '../../api/request-log-reads.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { Table } from '../../aws/dynamodb/table.ts';
import { createCreationReads } from '../../creations/creation-reads.ts';
import type { ResultAddresses } from '../../creations/result-addresses.ts';
import { resultsOf, type ServicesOf } from '../../platform/common.ts';
import { createProviderStore } from '../../catalog/provider-store.ts';
import { createNoticeStore } from '../../notices/notice-store.ts';
import { createPaymentStore } from '../../payments/payment-store.ts';
import { createHealthStore } from '../../render/health-store.ts';
import { createOperatedReads } from '../../usage/all-accounts-reads.ts';
import { createLedgerReads } from '../../usage/ledger-store.ts';
import { createStatementReads } from '../../usage/statement-reads.ts';
import { createUsageReads } from '../../usage/usage-store.ts';
import { createDeliveryReads } from '../../webhooks/delivery-reads.ts';
import { createEndpointStore } from '../../webhooks/endpoint-store.ts';
import { openPortalWith, type PortalPlatform, type PortalServices } from '../open.ts';
import { createPeopleStore } from '../people-store.ts';
import { createPortalReads } from '../portal-reads.ts';
import { createPeopleByEmail } from './person-reads.ts';

export type ReadServices = ServicesOf<typeof openPortalRead>;
export type ReadHandle<Name extends PortalOperationName> = PortalHandle<Name, ReadServices>;

/** What the lists of an account need. The operator's pages read the same lists of every account. */
export type TabServices = PortalServices &
  ReturnType<typeof readStores> & { readonly results: ResultAddresses };
export type TabHandle<Name extends PortalOperationName> = (
  request: ApiRequest,
  caller: PersonCaller & { readonly account: Account },
  services: TabServices,
) => ReturnType<PortalHandle<Name, TabServices>>;

export function readStores(table: Table) {
  return {
    reads: createPortalReads(table),
    creations: createCreationReads(table),
    deliveries: createDeliveryReads(table),
    endpoints: createEndpointStore(table),
    ledger: createLedgerReads(table),
    usage: createUsageReads(table),
    requestLog: createRequestLogReads(table),
    statements: createStatementReads(table),
    people: createPeopleStore(table),
  };
}

/** What only the operator's pages read. */
export function overseeStores(table: Table) {
  return {
    operated: createOperatedReads(table),
    providers: createProviderStore(table),
    health: createHealthStore(table),
    notices: createNoticeStore(table),
    payments: createPaymentStore(table),
    peopleByEmail: createPeopleByEmail(table),
  };
}

export function openPortalRead(on: PortalPlatform & CatalogPlatform) {
  const catalogs = catalogsOf(on);
  const base = {
    results: resultsOf(on),
    serviceCapacity: Number(on.environment('SERVICE_CAPACITY')),
    /** Where programs that know nothing of this service find it: …/openai/v1 and …/mcp. */
    clientUrls: { openai: on.environment('OPENAI_URL'), mcp: on.environment('MCP_URL') },
  };
  return openPortalWith(on, (store) => ({
    ...base,
    catalogs: catalogs(store),
    ...readStores(store),
    ...overseeStores(store),
  }));
}
