/** The catalog of this checkout, and how a test takes a model or a route out of it. */
import type { ModelPolicy } from '../../service/accounts/account.ts';
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
