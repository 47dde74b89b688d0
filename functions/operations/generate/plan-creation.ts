/** From a valid body to what can be charged: the model, its routes for this account, the price. */
import {
  enabledRoutes,
  findModel,
  isSunset,
  routesFor,
  routesTaking,
  type Model,
  type Route,
  type SourceShape,
} from '../../../core/catalog.ts';
import { deprecationHeaders } from '../../../core/deprecation.ts';
import {
  characters,
  forModel,
  type ImageRequest,
  type ImageRequestBody,
} from '../../../core/image-request.ts';
import type { Micros } from '../../../core/money.ts';
import { priceOf } from '../../../core/pricing.ts';
import { invalidRequest, Problem, retryLater, withHeaders } from '../../../core/problem.ts';
import type { CatalogServices } from '../../services.ts';
import type { Caller } from '../../http/caller.ts';

export interface Plan {
  readonly request: ImageRequest;
  /** In the order in which they will be tried; at least one. */
  readonly routes: readonly Route[];
  readonly costMicros: Micros;
}

/** A minute: a provider that is switched off comes back by an operator's hand, not by itself. */
const noProviderRetrySeconds = 60;

/**
 * What would be rendered, by whom and for how much. Throws 404, 400 or 503 as POST
 * /images/generate tells them apart, with the headers of a model that goes away.
 */
export function planCreation(
  body: ImageRequestBody,
  caller: Caller,
  { catalog }: Pick<CatalogServices, 'catalog'>,
): Plan {
  const model = findModel(catalog, caller.account.policy, body.model);
  if (!model) throw modelNotFound(body.model);
  if (isSunset(model, caller.nowMillis)) throw concerning(model, modelNotFound(model.id));
  const routes = enabledRoutes(model, caller.account.policy, caller.state.enabledProviders);
  const request = forModel(body, model, routes);
  if (!('model' in request)) throw concerning(model, invalidRequest(request));
  return planOver(request, routes);
}

function planOver(request: ImageRequest, enabled: readonly Route[]): Plan {
  const { model, resolution, prompt, imageUrls } = request;
  if (enabled.length === 0) throw concerning(model, noProvider(model));
  const routes = routesFor(enabled, {
    ...request,
    promptLength: characters(prompt ?? ''),
    imageCount: imageUrls.length,
  });
  const costMicros = priceOf(model, resolution, imageUrls.length);
  if (routes.length === 0 || costMicros === undefined) throw concerning(model, noRoute(request));
  return { request, routes, costMicros };
}

/** A refusal over a model tells as well when that model goes away. */
function concerning(model: Model, problem: Problem): Problem {
  return withHeaders(problem, deprecationHeaders(model));
}

function modelNotFound(id: string): Problem {
  return new Problem(
    'ERR_MODEL_NOT_FOUND',
    `The model ${JSON.stringify(id)} is not available to this account.`,
  );
}

function noProvider({ id }: Model): Problem {
  const message = `No provider of ${id} is enabled for this account. Nothing was charged.`;
  return retryLater(
    'ERR_PROVIDER_UNAVAILABLE',
    message,
    { reason: 'no_provider_enabled' },
    noProviderRetrySeconds,
  );
}

/**
 * The plan over those routes whose provider takes every source image as it is. Throws
 * 400 for the first image that leaves none.
 */
export function narrowToSources(plan: Plan, sources: readonly SourceShape[]): Plan {
  let { routes } = plan;
  for (const [index, source] of sources.entries()) {
    routes = routesTaking(routes, source);
    if (routes.length === 0) throw concerning(plan.request.model, noRouteTakes(plan.request, source, index));
  }
  return { ...plan, routes };
}

function noRouteTakes(
  { model }: ImageRequest,
  { contentType, width, height, bytes }: SourceShape,
  index: number,
): Problem {
  const found = `this is ${contentType} of ${width} x ${height} pixels and ${(bytes / 1_000_000).toFixed(1)} MB`;
  const error = {
    field: `image_urls[${index}]`,
    code: 'not_taken',
    message: `no provider enabled for this account takes it for ${model.id}: ${found}`,
  };
  return new Problem('ERR_INVALID_REQUEST', `image_urls[${index}]: ${error.message}`, {
    reason: 'provider_policy_no_route',
    errors: [error],
  });
}

function noRoute({ model, resolution, aspectRatio, outputFormat, imageUrls }: ImageRequest): Problem {
  const asked = [
    resolution,
    aspectRatio,
    outputFormat,
    ...(imageUrls.length > 0 ? [`${imageUrls.length} source images`] : []),
  ];
  return new Problem(
    'ERR_INVALID_REQUEST',
    `No provider enabled for this account renders ${model.id} at ${asked.join(', ')}. GET /models lists what is possible.`,
    { reason: 'provider_policy_no_route', errors: [] },
  );
}
