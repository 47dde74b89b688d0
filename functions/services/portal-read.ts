import { createCreationReads } from '../../adapters/dynamodb/creation-reads.ts';
import { createDeliveryReads } from '../../adapters/dynamodb/portal/delivery-log.ts';
import { createLedgerReads } from '../../adapters/dynamodb/portal/ledger-store.ts';
import { createPeopleStore } from '../../adapters/dynamodb/portal/people-store.ts';
import { createPortalReads } from '../../adapters/dynamodb/portal/portal-reads.ts';
import { createUsageReads } from '../../adapters/dynamodb/portal/usage-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { catalogsOf, type CatalogPlatform } from './api.ts';
import type { ServicesOf } from './open.ts';
import { openPortalWith, type PortalPlatform } from './portal.ts';

export type ReadServices = ServicesOf<typeof openPortalRead>;

/** What the pages of the portal read. */
export function readStores(table: Table) {
  return {
    reads: createPortalReads(table),
    creations: createCreationReads(table),
    deliveries: createDeliveryReads(table),
    ledger: createLedgerReads(table),
    usage: createUsageReads(table),
    people: createPeopleStore(table),
  };
}

export function openPortalRead(on: PortalPlatform & CatalogPlatform) {
  const catalogs = catalogsOf(on);
  const base = {
    serviceCapacity: Number(on.environment('SERVICE_CAPACITY')),
    /** Where programs that know nothing of this service find it: …/openai/v1 and …/mcp. */
    clientUrls: { openai: on.environment('OPENAI_URL'), mcp: on.environment('MCP_URL') },
  };
  return openPortalWith(on, (store) => ({ ...base, catalogs: catalogs(store), ...readStores(store) }));
}
