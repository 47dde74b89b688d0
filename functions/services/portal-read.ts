import { createCreationReads } from '../../adapters/dynamodb/creation-reads.ts';
import { createPeopleStore } from '../../adapters/dynamodb/portal/people-store.ts';
import { createDeliveryReads } from '../../adapters/dynamodb/portal/delivery-log.ts';
import { createLedgerReads } from '../../adapters/dynamodb/portal/ledger-store.ts';
import { createPortalReads } from '../../adapters/dynamodb/portal/portal-reads.ts';
import { createUsageReads } from '../../adapters/dynamodb/portal/usage-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import type { CreationReads } from '../../core/ports/creations.ts';
import type { DeliveryReads } from '../../core/ports/delivery-reads.ts';
import type { LedgerReads } from '../../core/ports/ledger.ts';
import type { PeopleStore } from '../../core/ports/people.ts';
import type { PortalReads } from '../../core/ports/portal-reads.ts';
import type { UsageReads } from '../../core/ports/usage.ts';
import type { SoldCatalogs } from '../../core/sold-catalog.ts';
import { openCatalogs } from './api.ts';
import { table } from './clients.ts';
import { environment } from './environment.ts';
import type { OpenServices } from './open.ts';
import { openPortal, type PortalServices } from './portal.ts';

/** Where programs that know nothing of this service find it. */
export interface ClientUrls {
  /** The base URL of libraries for the OpenAI API: …/openai/v1. */
  readonly openai: string;
  /** Of the Model Context Protocol: …/mcp. */
  readonly mcp: string;
}

/** What the pages of the portal read. */
export interface ReadStores {
  readonly reads: PortalReads;
  readonly creations: CreationReads;
  readonly deliveries: DeliveryReads;
  readonly ledger: LedgerReads;
  readonly usage: UsageReads;
  readonly people: Pick<PeopleStore, 'listMembers' | 'listInvitations'>;
}

export interface ReadServices extends PortalServices, ReadStores {
  readonly catalogs: Pick<SoldCatalogs, 'at'>;
  readonly clientUrls: ClientUrls;
  /** How many creations may be open at once in the whole service. */
  readonly serviceCapacity: number;
}

export function readStores(table: Table): ReadStores {
  return {
    reads: createPortalReads(table),
    creations: createCreationReads(table),
    deliveries: createDeliveryReads(table),
    ledger: createLedgerReads(table),
    usage: createUsageReads(table),
    people: createPeopleStore(table),
  };
}

export function readServices(): OpenServices<ReadServices> {
  const shared = table();
  const open = openPortal(shared);
  const catalogs = openCatalogs();
  const serviceCapacity = Number(environment('SERVICE_CAPACITY'));
  const clientUrls = { openai: environment('OPENAI_URL'), mcp: environment('MCP_URL') };
  return () => {
    const portal = open();
    const store = { ...shared, signal: portal.budget.signal };
    return {
      ...portal,
      catalogs: catalogs(store),
      clientUrls,
      serviceCapacity,
      ...readStores(store),
    };
  };
}
