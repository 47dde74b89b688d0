/**
 * Openers of the API's operations that read: each set holds what its operations need, so that a bundle stays
 * small.
 */
import { createCreationReader, createCreationReads } from '../../adapters/dynamodb/creation-reads.ts';
import { readOperatorCatalogInBatch } from '../../adapters/dynamodb/operator-catalog.ts';
import { createRequestStore } from '../../adapters/dynamodb/request-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { createUploadReader } from '../../adapters/dynamodb/upload-store.ts';
import type { AuthFailureForm } from '../../core/contract.ts';
import { requestMillis } from '../../core/limits.ts';
import {
  soldCatalogs,
  type AfterCatalog,
  type CatalogMemory,
  type SoldCatalogs,
} from '../../core/sold-catalog.ts';
import { startBudget } from '../../core/time-budget.ts';
import { commonOf, tableOf } from './common.ts';
import { outboundRules, sandboxSetting } from './environment.ts';
import type { OpenServices, ServicesOf } from './open.ts';
import type { On } from './platform.ts';

type ApiPlatform = On<'dynamodb'>;
export type CatalogPlatform = On<'dynamodb' | 'catalog'>;

export type ApiServices = ServicesOf<typeof openApi>;
export type ListServices = ServicesOf<typeof openList>;
/** For operations on models. */
export type CatalogServices = AfterCatalog<ServicesOf<typeof openCatalog>>;
/** For operations that take a generation request. */
export type QuoteServices = AfterCatalog<ServicesOf<typeof openQuote>>;

/** @param millis the time of a request: every wait of its services ends with it */
export function openApi(on: ApiPlatform, millis = requestMillis) {
  const table = tableOf(on);
  const sandbox = sandboxSetting(on.environment);
  const authFailureForm: AuthFailureForm =
    on.environment('AUTH_FAILURE_FORM') === 'plain' ? 'plain' : 'envelope';
  const base = {
    ...commonOf(on, 'api'),
    resultsBaseUrl: on.environment('RESULTS_BASE_URL'),
    authFailureForm,
  };
  return () => {
    const budget = startBudget(on.clock, millis);
    const store = { ...table, signal: budget.signal };
    return {
      ...base,
      schema: on.schema(),
      budget,
      requests: createRequestStore(store, sandbox),
      creations: createCreationReader(store),
    };
  };
}

/**
 * The services of the API, and more of an operation.
 * @param more opens them over the table within the time of the request
 */
export function openApiWith<More>(
  on: ApiPlatform,
  more: (store: Table, api: ApiServices) => More,
  millis?: number,
): OpenServices<ApiServices & More> {
  const table = tableOf(on);
  const open = openApi(on, millis);
  return () => {
    const api = open();
    return { ...api, ...more({ ...table, signal: api.budget.signal }, api) };
  };
}

/** For the operation that lists creations. */
export function openList(on: ApiPlatform) {
  return openApiWith(on, (store) => ({ creations: createCreationReads(store) }));
}

/** Opens the catalog for a request, over a memory that the function keeps. */
export function catalogsOf(on: CatalogPlatform): (store: Table) => SoldCatalogs {
  const memory = on.remembered<CatalogMemory>('catalog', () => ({ ours: on.catalog }));
  return (store) => soldCatalogs(memory(), () => readOperatorCatalogInBatch(store));
}

export function openCatalog(on: CatalogPlatform) {
  const catalogs = catalogsOf(on);
  return openApiWith(on, (store) => ({ catalogs: catalogs(store) }));
}

export function openQuote(on: CatalogPlatform) {
  const catalogs = catalogsOf(on);
  const rules = outboundRules(on.environment);
  return openApiWith(on, (store) => ({
    catalogs: catalogs(store),
    outboundRules: rules,
    uploads: createUploadReader(store),
  }));
}
