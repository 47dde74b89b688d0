import { readOperatorCatalog } from '../../adapters/dynamodb/operator-catalog.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { createCallingVendors } from '../../adapters/providers/calling-vendors.ts';
import { createConfigured } from '../../adapters/providers/configured.ts';
import type { VendorAccess } from '../../adapters/providers/vendors.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import {
  configuredProviders,
  keepForSeconds,
  type KeptOperatorCatalog,
} from '../../core/configured-providers.ts';
import type { Providers } from '../../core/provider.ts';
import { vendorAccess } from './vendor-access.ts';

/** The operator's catalog as it was at most ten seconds ago. */
export function recentOperatorCatalog(shared: Table): KeptOperatorCatalog {
  return keepForSeconds(() => readOperatorCatalog(shared), systemClock);
}

/** The providers that are built in, then those that the operator has configured. */
export function withConfigured(
  builtIn: Providers,
  stored: KeptOperatorCatalog,
  { credentials, clock }: VendorAccess,
): Providers {
  const configured = configuredProviders(stored, (definition) =>
    createConfigured(definition, { name: definition.name, credentials, clock }),
  );
  return { get: async (name) => (await builtIn.get(name)) ?? configured.get(name) };
}

/** The providers that may be able to stop a job: the vendors that call back, and those that are configured. */
export function stoppingProviders(shared: Table): Providers {
  const access = vendorAccess();
  const calling = new Map(createCallingVendors(access).map((vendor) => [vendor.name, vendor]));
  return withConfigured(calling, recentOperatorCatalog(shared), access);
}
