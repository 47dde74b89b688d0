/** Our catalog with what the operator has added to it, for the commands. */
import { randomBytes } from 'node:crypto';
import type { ProviderCosts } from '../../service/catalog/catalog-schema.ts';
import { bytesOf, mostCatalogBytes } from '../../service/catalog/operator-catalog-store.ts';
import {
  isWhole,
  mergeCatalog,
  mergeCosts,
  nextRevision,
  type OperatorCatalog,
  patchedModels,
  type SoldCatalog,
} from '../../service/catalog/operator-catalog.ts';
import { providers } from '../../service/catalog/providers.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import { readCatalog, readProviderCosts } from './catalog-files.ts';

type Services = Pick<OperatorServices, 'operatorCatalog'>;

export interface MergedCatalog {
  /** Undefined: the service never had an operator's catalog. */
  readonly stored: OperatorCatalog | undefined;
  readonly catalog: SoldCatalog;
  readonly costs: ProviderCosts;
  /** The ids of models that the functions leave out, because this release has no model for the change. */
  readonly leftOut: readonly string[];
}

export async function readMerged({ operatorCatalog }: Services): Promise<MergedCatalog> {
  return mergedWith(await operatorCatalog.read());
}

export function mergedWith(stored: OperatorCatalog | undefined): MergedCatalog {
  const [ours, costs] = [readCatalog(), readProviderCosts()];
  if (!stored) return { stored, catalog: ours, costs, leftOut: [] };
  return {
    stored,
    catalog: mergeCatalog(ours, stored),
    costs: mergeCosts(costs, stored.costs),
    leftOut: patchedModels(ours, stored.models)
      .filter((model) => !isWhole(model))
      .map(({ id }) => String(id)),
  };
}

/** The names that routes may have: first those that are built in. */
export function providerNames(stored: OperatorCatalog | undefined): string[] {
  return [...Object.keys(providers), ...(stored?.providers ?? []).map(({ name }) => name)];
}

const nothing = { providers: [], models: {}, costs: [] } as const;

/**
 * Stores the parts instead of those that were read.
 * @throws OperatorError when the whole is too large, or when another person has changed it meanwhile
 */
export async function storeParts(
  stored: OperatorCatalog | undefined,
  parts: Partial<Omit<OperatorCatalog, 'revision'>>,
  { operatorCatalog }: Services,
): Promise<OperatorCatalog> {
  const { revision: before, ...kept } = stored ?? { ...nothing, revision: undefined };
  const next = { ...kept, ...parts };
  const bytes = bytesOf(next);
  if (bytes > mostCatalogBytes)
    throw new OperatorError(
      `The operator's catalog would have ${bytes} bytes, and one item of the table holds ${mostCatalogBytes}: leave something out, such as the members of our models that you do not change.`,
    );
  const revision = nextRevision(before, randomBytes(6).toString('hex'));
  const catalog = { ...next, revision };
  if (await operatorCatalog.store(catalog, before)) return catalog;
  throw new OperatorError(
    "Somebody else has changed the operator's catalog at the same time: look at it with `catalog show` and `providers list`, and try again.",
  );
}

/** The ids themselves. Throws OperatorError when one of them is in no row of the catalog. */
export function knownModels({ models }: SoldCatalog, ids: readonly string[] = []): readonly string[] {
  const unknown = ids.find((id) => !models.some((model) => model.id === id));
  if (unknown !== undefined) throw new OperatorError(`There is no model ${unknown} in the catalog.`);
  return ids;
}
