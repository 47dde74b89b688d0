/** The catalog that sets the prices. A function keeps it in memory until the service item names another revision. */
import { apiRoot } from '../contract/operations.ts';
import { Overloaded } from '../values/errors.ts';
import type { Catalog, Model } from './catalog-schema.ts';
import {
  isOlderRevision,
  mergeCatalog,
  type ReadOperatorCatalog,
  type SoldCatalog,
} from './operator-catalog.ts';

/** How long a creation's GET may show a model as it was before. */
const latelyMillis = 60_000;

export interface CatalogMemory {
  readonly ours: Catalog;
  kept?: SoldCatalog;
  readAtMillis?: number;
}

export type SoldCatalogs = ReturnType<typeof soldCatalogs>;

/** What an operation over the catalog is opened with: the catalog follows once the caller's state is read. */
export type BeforeCatalog<Services> = Omit<Services, 'catalog'> & { readonly catalogs: SoldCatalogs };

export type AfterCatalog<Services> = Omit<Services, 'catalogs'> & { readonly catalog: SoldCatalog };

export function soldCatalogs(memory: CatalogMemory, read: ReadOperatorCatalog) {
  const latest = async (): Promise<SoldCatalog> => {
    const stored = await read();
    if (!stored) {
      delete memory.kept;
      return memory.ours;
    }
    if (stored.revision !== memory.kept?.revision) memory.kept = mergeCatalog(memory.ours, stored);
    return memory.kept;
  };
  return {
    /** The catalog of this revision or a later one. Undefined: ours alone. Throws Overloaded. */
    at: async (revision: string | undefined): Promise<SoldCatalog> => {
      if (revision === undefined) return memory.ours;
      if (memory.kept?.revision === revision) return memory.kept;
      const found = await latest();
      if (found.revision === undefined || isOlderRevision(found.revision, revision))
        throw new Overloaded("the operator's catalog is older than its revision in the service item");
      return found;
    },
    /** The catalog as it is now, for functions that do not read the service item. */
    latest,
    /** The catalog as it was at most a minute ago. When it cannot be read, the last one that was known. */
    lately: async (nowMillis: number): Promise<SoldCatalog> => {
      const known = memory.kept ?? memory.ours;
      if (memory.readAtMillis !== undefined && nowMillis < memory.readAtMillis + latelyMillis) return known;
      memory.readAtMillis = nowMillis;
      return latest().catch(() => known);
    },
  };
}

/** The catalog for a request. For a GET of a creation, that of the last minute is good enough. */
export async function catalogFor(
  {
    creation,
    catalogRevision,
  }: { readonly creation?: object | undefined; readonly catalogRevision?: string | undefined },
  nowMillis: number,
  catalogs: SoldCatalogs,
): Promise<SoldCatalog> {
  return creation ? catalogs.lately(nowMillis) : catalogs.at(catalogRevision);
}

/** The headers Deprecation (RFC 9745), Sunset (RFC 8594) and Link. Empty for a model that stays. */
export function deprecationHeaders(
  model: Pick<Model, 'deprecated_at' | 'sunset_at'>,
): Record<string, string> {
  const { deprecated_at: deprecated, sunset_at: sunset } = model;
  if (deprecated === null) return {};
  return {
    deprecation: `@${Date.parse(deprecated) / 1000}`,
    ...(sunset !== null && { sunset: new Date(sunset).toUTCString() }),
    link: `<${apiRoot}/models>; rel="deprecation"`,
  };
}

/** The same headers for the model of a creation. Empty when the catalog no longer has the model. */
export function deprecationHeadersOf(catalog: Catalog, modelId: string): Record<string, string> {
  const model = catalog.models.find(({ id }) => id === modelId);
  return model ? deprecationHeaders(model) : {};
}
