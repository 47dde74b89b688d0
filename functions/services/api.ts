/**
 * Services of the API's operations that read: each set holds what its operations need, so that a bundle stays
 * small.
 */
import { createCreationReader, createCreationReads } from '../../adapters/dynamodb/creation-reads.ts';
import { createUploadReader } from '../../adapters/dynamodb/upload-store.ts';
import { readOperatorCatalogInBatch } from '../../adapters/dynamodb/operator-catalog.ts';
import { createRequestStore } from '../../adapters/dynamodb/request-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import models from '../../catalog/models.json' with { type: 'json' };
import type { Catalog } from '../../core/catalog.ts';
import type { SoldCatalog } from '../../core/operator-catalog.ts';
import { soldCatalogs, type BeforeCatalog, type SoldCatalogs } from '../../core/sold-catalog.ts';
import type { OutboundRules } from '../../core/client-url.ts';
import type { AuthFailureForm } from '../../core/contract.ts';
import { requestMillis } from '../../core/limits.ts';
import type { CreationReader, CreationReads } from '../../core/ports/creations.ts';
import type { UploadReader } from '../../core/ports/uploads.ts';
import type { RequestStore } from '../../core/ports/requests.ts';
import { startBudget, type TimeBudget } from '../../core/time-budget.ts';
import { commonServices, table, type CommonServices } from './clients.ts';
import { environment, sandboxSetting } from './environment.ts';
import type { OpenServices } from './open.ts';
import { outboundRules } from './outbound.ts';

export interface ApiServices extends CommonServices {
  /** The time of the request: every wait of these services ends with it. */
  readonly budget: TimeBudget;
  readonly requests: RequestStore;
  readonly creations: CreationReader;
  readonly resultsBaseUrl: string;
  readonly authFailureForm: AuthFailureForm;
}

export function apiServices(): OpenServices<ApiServices> {
  return openApi(table());
}

/**
 * Over a table that the function uses for more than these services.
 * @param millis the time of a request
 */
export function openApi(shared: Table, millis = requestMillis): OpenServices<ApiServices> {
  const authFailureForm: AuthFailureForm =
    environment('AUTH_FAILURE_FORM') === 'plain' ? 'plain' : 'envelope';
  const sandbox = sandboxSetting();
  const base = {
    ...commonServices('api'),
    resultsBaseUrl: environment('RESULTS_BASE_URL'),
    authFailureForm,
  };
  return () => {
    const budget = startBudget(systemClock, millis);
    const store = { ...shared, signal: budget.signal };
    return {
      ...base,
      budget,
      requests: createRequestStore(store, sandbox),
      creations: createCreationReader(store),
    };
  };
}

/** For the operation that lists creations. */
export interface ListServices extends ApiServices {
  readonly creations: CreationReads;
}

export function listServices(): OpenServices<ListServices> {
  const shared = table();
  const open = openApi(shared);
  return () => {
    const api = open();
    return { ...api, creations: createCreationReads({ ...shared, signal: api.budget.signal }) };
  };
}

/** For operations on models. */
export interface CatalogServices extends ApiServices {
  readonly catalog: SoldCatalog;
}

// A test and the synthesis check the file against the schema of the catalog.
export const ours = models as Catalog;

/** Opens the catalog for a request, over a memory that the function keeps. */
export function openCatalogs(): (shared: Table) => SoldCatalogs {
  const memory = { ours };
  return (shared) => soldCatalogs(memory, () => readOperatorCatalogInBatch(shared));
}

export function catalogServices(): OpenServices<BeforeCatalog<CatalogServices>> {
  const shared = table();
  const open = openApi(shared);
  const catalogs = openCatalogs();
  return () => {
    const api = open();
    return { ...api, catalogs: catalogs({ ...shared, signal: api.budget.signal }) };
  };
}

/** For operations that take a generation request. */
export interface QuoteServices extends CatalogServices {
  /** Which addresses of clients this deployment allows. */
  readonly outboundRules: OutboundRules;
  readonly uploads: UploadReader;
}

export function quoteServices(): OpenServices<BeforeCatalog<QuoteServices>> {
  const shared = table();
  const open = openApi(shared);
  const catalogs = openCatalogs();
  const rules = outboundRules();
  return () => {
    const api = open();
    const store = { ...shared, signal: api.budget.signal };
    return { ...api, catalogs: catalogs(store), outboundRules: rules, uploads: createUploadReader(store) };
  };
}
