/** What a valid body costs and who renders it: the model, the model's routes for this account, the price. */
import type { ApiKey } from '../accounts/account.ts';
import { allowsModel } from '../accounts/caps.ts';
import type { Caller } from '../api/admit.ts';
import type { CatalogServices } from '../api/open.ts';
import {
  maxCostExceeded,
  modelNotFound,
  noProviderEnabled,
  noRoute,
  noRouteTakes,
  ratioNotOfSource,
  userMissing,
  webhookRefused,
} from '../api/problems.ts';
import { usableModels } from '../api/usable-models.ts';
import type { Catalog, Model, Route } from '../catalog/catalog-schema.ts';
import {
  enabledRoutes,
  findModel,
  isSunset,
  isVisible,
  modelOfTier,
  priceOf,
  routesFor,
  routesTaking,
  type SourceShape,
} from '../catalog/catalog.ts';
import { deprecationHeaders } from '../catalog/sold-catalog.ts';
import { directiveProblems } from '../catalog/sandbox.ts';
import { tierIn } from '../contract/request-fields.ts';
import { isOfRatio, nearestRatios } from '../creations/aspect-ratio.ts';
import { forModel, type ImageRequest, type ImageRequestBody } from '../creations/image-request.ts';
import { asMicros, type Micros, toUsd } from '../values/money.ts';
import { invalidRequest, type Problem, withHeaders } from '../values/problem.ts';
import { characters } from '../values/text.ts';
import type { SubmitServices } from './open.ts';

export interface Plan {
  readonly request: ImageRequest;
  readonly routes: readonly Route[];
  /** Those of the model for the account, whatever the request asks for. */
  readonly enabled: readonly Route[];
  /** Of one creation. */
  readonly costMicros: Micros;
}

/** What all creations of the request cost. */
export function costOfAll({ request, costMicros }: Pick<Plan, 'request' | 'costMicros'>): Micros {
  return asMicros(costMicros * request.count);
}

/** The plan for a body. Throws 404, 400 or 503 (docs/api.md), with the deprecation headers. */
export function planCreation(
  body: ImageRequestBody,
  caller: Caller,
  { catalog }: Pick<CatalogServices, 'catalog'>,
): Plan {
  checkUser(caller.apiKey, body.user);
  const named = findModel(catalog, caller.account.policy, body.model);
  if (!named || !allowsModel(caller.apiKey, named.id)) throw modelNotFound(body.model);
  const model = inQuality(named, body, caller, catalog);
  if (isSunset(model, caller.nowMillis)) throw concerning(model, modelNotFound(model.id));
  const routes = enabledRoutes(model, caller.account.policy, caller.state);
  const request = forModel(body, model, routes, () =>
    usableModels(catalog, caller).map((one) => ({
      id: one.id,
      routes: enabledRoutes(one, caller.account.policy, caller.state),
    })),
  );
  if (!('model' in request)) throw concerning(model, invalidRequest(request));
  const problems = directiveProblems(request.prompt, routes, caller.account);
  if (problems.length > 0) throw concerning(model, invalidRequest(problems));
  if (routes.length === 0) {
    // The providers of the account render the model that was named, only not in this quality.
    if (enabledRoutes(named, caller.account.policy, caller.state).length > 0)
      throw concerning(model, noRoute(request));
    throw concerning(model, noProviderEnabled(model.id, usableModels(catalog, caller)));
  }
  return planOver(request, routes);
}

/** The model in the quality that the request names: itself, or the one that the caller may use for it. */
function inQuality(
  named: Model,
  { quality }: Pick<ImageRequestBody, 'quality'>,
  { account, apiKey, nowMillis }: Caller,
  { models }: Catalog,
): Model {
  const tier = tierIn({ quality });
  if (tier === undefined) return named;
  const usable = models.filter(
    (one) => isVisible(one, account.policy) && allowsModel(apiKey, one.id) && !isSunset(one, nowMillis),
  );
  return modelOfTier(named, tier, { models: usable }) ?? named;
}

/** Throws 400 when the key needs to know the user and the request names none. */
export function checkUser(apiKey: ApiKey, user: string | undefined): void {
  if (apiKey.perUserMonthlyCapMicros !== undefined && user === undefined) throw userMissing();
}

function planOver(request: ImageRequest, enabled: readonly Route[]): Plan {
  const { model, resolution, imageUrls } = request;
  const routes = rendering(request, enabled);
  const costMicros = priceOf(model, resolution, imageUrls.length);
  if (routes.length === 0 || costMicros === undefined) throw concerning(model, noRoute(request));
  const { maxCostUsd } = request;
  const all = costOfAll({ request, costMicros });
  if (maxCostUsd !== undefined && toUsd(all) > maxCostUsd)
    throw concerning(model, maxCostExceeded(all, maxCostUsd));
  return { request, routes, enabled, costMicros };
}

/** The routes that render the request. */
function rendering(request: ImageRequest, enabled: readonly Route[]): readonly Route[] {
  return routesFor(enabled, {
    ...request,
    promptLength: characters(request.prompt ?? ''),
    negativePromptLength: characters(request.negativePrompt ?? ''),
    tier: tierIn(request),
    isTransparent: request.background === 'transparent',
    hasMask: request.maskUrl !== undefined,
    imageCount: request.imageUrls.length,
  });
}

/**
 * The plan in the ratio of the masked source image, since only such a picture can keep what the mask
 * protects. The price does not depend on the ratio. A request without a ratio gets the nearest. Throws 400
 * when no ratio is near enough.
 */
export function inRatioOfMasked(plan: Plan, source: SourceShape | undefined): Plan {
  const { request, enabled } = plan;
  if (request.maskUrl === undefined || !source) return plan;
  if (request.isRatioNamed && isOfRatio(source, request.aspectRatio)) return plan;
  const [right] = nearestRatios(source).flatMap((aspectRatio) => {
    const changed = { ...request, aspectRatio };
    const routes = isOfRatio(source, aspectRatio) ? rendering(changed, enabled) : [];
    return routes.length > 0 ? [{ ...plan, request: changed, routes }] : [];
  });
  if (right && !request.isRatioNamed) return right;
  throw concerning(request.model, ratioNotOfSource(source, right?.request.aspectRatio));
}

function concerning(model: Model, problem: Problem): Problem {
  return withHeaders(problem, deprecationHeaders(model));
}

/** The plan with the routes that take every source image. Throws 400 for the first that none takes. */
export function narrowToSources(plan: Plan, sources: readonly SourceShape[]): Plan {
  const { model } = plan.request;
  let { routes } = plan;
  for (const [index, source] of sources.entries()) {
    routes = routesTaking(routes, source);
    if (routes.length === 0) throw concerning(model, noRouteTakes(model.id, source, index));
  }
  return { ...plan, routes };
}

/** The address of the webhook must lead to a public host, at the submission and again at every attempt. */
export async function checkWebhook(
  { request }: Plan,
  { outbound, budget }: Pick<SubmitServices, 'outbound' | 'budget'>,
): Promise<void> {
  if (request.webhookUrl === undefined) return;
  const verdict = await outbound.check(request.webhookUrl, budget.signal);
  if (verdict.kind === 'refused') throw webhookRefused(verdict.why);
}
