import { readOperatorCatalog } from '../catalog/operator-catalog-store.ts';
import type { OperatorCatalog, ReadOperatorCatalog } from '../catalog/operator-catalog.ts';
import type { ProviderDefinition } from '../catalog/provider-definition.ts';
import { tableOf } from '../platform/common.ts';
import type { On, Platform } from '../platform/platform.ts';
import { keep, type Kept } from '../values/kept.ts';
import type { Clock } from '../values/runtime.ts';
import type { ImageProvider, Providers } from './provider.ts';

/** The operator's catalog, kept for a few seconds by functions that reach providers. */
const keptMillis = 10_000;

/** Reads at most every ten seconds, and again when a provider is absent. */
export function keepForSeconds(read: ReadOperatorCatalog, clock: Pick<Clock, 'now'>): KeptOperatorCatalog {
  return keep(keptMillis, read, clock);
}

type KeptOperatorCatalog = Kept<OperatorCatalog | undefined>;

/** The configured providers by name. An adapter is kept as long as its definition stays the same. */
export function configuredProviders(
  { find }: Pick<KeptOperatorCatalog, 'find'>,
  create: (definition: ProviderDefinition) => ImageProvider,
): { readonly get: (name: string) => Promise<ImageProvider | undefined> } {
  const created = new Map<string, { readonly made: string; readonly provider: ImageProvider }>();
  return {
    get: async (name) => {
      const definition = await find((stored) => stored?.providers.find((one) => one.name === name));
      if (!definition) return undefined;
      const made = JSON.stringify(definition);
      const known = created.get(name);
      if (known?.made === made) return known.provider;
      const provider = create(definition);
      created.set(name, { made, provider });
      return provider;
    },
  };
}

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
