/** The catalog, and catalogs of the tests' own that are made of one model of the sandbox. */
import type { CatalogServices } from '../../service/api/open.ts';
import { catalogSchema, type Model } from '../../service/catalog/catalog-schema.ts';
import models from '../../service/catalog/models.json' with { type: 'json' };

/** The catalog of the service. */
export const catalog = catalogSchema.parse(models);

/** A catalog of one model for each of the changes. */
export function catalogOf(...changes: Partial<Model>[]): Pick<CatalogServices, 'catalog'> {
  const model = catalog.models.find(({ id }) => id === 'sandbox-standard');
  if (!model) throw new Error('the catalog has no sandbox-standard');
  return { catalog: { models: changes.map((change) => ({ ...model, ...change })) } };
}

/** The only route of that model, changed. */
export function routeOf(change: Partial<Model['routes'][number]>): Model['routes'] {
  const [route] = catalogOf({}).catalog.models[0]?.routes ?? [];
  if (!route) throw new Error('sandbox-standard has no route');
  return [{ ...route, ...change }];
}
