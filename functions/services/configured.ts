import { readOperatorCatalog } from '../../adapters/dynamodb/operator-catalog.ts';
import {
  configuredProviders,
  keepForSeconds,
  type KeptOperatorCatalog,
} from '../../core/configured-providers.ts';
import type { Providers } from '../../core/provider.ts';
import { tableOf } from './common.ts';
import type { On, Platform } from './platform.ts';

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
