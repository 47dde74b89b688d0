/** What a new catalog changes for clients, for the operator who stores it. */
import type { Row } from '../../client/command/terminal/output.ts';
import type { Catalog, Model } from '../../service/catalog/catalog-schema.ts';

/** One row for each model that differs. */
export function changesBetween(before: Catalog, after: Catalog): Row[] {
  const ids = new Set([...before.models, ...after.models].map(({ id }) => id));
  const modelIn = ({ models }: Catalog, id: string): Model | undefined =>
    models.find((model) => model.id === id);
  return [...ids].flatMap((id) => {
    const [old, next] = [modelIn(before, id), modelIn(after, id)];
    if (JSON.stringify(old) === JSON.stringify(next)) return [];
    const change = !old ? 'added' : !next ? 'withdrawn' : 'changed';
    return [{ model: id, change, prices: pricesBetween(old, next), members: membersBetween(old, next) }];
  });
}

/** Such as "1K 0.04 -> 0.05". */
function pricesBetween(old: Model | undefined, next: Model | undefined): string[] {
  const pricesOf = (model: Model | undefined): ReadonlyMap<string, string> =>
    new Map((model?.pricing ?? []).map((row) => [row.resolution, priceText(row)]));
  const [from, to] = [pricesOf(old), pricesOf(next)];
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((resolution) => {
    const [was, is] = [from.get(resolution), to.get(resolution)];
    if (was === is) return [];
    if (was === undefined) return [`${resolution} ${is ?? ''}`];
    return [`${resolution} ${was} -> ${is ?? 'not sold'}`];
  });
}

function priceText({ usd, usd_per_input_image: each }: Model['pricing'][number]): string {
  return each === 0 ? String(usd) : `${usd} + ${each} an image`;
}

/** The names of the members that differ, for a model that was there before and still is. */
function membersBetween(old: Model | undefined, next: Model | undefined): string[] {
  if (!old || !next) return [];
  const names = new Set([...Object.keys(old), ...Object.keys(next)]) as ReadonlySet<keyof Model>;
  return [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(next[name]));
}
