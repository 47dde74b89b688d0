/**
 * The operator's catalog for functions that reach providers. They do not read the service item, so they keep what
 * they read for a few seconds. A removed provider is used for at most that long.
 */
import type { OperatorCatalog, ReadOperatorCatalog } from '../catalog/operator-catalog.ts';
import type { ProviderDefinition } from '../catalog/provider-definition.ts';
import { keep, type Kept } from '../values/kept.ts';
import type { Clock } from '../values/runtime.ts';
import type { ImageProvider } from './provider.ts';

const keptMillis = 10_000;

/** Reads at most every ten seconds, and again when a provider is absent. */
export function keepForSeconds(read: ReadOperatorCatalog, clock: Pick<Clock, 'now'>): KeptOperatorCatalog {
  return keep(keptMillis, read, clock);
}

export type KeptOperatorCatalog = Kept<OperatorCatalog | undefined>;

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
