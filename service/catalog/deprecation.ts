import { apiRoot } from '../contract/operations.ts';
import type { Catalog, Model } from './catalog-schema.ts';

/**
 * The headers that announce the end of a model: Deprecation (RFC 9745), Sunset
 * (RFC 8594) and a link to the other models. Empty for a model that stays.
 */
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
