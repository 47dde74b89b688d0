/** Openers of the operations that read. Each set holds what its operations need: bundles stay small. */
import { createTopUpState } from '../accounts/top-up-state-reads.ts';
import { createUserTokens } from '../accounts/user-token-store.ts';
import type { Table } from '../aws/dynamodb/table.ts';
import { readOperatorCatalogInBatch } from '../catalog/operator-catalog-store.ts';
import {
  type AfterCatalog,
  type CatalogMemory,
  soldCatalogs,
  type SoldCatalogs,
} from '../catalog/sold-catalog.ts';
import { requestMillis } from '../contract/limits.ts';
import type { AuthFailureForm } from '../contract/operations.ts';
import { createChargeStore } from '../creations/charge-store.ts';
import { createCreationReader, createCreationReads } from '../creations/creation-reads.ts';
import { createCreationStore } from '../creations/creation-store.ts';
import { createEraseStore } from '../creations/erase-store.ts';
import {
  commonOf,
  type CommonServices,
  type OpenServices,
  resultsOf,
  type ServicesOf,
  tableOf,
  tasksOf,
} from '../platform/common.ts';
import { outboundRules, sandboxSetting } from '../platform/environment.ts';
import type { On, ResultsPlatform } from '../platform/platform.ts';
import { createUploadReader } from '../uploads/upload-store.ts';
import { startBudget } from '../values/time.ts';
import { recentOperatorCatalog, withConfigured } from '../vendors/open.ts';
import { openRefusals } from './refusal-store.ts';
import { createRequestLogReads } from './request-log-reads.ts';
import { createRequestStore } from './request-store.ts';

export type ApiPlatform = On<'dynamodb'> & ResultsPlatform;
export type CatalogPlatform = ApiPlatform & On<'catalog'>;

export type ApiServices = ServicesOf<typeof openApi>;
export type ListServices = Omit<RequestListServices, 'requestLog'>;
export type RequestListServices = ServicesOf<typeof openList>;
export type CatalogServices = AfterCatalog<ServicesOf<typeof openCatalog>>;
export type QuoteServices = AfterCatalog<ServicesOf<typeof openQuote>>;

/** @param millis the time of a request: every wait of its services ends with it */
export function openApi(on: ApiPlatform, millis = requestMillis) {
  const table = tableOf(on);
  const sandbox = sandboxSetting(on.environment);
  const authFailureForm: AuthFailureForm =
    on.environment('AUTH_FAILURE_FORM') === 'plain' ? 'plain' : 'envelope';
  const base = {
    ...commonOf(on, 'api'),
    results: resultsOf(on),
    authFailureForm,
  };
  const refusals = openRefusals(on, base);
  return () => {
    const budget = startBudget(on.clock, millis);
    const store = { ...table, signal: budget.signal };
    return {
      ...base,
      schema: on.schema(),
      budget,
      requests: createRequestStore(store, sandbox),
      refusals: refusals(),
      creations: createCreationReader(store),
    };
  };
}

/** The services of the API, and more. @param more opens them over the table of one request */
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

export type BalanceServices = ServicesOf<typeof openBalance>;

export function openBalance(on: ApiPlatform) {
  return openApiWith(on, (store) => ({ topUpState: createTopUpState(store) }));
}

export function openList(on: ApiPlatform) {
  return openApiWith(on, (store) => ({
    creations: createCreationReads(store),
    requestLog: createRequestLogReads(store),
  }));
}

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

export type UserTokenServices = ServicesOf<typeof openUserTokens>;

export function openUserTokens(on: ApiPlatform) {
  const rules = outboundRules(on.environment);
  return openApiWith(on, (store) => ({ userTokens: createUserTokens(store), outboundRules: rules }));
}

export type DeleteServices = ServicesOf<typeof openDelete>;

export function openDelete(on: ApiPlatform & On<'images'>) {
  return openApiWith(on, (store) => ({
    erasures: createEraseStore(store),
    images: on.images(store.signal),
  }));
}

/** The vendors are those that may be able to stop a job. */
export type CancelPlatform = ApiPlatform & On<'states' | 'vendors' | 'configured'>;
export type CancelApiServices = ServicesOf<typeof openCancel>;

export function cancelling(on: CancelPlatform) {
  const providers = withConfigured(on, recentOperatorCatalog(on));
  return (store: Table, { log }: Pick<CommonServices, 'log'>) => ({
    creations: createCreationStore(store),
    charges: createChargeStore(store),
    tasks: tasksOf(on, log, store.signal),
    providers,
  });
}

export function openCancel(on: CancelPlatform) {
  const cancel = cancelling(on);
  return openApiWith(on, (store, api) => cancel(store, api));
}
