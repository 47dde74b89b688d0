/** Why docs/openapi.json refuses a request. It must refuse nothing that the API accepts. */
import { readFileSync } from 'node:fs';
import formats from 'ajv-formats';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import * as z from 'zod';
import { apiRoot } from '../../contract/operations.ts';
import { documentPath } from '../document-path.ts';

// The schemas of docs/openapi.json as checks. They are stricter than the document: an object has no member
// that the document does not have. The document itself leaves answers open, because v1 may add fields.

const header = z.object({ required: z.boolean().default(false), schema: z.record(z.string(), z.unknown()) });
const reference = z.object({ $ref: z.string() });
const response = z.object({
  headers: z.record(z.string(), z.union([reference, header])).default({}),
});
const parameter = z.object({
  in: z.string(),
  name: z.string(),
  required: z.boolean().default(false),
  schema: z.record(z.string(), z.unknown()),
});
const operation = z.object({
  parameters: z.array(parameter).default([]),
  requestBody: z.unknown().optional(),
  responses: z.record(z.string(), z.union([reference, response])),
});
const webhook = z.object({ post: z.object({ parameters: z.array(parameter) }) });
const openApi = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.record(z.string(), webhook),
  components: z.object({
    headers: z.record(z.string(), header),
    responses: z.record(z.string(), response),
  }),
});

export type Header = z.infer<typeof header>;
type Parameter = z.infer<typeof parameter>;
type Operation = z.infer<typeof operation>;

const source: unknown = JSON.parse(
  readFileSync(new URL(`../../../${documentPath}`, import.meta.url), 'utf8'),
  (_name, value: unknown) => closed(value),
);
export const openApiFile = openApi.parse(source);

/** An object schema that names its members takes no others. ajv knows discriminators without a mapping only. */
export function closed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('mapping' in value && 'propertyName' in value) return { propertyName: value.propertyName };
  const isOpenObject =
    'type' in value && value.type === 'object' && 'properties' in value && !('additionalProperties' in value);
  return isOpenObject ? { ...value, additionalProperties: false } : value;
}

const ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: true, validateSchema: false });
formats.default(ajv);
ajv.addSchema(source as object, 'openapi.json');

/** Compiled once in a process, at the first use. */
const compiled = new Map<string, ValidateFunction>();

function check(pointer: string): ValidateFunction {
  const known = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi.json#${pointer}` });
  compiled.set(pointer, known);
  return known;
}

export function pointerOf(...steps: readonly string[]): string {
  return steps
    .map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');
}

/**
 * What is wrong with a value by the schema at this pointer. Of a union, the findings of its nearest member.
 */
export function wrongBy(pointer: string, value: unknown): string[] {
  const validate = check(pointer);
  if (validate(value)) return [];
  const members = membersAt(pointer);
  if (members === 0) return (validate.errors ?? []).map(words);
  const each = Array.from({ length: members }, (_, index) => wrongBy(`${pointer}/anyOf/${index}`, value));
  return each.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

/** How many members the union at this pointer has; 0 when no union stands there. */
function membersAt(pointer: string): number {
  let place: unknown = source;
  for (const step of pointer.split('/').slice(1)) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    place = typeof place === 'object' && place !== null ? Reflect.get(place, name) : undefined;
  }
  return typeof place === 'object' && place !== null && 'anyOf' in place && Array.isArray(place.anyOf)
    ? place.anyOf.length
    : 0;
}

function words({ instancePath, message = '', params }: ErrorObject): string {
  const named = 'additionalProperty' in params ? ` (${String(params['additionalProperty'])})` : '';
  const allowed = 'allowedValue' in params ? ` (${String(params['allowedValue'])})` : '';
  return `body${instancePath} ${message}${named}${allowed}`;
}

interface OperationAt {
  readonly operation: Operation;
  readonly at: readonly string[];
  readonly path: ReadonlyMap<string, string>;
  readonly query: ReadonlyMap<string, string>;
}

/** Undefined when no operation takes it. @param path with the API's root, and perhaps a query */
export function operationAt(method: string, path: string): OperationAt | undefined {
  const [bare = '', query = ''] = path.split('?');
  for (const [pattern, item] of Object.entries(openApiFile.paths)) {
    const operation = item[method.toLowerCase()];
    const values = operation && pathValues(`${apiRoot}${pattern}`, bare);
    if (values)
      return {
        operation,
        at: ['paths', pattern, method.toLowerCase()],
        path: values,
        query: new Map(new URLSearchParams(query)),
      };
  }
  return undefined;
}

function pathValues(pattern: string, path: string): ReadonlyMap<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const values = new Map<string, string>();
  for (const [index, step] of wanted.entries()) {
    const value = given[index] ?? '';
    if (step.startsWith('{') && value !== '') values.set(step.slice(1, -1), value);
    else if (step !== value) return undefined;
  }
  return values;
}

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it is sent; undefined for a request without one. */
  readonly text: string | undefined;
}

export function refusedByDocument({ method, path, headers, text }: SentRequest): string[] {
  const found = operationAt(method, path);
  if (!found) return [`${method} ${path} is no documented operation`];
  const { operation, at } = found;
  const known = operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const unknown = [...found.query.keys()].filter((name) => !known.includes(name));
  const wrong = operation.parameters.flatMap((parameter, index) => {
    const value = valueOf(parameter, found, headers);
    if (value === undefined) return parameter.required ? [`${parameter.name} is missing`] : [];
    const isNumber = parameter.schema['type'] === 'integer';
    const pointer = pointerOf(...at, 'parameters', String(index), 'schema');
    return wrongBy(pointer, isNumber ? Number(value) : value).map((why) => `${parameter.name}: ${why}`);
  });
  const body = operation.requestBody
    ? wrongBy(
        pointerOf(...at, 'requestBody', 'content', 'application/json', 'schema'),
        JSON.parse(text ?? ''),
      )
    : [];
  return [...unknown.map((name) => `the parameter ${name} is not documented`), ...wrong, ...body].map(
    (finding) => `${method} ${path}: the document refuses what the API accepts: ${finding}`,
  );
}

function valueOf(
  { in: place, name }: Parameter,
  { path, query }: OperationAt,
  headers: SentRequest['headers'],
): string | undefined {
  if (place === 'path') return path.get(name);
  return place === 'query' ? query.get(name) : headers[name.toLowerCase()];
}
