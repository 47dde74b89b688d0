/** The catalog of this checkout, and how a test takes a model or a route out of it. */
import type { ModelPolicy } from '../../service/accounts/account.ts';
import type { CatalogServices } from '../../service/api/open.ts';
import { catalogSchema, type Model, type Route } from '../../service/catalog/catalog-schema.ts';
import { findModel } from '../../service/catalog/catalog.ts';
import models from '../../service/catalog/models.json' with { type: 'json' };

export const catalog = catalogSchema.parse(models);

/** The policy of an account that may use every provider and sees every model. */
export const everything: ModelPolicy = { providers: 'all', hiddenModels: [] };

export function model(id: string): Model {
  const found = findModel(catalog, everything, id);
  if (!found) throw new Error(`the catalog has no ${id}`);
  return found;
}

/** A route over the sandbox that renders 1K and 2K, to be changed by a test. */
export function anyRoute(): Route {
  const [route] = model('sandbox-pro').routes;
  if (!route) throw new Error('sandbox-pro has no route');
  return route;
}

// The catalog, and catalogs of the tests' own that are made of one model of the sandbox.

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
