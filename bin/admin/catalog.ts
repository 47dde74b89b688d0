import type { Command } from 'commander';
import type { Catalog, Model, Route } from '../../core/catalog.ts';
import { asMicros, fromUsd, toUsd } from '../../core/money.ts';
import models from '../../catalog/models.json' with { type: 'json' };
import type { Admin } from './admin.ts';
import { OperatorError } from './operator-error.ts';
import type { Row } from './output.ts';

/** Vendors change prices once or twice a year, and retire a model with half a year's notice. */
const staleAfterDays = 180;
const dayMillis = 86_400_000;

export function addCatalogCommands(program: Command, admin: Admin): void {
  const command = program.command('catalog').description('what is sold, by whom it is rendered, and what remains');
  command
    .command('check')
    .description('the margin of every route, and how old its figures are; exit code 1 on a loss or a figure that is too old')
    .option('--max-age <days>', 'older is stale', String(staleAfterDays))
    .action(admin.print(({ output, fail }, { maxAge }: { maxAge: string }) => {
      const mostDays = Number(maxAge);
      if (!/^\d+$/.test(maxAge)) throw new OperatorError(`--max-age: ${JSON.stringify(maxAge)} is no whole number of days, such as 180.`);
      const rows = checkCatalog(models as Catalog, Date.now(), mostDays);
      output.list(rows, 'The catalog is empty.');
      if (rows.some(({ finding }) => finding !== null)) fail();
    }));
}

/** A row for each price of each route; the cheaper route of a model has the larger margin. */
export function checkCatalog(catalog: Catalog, nowMillis: number, mostDays: number): Row[] {
  return catalog.models.flatMap((model) => model.routes.flatMap((route) => routeRows(model, route, nowMillis, mostDays)));
}

function routeRows(model: Model, route: Route, nowMillis: number, mostDays: number): Row[] {
  const days = Math.floor((nowMillis - Date.parse(route.checked_at)) / dayMillis);
  return route.provider_cost.flatMap((cost) => {
    const price = model.pricing.find(({ resolution }) => resolution === cost.resolution);
    if (!price) return [];
    const margin = fromUsd(price.usd) - fromUsd(cost.usd);
    const imageMargin = fromUsd(price.usd_per_input_image) - fromUsd(cost.usd_per_input_image);
    return [{
      model: model.id,
      resolution: cost.resolution,
      provider: route.provider,
      price_usd: price.usd,
      cost_usd: cost.usd,
      margin_usd: toUsd(asMicros(margin)),
      margin_percent: price.usd === 0 ? null : Math.round((100 * margin) / fromUsd(price.usd)),
      checked_at: route.checked_at,
      finding: margin < 0 || imageMargin < 0 ? 'sold at a loss' : days > mostDays ? `stale: read ${days} days ago` : null,
    }];
  });
}
