import type { Row } from '../../client/command/terminal/output.ts';
import type { Catalog, Model, ProviderCosts, Route } from '../../service/catalog/catalog-schema.ts';
import { isBuiltIn } from '../../service/catalog/providers.ts';
import { costOf } from '../../service/render/route-costs.ts';
import type { Resolution } from '../../service/contract/request-fields.ts';
import { asMicros, fromUsd, toUsd } from '../../service/values/money.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { leastPriceOf } from '../catalog/margin-rule.ts';
import { type MergedCatalog, mergedWith, providerNames, readMerged } from '../catalog/merged-catalog.ts';
import { OperatorError } from '../operator-error.ts';
import { addOperatorCatalogCommands } from './operator-catalog.ts';

/** Vendors release and withdraw models within weeks, and a new model often changes the price of an old one. */
const staleAfterDays = 60;
const dayMillis = 86_400_000;

export function addCatalogCommands(program: OperatorCommand): void {
  const command = program.task('catalog', 'what is sold, by whom it is rendered, and what remains');
  addOperatorCatalogCommands(command);
  command
    .task(
      'check',
      'the margin of every route, how old its figures are, and which models end; exit code 1 on a price below the margin rule or a figure that is too old',
    )
    .option('--max-age <days>', 'older is stale', String(staleAfterDays))
    .runAnyway(async ({ services, output, fail, tell }, { maxAge }: { maxAge: string }) => {
      const mostDays = Number(maxAge);
      if (!/^\d+$/.test(maxAge))
        throw new OperatorError(
          `--max-age: ${JSON.stringify(maxAge)} is no whole number of days, such as 60.`,
        );
      if (!services) tell("No local service runs here, so this is Darkroom's own catalog alone.");
      const merged = services ? await readMerged(services) : mergedWith(undefined);
      const rows = checkMerged(merged, Date.now(), mostDays);
      output.list(rows, 'The catalog is empty.');
      if (rows.some(({ finding }) => finding !== null)) fail();
    });
}

/** The rows of the merged catalog, and one for each change of the operator that has no effect. */
function checkMerged(merged: MergedCatalog, nowMillis: number, mostDays: number): Row[] {
  const { catalog, costs, stored, leftOut } = merged;
  const known = providerNames(stored);
  const rows = checkCatalog(catalog, costs, nowMillis, mostDays);
  return [
    ...rows.map((row) =>
      known.includes(String(row['provider']))
        ? row
        : { ...row, finding: 'this provider was removed: `providers add` it, or change the route' },
    ),
    ...leftOut.map((model) => ({
      model,
      finding: 'not sold: this release has no such model, so the change must be a whole model or go',
    })),
  ];
}

/** One row for each price of each route. */
export function checkCatalog(
  catalog: Catalog,
  costs: ProviderCosts,
  nowMillis: number,
  mostDays: number,
): Row[] {
  const rowsOf = (model: Model, route: Route): Row[] =>
    route.resolutions.map((resolution) => priceRow(model, route, resolution, costs, { nowMillis, mostDays }));
  return catalog.models.flatMap((model) => model.routes.flatMap((route) => rowsOf(model, route)));
}

function priceRow(
  model: Model,
  route: Route,
  resolution: Resolution,
  costs: ProviderCosts,
  age: { nowMillis: number; mostDays: number },
): Row {
  const price = model.pricing.find((row) => row.resolution === resolution);
  const cost = costOf(costs, route);
  const image = cost?.images.find((row) => row.resolution === resolution);
  const named = { model: model.id, resolution, provider: route.provider };
  const notice = noticeOf(model, age.nowMillis);
  if (!price) return { ...named, finding: 'it has no price', notice };
  if (!image || !cost) {
    const unknown = 'its cost is not known';
    // Only the operator knows what an own GPU costs.
    return isBuiltIn(route.provider)
      ? { ...named, finding: unknown, notice }
      : { ...named, price_usd: price.usd, finding: null, notice: notice ?? unknown };
  }
  const margin = fromUsd(price.usd) - fromUsd(image.usd);
  const isLoss = margin < 0 || price.usd_per_input_image < image.usd_per_input_image;
  const days = Math.floor((age.nowMillis - Date.parse(cost.checked_at)) / dayMillis);
  const isStale = days > age.mostDays;
  return {
    ...named,
    price_usd: price.usd,
    cost_usd: image.usd,
    margin_usd: toUsd(asMicros(margin)),
    margin_percent: price.usd === 0 ? null : Math.round((100 * margin) / fromUsd(price.usd)),
    checked_at: cost.checked_at,
    finding: isLoss
      ? 'sold at a loss'
      : (belowTheRule(model, price, costs) ?? (isStale ? `stale: read ${days} days ago` : null)),
    notice,
  };
}

/** Says what the margin rule asks for. Undefined when both prices of the row keep the rule. */
function belowTheRule(
  model: Model,
  price: Model['pricing'][number],
  costs: ProviderCosts,
): string | undefined {
  const missing = (['usd', 'usd_per_input_image'] as const).flatMap((part) => {
    const least = leastPriceOf(model, costs, price.resolution, part);
    return least !== undefined && fromUsd(price[part]) < least ? [`${part} at least ${toUsd(least)}`] : [];
  });
  return missing.length === 0 ? undefined : `below the margin rule: ${missing.join(', ')}`;
}

/** What happens to the model and which model follows it. Null for a model that stays. It is no finding. */
function noticeOf(
  { deprecated_at: from, sunset_at: end, successor }: Model,
  nowMillis: number,
): string | null {
  if (from === null) return null;
  const next = successor === undefined ? 'no successor' : `successor ${successor}`;
  if (end === null) return `deprecated on ${from}, ${next}`;
  const days = Math.ceil((Date.parse(end) - nowMillis) / dayMillis);
  if (days <= 0) return `ended on ${end}, ${next}`;
  return `ends on ${end}, in ${days} ${days === 1 ? 'day' : 'days'}, ${next}`;
}
