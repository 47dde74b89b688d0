/** Reads and checks the files of service/catalog/. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as z from 'zod';
import {
  type Catalog,
  catalogSchema,
  type ProviderCosts,
  providerCostsSchema,
} from '../../service/catalog/catalog-schema.ts';
import { OperatorError, whatIsRight } from '../operator-error.ts';

/** A file of service/catalog/ is wrong. The message has one sentence for each wrong field. */
export class CatalogError extends OperatorError {}

/**
 * The name of an entry in a message: a noun, and the members that distinguish the entry from the others of its list.
 */
const entryNames: Readonly<Record<string, { readonly noun: string; readonly members: readonly string[] }>> = {
  models: { noun: 'model', members: ['id'] },
  routes: { noun: 'route', members: ['provider', 'provider_model', 'quality'] },
  costs: { noun: 'cost of', members: ['provider', 'provider_model', 'quality'] },
};

const ownFolder = fileURLToPath(new URL('../../service/catalog', import.meta.url));

/** Reads and checks service/catalog/models.json. Throws CatalogError. */
export function readCatalog(folder = ownFolder): Catalog {
  return readChecked(folder, 'models.json', catalogSchema);
}

/** Reads and checks service/catalog/provider-costs.json. Throws CatalogError. */
export function readProviderCosts(folder = ownFolder): ProviderCosts {
  return readChecked(folder, 'provider-costs.json', providerCostsSchema);
}

function readChecked<Schema extends z.ZodType>(
  folder: string,
  name: string,
  schema: Schema,
): z.output<Schema> {
  const file = `service/catalog/${name}`;
  const input = parse(file, join(folder, name));
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.flatMap((issue) => sentencesOf(issue, input));
  throw new CatalogError(lines.map((line) => `${file}: ${line}`).join('\n'));
}

function parse(file: string, path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const problem = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new CatalogError(`${file}: ${problem} (${why}).`, {}, { cause: error });
  }
}

/** Such as: model gpt-image-1: sunset_at must be a date, such as 2027-05-21; it is "2027-05-21T00:00:00Z". */
function sentencesOf(issue: z.core.$ZodIssue, input: unknown): string[] {
  const { place, field, value } = locate(issue.path, input);
  const sentence = (name: string, text: string): string => `${place}${name} ${text}.`;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      sentence([...field, key].join('.'), 'is no field of the catalog; remove it or correct its name'),
    );
  }
  const is = value === undefined ? 'is missing' : `is ${JSON.stringify(value)}`;
  return [sentence(field.join('.') || 'the file', `${whatIsRight(issue)}; it ${is}`)];
}

interface Place {
  /** The entries that contain the field, such as "model gpt-image-1: route openai gpt-image-1 low: ". */
  readonly place: string;
  readonly field: readonly string[];
  readonly value: unknown;
}

function locate(path: readonly PropertyKey[], input: unknown): Place {
  let value = input;
  let place = '';
  let field: string[] = [];
  for (const step of path) {
    value = memberOf(value, step);
    const list = field.at(-1);
    const names =
      typeof step === 'number' && field.length === 1 && list !== undefined ? entryNames[list] : undefined;
    if (names === undefined) {
      field.push(String(step));
      continue;
    }
    place += `${names.noun} ${nameOf(value, names.members) ?? `number ${Number(step) + 1}`}: `;
    field = [];
  }
  return { place, field, value };
}

function memberOf(value: unknown, name: PropertyKey): unknown {
  const members: Readonly<Record<PropertyKey, unknown>> =
    typeof value === 'object' && value !== null ? { ...value } : {};
  return members[name];
}

/** Undefined when the entry has none of the members that could name it. */
function nameOf(entry: unknown, members: readonly string[]): string | undefined {
  const values = members
    .map((member) => memberOf(entry, member))
    .filter((value) => typeof value === 'string' && value !== '');
  return values.length === 0 ? undefined : values.join(' ');
}
