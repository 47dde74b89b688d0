import { createAccountStore } from '../accounts/account-store.ts';
import { createKeyStore } from '../accounts/key-store.ts';
import { createWalletStore } from '../accounts/wallet-store.ts';
import { type CatalogPlatform, catalogsOf } from '../api/open.ts';
import { createRequestStore } from '../api/request-store.ts';
import type { Route } from '../catalog/catalog-schema.ts';
import { readOperatorCatalogInBatch } from '../catalog/operator-catalog-store.ts';
import { mergeCatalog, mergeCosts } from '../catalog/operator-catalog.ts';
import { createProviderStore } from '../catalog/provider-store.ts';
import { type AccountLimits, requestMillis } from '../contract/limits.ts';
import { createNoticeMarks } from '../notices/notice-store.ts';
import { createActionLog } from '../operated/action-store.ts';
import { commonOf, type ServicesOf, tableOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import { costOf } from '../render/route-costs.ts';
import { createOperatedReads } from '../usage/all-accounts-reads.ts';
import { startBudget } from '../values/time.ts';
import { createAccountEdits } from './account-edit-store.ts';
import { createOperatorKeyStore } from '../operated/operator-key-store.ts';
import { createPaymentStore } from '../payments/payment-store.ts';

export type OperatorServices = ServicesOf<typeof openOperatorApi>;

export function openOperatorApi(on: CatalogPlatform & On<'outbound' | 'secretBox' | 'providerCosts'>) {
  const table = tableOf(on);
  const catalogs = catalogsOf(on);
  const base = {
    ...commonOf(on, 'operator'),
    outbound: on.outbound,
    secretBox: on.secretBox,
    /** The limits of an account that is opened without its own. A setting of the deployment. */
    defaultLimits: JSON.parse(on.environment('DEFAULT_LIMITS')) as AccountLimits,
    /** Whether the service signs addresses of results (signedMinutesBy). */
    resultAccess: on.environment('RESULTS'),
  };
  return () => {
    const budget = startBudget(on.clock, requestMillis);
    const store = { ...table, signal: budget.signal };
    return {
      ...base,
      budget,
      catalogs: catalogs(store),
      /** The catalog as it is now, with what the renderers note as the cost of a route's images. */
      costed: async () => {
        const stored = await readOperatorCatalogInBatch(store);
        const costs = mergeCosts(on.providerCosts, stored?.costs ?? []);
        return {
          models: (stored ? mergeCatalog(on.catalog, stored) : on.catalog).models,
          costsOf: (route: Route) => costOf(costs, route)?.images ?? null,
        };
      },
      requests: createRequestStore(store),
      operatorKeys: createOperatorKeyStore(store),
      accounts: createAccountStore(store),
      edits: createAccountEdits(store),
      keys: createKeyStore(store),
      wallet: createWalletStore(store),
      payments: createPaymentStore(store),
      operated: createOperatedReads(store),
      providers: createProviderStore(store),
      actions: createActionLog(store),
      // As after a command, the reconciler starts the notices at its next run.
      notices: createNoticeMarks(store),
    };
  };
}
