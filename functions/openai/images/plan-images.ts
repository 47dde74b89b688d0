import { enabledRoutes, findModel } from '../../../core/catalog.ts';
import { asMicros, toUsd } from '../../../core/money.ts';
import { modelInQuality, sizedBody } from '../../../core/openai/plan-body.ts';
import { invalidRequest } from '../../../core/problem.ts';
import type { Caller } from '../../http/caller.ts';
import { maxCostExceeded } from '../../http/problems.ts';
import { planCreation, type Plan } from '../../operations/generate/plan.ts';
import type { CatalogServices } from '../../services/api.ts';
import type { OpenaiRequest } from './read-request.ts';

/**
 * The plan of each creation of the request: its model in the quality that the request names, at the resolution and
 * the ratio of its size. Throws as planCreation does. max_cost limits the price of all creations together.
 */
export function planImages(
  { asked, body }: Pick<OpenaiRequest, 'asked' | 'body'>,
  caller: Caller,
  { catalog }: Pick<CatalogServices, 'catalog'>,
): Plan {
  const { max_cost: maxCost, ...each } = body;
  const { policy } = caller.account;
  const named = findModel(catalog, policy, each.model);
  // planCreation says in its own words that there is no such model.
  if (!named) return planCreation(each, caller, { catalog });
  const model = modelInQuality(named, asked, catalog);
  if (!('id' in model)) throw invalidRequest([model]);
  const routes = enabledRoutes(model, policy, caller.state);
  const plan = planCreation(sizedBody({ ...each, model: model.id }, asked, model, routes), caller, {
    catalog,
  });
  const cost = asMicros(plan.costMicros * asked.count);
  if (maxCost !== undefined && toUsd(cost) > maxCost) throw maxCostExceeded(cost, maxCost);
  return plan;
}
