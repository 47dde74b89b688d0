import { readOperatorCatalog } from '../catalog/operator-catalog-reads.ts';
import { tableOf } from '../platform/common.ts';
import type { On, Platform } from '../platform/platform.ts';
import { configuredProviders, keepForSeconds, type KeptOperatorCatalog } from './configured-providers.ts';
import type { Providers } from './provider.ts';

/** The operator's catalog as it was at most ten seconds ago. */
export function recentOperatorCatalog(on: On<'dynamodb'>): KeptOperatorCatalog {
  const table = tableOf(on);
  return keepForSeconds(() => readOperatorCatalog(table), on.clock);
}

/** The providers that are built in, then those that the operator has configured. */
export function withConfigured(
  { vendors, configured: create }: Pick<Platform, 'vendors' | 'configured'>,
  stored: KeptOperatorCatalog,
): Providers {
  const configured = configuredProviders(stored, create);
  return { get: async (name) => (await vendors.get(name)) ?? configured.get(name) };
}
