import type { Command } from 'commander';
import type { Catalog, Model, Route } from '../../core/catalog.ts';
import { costOf, type ProviderCosts } from '../../core/provider-costs.ts';
import type { Resolution } from '../../core/image-formats.ts';
import { asMicros, fromUsd, toUsd } from '../../core/money.ts';
import { readCatalog, readProviderCosts } from '../catalog/catalog-files.ts';
import type { Admin } from '../admin.ts';
import { OperatorError } from '../operator-error.ts';
import type { Row } from '../../terminal/output.ts';

/** Vendors change prices once or twice a year, and announce the end of a model half a year before. */
const staleAfterDays = 180;
const dayMillis = 86_400_000;

export function addCatalogCommands(program: Command, admin: Admin): void {
  const command = program
    .command('catalog')
    .description('what is sold, by whom it is rendered, and what remains');
  command
    .command('check')
    .description(
      'the margin of every route, and how old its figures are; exit code 1 on a loss or a figure that is too old',
    )
    .option('--max-age <days>', 'older is stale', String(staleAfterDays))
    .action(
      admin.print(({ output, fail }, { maxAge }: { maxAge: string }) => {
        const mostDays = Number(maxAge);
        if (!/^\d+$/.test(maxAge))
          throw new OperatorError(
            `--max-age: ${JSON.stringify(maxAge)} is no whole number of days, such as 180.`,
          );
        const rows = checkCatalog(readCatalog(), readProviderCosts(), Date.now(), mostDays);
        output.list(rows, 'The catalog is empty.');
        if (rows.some(({ finding }) => finding !== null)) fail();
      }),
    );
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
  if (!price || !image || !cost)
    return { ...named, finding: price ? 'its cost is not known' : 'it has no price' };
  const margin = fromUsd(price.usd) - fromUsd(image.usd);
  const isLoss = margin < 0 || price.usd_per_input_image < image.usd_per_input_image;
  const days = Math.floor((age.nowMillis - Date.parse(cost.checked_at)) / dayMillis);
  return {
    ...named,
    price_usd: price.usd,
    cost_usd: image.usd,
    margin_usd: toUsd(asMicros(margin)),
    margin_percent: price.usd === 0 ? null : Math.round((100 * margin) / fromUsd(price.usd)),
    checked_at: cost.checked_at,
    finding: isLoss ? 'sold at a loss' : days > age.mostDays ? `stale: read ${days} days ago` : null,
  };
}
