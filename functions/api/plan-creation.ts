/** From a valid body to what can be charged: the model, its routes for this account, the price. */
import { enabledRoutes, findModel, routesFor, routesTaking, type Route, type SourceShape } from '../../core/catalog.ts';
import { characters, forModel, type ImageRequest, type ImageRequestBody } from '../../core/image-request.ts';
import type { Micros } from '../../core/money.ts';
import { priceOf } from '../../core/pricing.ts';
import { invalidRequest, Problem, retryLater } from '../../core/problem.ts';
import type { CatalogServices } from '../services.ts';
import type { Caller } from './authenticate.ts';

export interface Plan {
  readonly request: ImageRequest;
  /** In the order in which they will be tried; at least one. */
  readonly routes: readonly Route[];
  readonly costMicros: Micros;
}

/** A minute: a provider that is switched off comes back by an operator's hand, not by itself. */
const noProviderRetrySeconds = 60;

/** What would be rendered, by whom and for how much. Throws 404, 400 or 503 as POST /images/generate tells them apart. */
export function planCreation(body: ImageRequestBody, caller: Caller, { catalog }: Pick<CatalogServices, 'catalog'>): Plan {
  const { policy } = caller.account;
  const model = findModel(catalog, policy, body.model);
  if (!model) throw new Problem('ERR_MODEL_NOT_FOUND', `The model ${JSON.stringify(body.model)} is not available to this account.`);
  const request = forModel(body, model);
  if (!('model' in request)) throw invalidRequest(request);
  const enabled = enabledRoutes(model, policy, caller.state.enabledProviders);
  if (enabled.length === 0) {
    const message = `No provider of ${model.id} is enabled for this account. Nothing was charged.`;
    throw retryLater('ERR_PROVIDER_UNAVAILABLE', message, { reason: 'no_provider_enabled' }, noProviderRetrySeconds);
  }
  const routes = routesFor(enabled, { ...request, promptLength: characters(request.prompt ?? ''), imageCount: request.imageUrls.length });
  const costMicros = priceOf(model, request.resolution, request.imageUrls.length);
  if (routes.length === 0 || costMicros === undefined) throw noRoute(request);
  return { request, routes, costMicros };
}

/**
 * The plan over those routes whose provider takes every source image as it is. Throws
 * 400 for the first image that leaves none.
 */
export function narrowToSources(plan: Plan, sources: readonly SourceShape[]): Plan {
  let { routes } = plan;
  for (const [index, source] of sources.entries()) {
    routes = routesTaking(routes, source);
    if (routes.length === 0) throw noRouteTakes(plan.request, source, index);
  }
  return { ...plan, routes };
}

function noRouteTakes({ model }: ImageRequest, { contentType, width, height, bytes }: SourceShape, index: number): Problem {
  const found = `this is ${contentType} of ${width} x ${height} pixels and ${(bytes / 1_000_000).toFixed(1)} MB`;
  const error = { field: `image_urls[${index}]`, code: 'not_taken', message: `no provider enabled for this account takes it for ${model.id}: ${found}` };
  return new Problem('ERR_INVALID_REQUEST', `image_urls[${index}]: ${error.message}`, { reason: 'provider_policy_no_route', errors: [error] });
}

function noRoute({ model, resolution, aspectRatio, outputFormat, imageUrls }: ImageRequest): Problem {
  const asked = [resolution, aspectRatio, outputFormat, ...(imageUrls.length > 0 ? [`${imageUrls.length} source images`] : [])];
  return new Problem(
    'ERR_INVALID_REQUEST',
    `No provider enabled for this account renders ${model.id} at ${asked.join(', ')}. GET /models lists what is possible.`,
    { reason: 'provider_policy_no_route', errors: [] },
  );
}
