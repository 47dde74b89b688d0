/** The operator's additions and changes, as differences that a new release keeps (decision 10). */
import { Overloaded } from '../values/errors.ts';
import type { Catalog, Model, ProviderCost, ProviderCosts } from './catalog-schema.ts';
import type { ProviderDefinition } from './provider-definition.ts';

/** Changes of a model, a JSON Merge Patch (RFC 7396). Null withdraws it; a new model is given whole. */
export type ModelPatch = Readonly<Record<string, unknown>> | null;

export interface OperatorCatalog {
  /** Names what is stored. A stored change makes a new revision. */
  readonly revision: string;
  readonly providers: readonly ProviderDefinition[];
  readonly models: Readonly<Record<string, ModelPatch>>;
  /** Added to our own costs. A cost for the same route replaces ours. */
  readonly costs: readonly ProviderCost[];
}

export interface SoldCatalog extends Catalog {
  /** Of the operator's catalog. Absent: the service has none. */
  readonly revision?: string;
}

const neededMembers = [
  'name',
  'description',
  'max_prompt_length',
  'max_image_urls',
  'default_resolution',
  'default_aspect_ratio',
  'default_output_format',
  'pricing',
  'routes',
] as const satisfies readonly (keyof Model)[];

/** A merge patch removes what it sets to null. A model without these dates stays. */
const unended = { deprecated_at: null, sunset_at: null } as const satisfies Partial<Model>;

/** Every model after the merge, whole or not: ours in our order, then the operator's own. */
export function patchedModels(
  { models }: Catalog,
  patches: OperatorCatalog['models'],
): readonly Readonly<Record<string, unknown>>[] {
  const ours = models.flatMap((model): Readonly<Record<string, unknown>>[] => {
    if (!Object.hasOwn(patches, model.id)) return [model];
    const patch = patches[model.id];
    return patch ? [{ ...unended, ...mergePatch(model, patch), id: model.id }] : [];
  });
  const isOurs = (id: string): boolean => models.some((model) => model.id === id);
  const own = Object.entries(patches).flatMap(([id, patch]) =>
    patch === null || isOurs(id) ? [] : [{ ...unended, ...mergePatch({}, patch), id }],
  );
  return [...ours, ...own];
}

/** Our catalog with the operator's changes, without models that a release has removed. */
export function mergeCatalog(
  ours: Catalog,
  stored: Omit<OperatorCatalog, 'costs' | 'providers'>,
): SoldCatalog {
  const models = patchedModels(ours, stored.models).filter(isWhole);
  return { models, revision: stored.revision };
}

/** Whether the model has every member that is needed. The command has checked the values before it stored them. */
export function isWhole(model: Readonly<Record<string, unknown>>): model is Model {
  return neededMembers.every((name) => model[name] !== undefined);
}

export function mergeCosts(ours: ProviderCosts, own: readonly ProviderCost[]): ProviderCosts {
  const isReplaced = (cost: ProviderCost): boolean =>
    own.some(
      (one) =>
        one.provider === cost.provider &&
        one.provider_model === cost.provider_model &&
        one.quality === cost.quality,
    );
  return { costs: [...ours.costs.filter((cost) => !isReplaced(cost)), ...own] };
}

/** RFC 7396: members of objects are merged, null removes a member, and every other value replaces the whole. */
function mergePatch(target: object, patch: object): Readonly<Record<string, unknown>> {
  const merged = new Map<string, unknown>(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else {
      const before = merged.get(name);
      merged.set(name, isObject(value) ? mergePatch(isObject(before) ? before : {}, value) : value);
    }
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Which of two revisions is the later one: each begins with its number. */
export function isOlderRevision(revision: string, than: string): boolean {
  return numberOf(revision) < numberOf(than);
}

/** The next revision. Its random suffix distinguishes equal numbers, as after a restore from a backup. */
export function nextRevision(revision: string | undefined, random: string): string {
  return `${(revision === undefined ? 0 : numberOf(revision)) + 1}-${random}`;
}

function numberOf(revision: string): number {
  return Number.parseInt(revision, 10);
}

// The operator's catalog as it is stored.

/** Undefined: nothing was ever stored. Throws Overloaded, or NewerCatalog. */
export type ReadOperatorCatalog = () => Promise<OperatorCatalog | undefined>;

/** A newer release stored the operator's catalog in a form unknown here. Requests are refused as busy. */
export class NewerCatalog extends Overloaded {}
