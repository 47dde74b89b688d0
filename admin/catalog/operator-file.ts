/**
 * Checks a file of the operator's own models and prices. The file is merged over our catalog first, so that an
 * operator's model is held to the same rules as ours.
 */
import type * as z from 'zod';
import { type Catalog, catalogSchemaOf, ownCostsSchemaOf } from '../../service/catalog/catalog-schema.ts';
import {
  type ModelPatch,
  type OperatorCatalog,
  patchedModels,
} from '../../service/catalog/operator-catalog.ts';
import { FileProblems, OperatorError, whatIsRight } from '../operator-error.ts';
import { modelProblems } from './model-problems.ts';

/** The parts of the operator's catalog that the file holds. */
export type OperatorFile = Pick<OperatorCatalog, 'models' | 'costs'>;

/** Throws OperatorError with one sentence for each wrong field. */
export function checkOperatorFile(
  text: string,
  ours: Catalog,
  providerNames: readonly string[],
): OperatorFile {
  const file = partsOf(parse(text));
  const named = Object.entries(file.models).flatMap(([id, patch]) => withdrawalProblem(id, patch, ours));
  const merged = patchedModels(ours, file.models);
  const problems = [
    ...named,
    ...mergedProblems(merged, file, ours, providerNames),
    ...costProblems(file.costs, providerNames),
  ];
  if (problems.length > 0) throw new FileProblems(problems);
  return file;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The file is not JSON (${why}).`, {}, { cause: error });
  }
}

/** The members of the file, whose values are not checked yet. */
function partsOf(input: unknown): OperatorFile {
  if (!isObject(input))
    throw new OperatorError('The file must be an object in { } with models, costs or both.');
  const { models = {}, costs = [], ...others } = input;
  const problems = [
    ...Object.keys(others).map((name) => `${name}: is no member of the file; it has models and costs.`),
    ...(isObject(models) ? [] : ['models: must be an object in { }, with the ids of models.']),
    ...(Array.isArray(costs) ? [] : ['costs: must be a list in [ ].']),
    ...Object.entries(isObject(models) ? models : {}).flatMap(([id, patch]) =>
      patch === null || isObject(patch)
        ? []
        : [`models.${id}: must be an object in { }, or null to withdraw the model.`],
    ),
  ];
  if (problems.length > 0) throw new FileProblems(problems);
  return { models: models as Record<string, ModelPatch>, costs: costs as OperatorFile['costs'] };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withdrawalProblem(id: string, patch: ModelPatch, { models }: Catalog): string[] {
  if (patch === null)
    return models.some((model) => model.id === id)
      ? []
      : [`models.${id}: there is no model of this name to withdraw.`];
  return Object.hasOwn(patch, 'id')
    ? [`models.${id}.id: leave the member out; the name of the member of models is the id.`]
    : [];
}

function mergedProblems(
  merged: readonly Readonly<Record<string, unknown>>[],
  file: OperatorFile,
  ours: Catalog,
  providerNames: readonly string[],
): string[] {
  const parsed = catalogSchemaOf(providerNames).safeParse({ models: merged });
  const isOfFile = (id: unknown): boolean => typeof id === 'string' && Object.hasOwn(file.models, id);
  if (parsed.success)
    return parsed.data.models
      .filter(({ id }) => isOfFile(id))
      .flatMap((model) =>
        modelProblems(model).map(({ path, text }) => `models.${model.id}.${path}: ${text}.`),
      );
  const { issues } = parsed.error;
  const hasWrongId = (index: PropertyKey): boolean =>
    issues.some(({ path: [, other, member] }) => other === index && member === 'id');
  return issues.flatMap((issue) => {
    const [, index, ...path] = issue.path;
    if (typeof index !== 'number') return [`models: ${issue.message}.`];
    const id = String(merged[index]?.['id']);
    if (path.length === 1 && path[0] === 'id')
      return [`models: ${JSON.stringify(id)} cannot be the id of a model: ${whatIsRight(issue)}.`];
    if (hasWrongId(index)) return [];
    const lines = problemsOf(issue, ['models', id, ...path], merged[index], path, providerNames);
    const isMissing = path.length === 1 && memberOf(merged[index], path[0] ?? '') === undefined;
    return isMissing && !ours.models.some((model) => model.id === id)
      ? lines.map((line) => `${line} A model that is not one of ours must be whole.`)
      : lines;
  });
}

function costProblems(costs: unknown, providerNames: readonly string[]): string[] {
  const parsed = ownCostsSchemaOf(providerNames).safeParse(costs);
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) =>
    problemsOf(issue, ['costs', ...issue.path], costs, issue.path, providerNames),
  );
}

/**
 * Such as: models.my-flux.routes[0].provider: there is no provider "gpuu"; known are gpu, openai.
 * @param within the path from which the path of the issue is counted
 */
function problemsOf(
  issue: z.core.$ZodIssue,
  shown: readonly PropertyKey[],
  within: unknown,
  path: readonly PropertyKey[],
  providerNames: readonly string[],
): string[] {
  const place = pathText(shown);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(
      (key) => `${place}.${key}: is no field of the catalog; remove it or correct its name.`,
    );
  const value = path.reduce((part: unknown, step) => memberOf(part, step), within);
  if (path.at(-1) === 'provider' && issue.code === 'invalid_value' && typeof value === 'string')
    return [
      `${place}: there is no provider ${JSON.stringify(value)}; known are ${providerNames.join(', ')}.`,
    ];
  const is = value === undefined ? 'is missing' : `is ${shortText(value)}`;
  return [`${place}: ${whatIsRight(issue)}; it ${is}.`];
}

/** models.my-flux.routes[0].provider */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

function memberOf(value: unknown, name: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<PropertyKey, unknown>>)[name];
}

function shortText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
