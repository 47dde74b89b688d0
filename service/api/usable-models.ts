import { allowsModel } from '../accounts/caps.ts';
import type { Catalog, Model } from '../catalog/catalog-schema.ts';
import { enabledRoutes, isSunset, isVisible } from '../catalog/catalog.ts';
import type { Caller } from './admit.ts';

/** The models that the caller can use now, in the catalog's order. */
export function usableModels(
  { models }: Catalog,
  { account: { policy }, apiKey, state, nowMillis }: Caller,
): readonly Model[] {
  return models.filter(
    (model) =>
      isVisible(model, policy) &&
      allowsModel(apiKey, model.id) &&
      !isSunset(model, nowMillis) &&
      enabledRoutes(model, policy, state).length > 0,
  );
}
