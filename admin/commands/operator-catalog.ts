/** The operator's own models and prices: `catalog set`, `catalog show` and `catalog remove`. */
import { readFileSync, statSync } from 'node:fs';
import type { Row } from '../../client/command/terminal/output.ts';
import type { Catalog, Model } from '../../service/catalog/catalog-schema.ts';
import { mostCatalogBytes } from '../../service/catalog/operator-catalog-store.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { readCatalog } from '../catalog/catalog-files.ts';
import {
  type MergedCatalog,
  mergedWith,
  providerNames,
  readMerged,
  storeParts,
} from '../catalog/merged-catalog.ts';
import { checkOperatorFile, type OperatorFile } from '../catalog/operator-file.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';

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

/** A file may have spaces and line ends, which are not stored. */
const mostFileBytes = 2 * mostCatalogBytes;

export function addOperatorCatalogCommands(command: OperatorCommand): void {
  command
    .task(
      'set <file>',
      'your own models, prices and costs, in place of those that were set before; it prints what changes for clients',
    )
    .run(async ({ services, output }, file: string) => {
      const text = readText(file);
      const merged = await readMerged(services);
      const parts = checkOperatorFile(text, readCatalog(), providerNames(merged.stored));
      output.list(await change(merged, parts, services), 'Stored. Nothing changes for clients.');
    });
  command
    .task('show', 'the file as it was set, which `catalog set` takes again')
    .option('--merged', 'the catalog that is sold: ours with yours')
    .run(async ({ services, output }, { merged: isMerged }: { merged?: boolean }) => {
      const { stored, catalog, costs } = await readMerged(services);
      output.document(
        isMerged === true
          ? { models: catalog.models, costs: costs.costs }
          : { models: stored?.models ?? {}, costs: stored?.costs ?? [] },
      );
    });
  command
    .task('remove', "Darkroom's own models, prices and costs alone again; your providers stay")
    .run(async ({ services, output }) => {
      const merged = await readMerged(services);
      // Requests are refused while the item of their revision is gone, so an empty catalog replaces the item.
      const isNamed = (await services.operatorCatalog.revision()) !== undefined;
      const rows = isNamed ? await change(merged, { models: {}, costs: [] }, services) : [];
      output.list(rows, 'Nothing changes for clients.');
    });
}

/** Stores the parts, and returns what they change for clients. */
async function change(
  before: MergedCatalog,
  parts: OperatorFile,
  services: OperatorServices,
): Promise<Row[]> {
  const stored = await storeParts(before.stored, parts, services);
  return changesBetween(before.catalog, mergedWith(stored).catalog);
}

/** Throws OperatorError when the file cannot be read, or is larger than what can be stored. */
function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > mostFileBytes)
      throw new OperatorError(
        `${file} has ${size} bytes, and the operator's catalog can have ${mostCatalogBytes}: give only what differs from our models.`,
      );
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${file} cannot be read (${why}).`, {}, { cause: error });
  }
}
