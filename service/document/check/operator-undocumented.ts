/** What an answer of the operator API has that docs/operator-openapi.json does not say, or lacks that it promises. */
import { readFileSync } from 'node:fs';
import formats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as z from 'zod';
import { operatorRoot } from '../../contract/operator-operations.ts';
import { closed, pointerOf } from './refused-by-document.ts';
import { operatorDocumentPath } from '../document-path.ts';

const reference = z.object({ $ref: z.string() });
const problem = z.object({
  error: z.object({
    details: z.object({ errors: z.array(z.object({ field: z.string(), code: z.string() })) }),
  }),
});
const header = z.object({ required: z.boolean(), schema: z.object({ pattern: z.string().optional() }) });
const response = z.object({ headers: z.record(z.string(), reference) });
const documentSchema = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        parameters: z.array(z.object({ in: z.string(), name: z.string() })).default([]),
        requestBody: z.unknown().optional(),
        responses: z.record(z.string(), z.union([reference, response])),
      }),
    ),
  ),
  components: z.object({ headers: z.record(z.string(), header), responses: z.record(z.string(), response) }),
});

const source: unknown = JSON.parse(
  readFileSync(new URL(`../../../${operatorDocumentPath}`, import.meta.url), 'utf8'),
  (_name, value: unknown) => closed(value),
);
const file = documentSchema.parse(source);
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
formats.default(ajv);
ajv.addSchema(source as object, 'operator.json');

function wrongBy(pointer: string, value: unknown): string[] {
  const check = ajv.getSchema(`operator.json#${pointer}`);
  if (!check) throw new Error(`the document has nothing at ${pointer}`);
  if (check(value) === true) return [];
  return (check.errors ?? []).map(
    ({ instancePath, message = '', params }) => `body${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/** Headers of HTTP and of the gateway, which the document does not name. */
const transport = /^(apigw-requestid|cache-control|connection|content-|date|keep-alive|transfer-)/;

export interface Exchange {
  readonly method: string;
  /** Relative to the root of the API, with its query. */
  readonly path: string;
  readonly sent: object | undefined;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Whether a form that a document can state was wrong, and not a value that only this service knows. */
function isOfForm(body: unknown): boolean {
  const errors = problem.safeParse(body).data?.error.details.errors ?? [];
  return errors.some(
    ({ field, code }) => field !== 'expires_at' && /^(too_|required|invalid_type)/.test(code),
  );
}

/** Every way in which the exchange differs from the document. */
export function undocumented({ method, path, sent, status, headers, body }: Exchange): string[] {
  const [bare = '', query = ''] = path.split('?');
  const found = Object.entries(file.paths).find(
    ([pattern, item]) => item[method.toLowerCase()] && matches(pattern, bare),
  );
  const [pattern, item] = found ?? ['/accounts', file.paths['/accounts']];
  const operation = item?.[(found ? method : 'GET').toLowerCase()];
  const documented = operation?.responses[String(status)];
  const named = `${method} ${operatorRoot}${path}: ${status}`;
  if (!operation || !documented) return [`${named} is no documented status: ${JSON.stringify(body)}`];
  const at = ['paths', pattern, (found ? method : 'GET').toLowerCase()];
  const [place, shown] =
    '$ref' in documented
      ? [['components', 'responses', lastStep(documented.$ref)], componentOf(documented.$ref)]
      : [[...at, 'responses', String(status)], documented];
  const known = Object.entries(shown.headers).map(([name, { $ref }]) => {
    const one = file.components.headers[lastStep($ref)];
    if (!one) throw new Error(`the document has no header ${$ref}`);
    return [name.toLowerCase(), one] as const;
  });
  const names = new Set<string>(known.map(([name]) => name));
  const wrongBody =
    operation.requestBody === undefined
      ? []
      : wrongBy(pointerOf(...at, 'requestBody', 'content', 'application/json', 'schema'), sent);
  const parameters = operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  return [
    ...known.flatMap(([name, { required }]) =>
      required && !headers.has(name) ? [`the header ${name} is missing`] : [],
    ),
    ...known.flatMap(([name, { schema }]) => {
      const value = headers.get(name);
      const isWrong =
        value !== null && schema.pattern !== undefined && !new RegExp(schema.pattern).test(value);
      return isWrong ? [`the header ${name} is not as documented (${value})`] : [];
    }),
    ...[...headers.keys()].flatMap((name) =>
      transport.test(name) || names.has(name) ? [] : [`the header ${name} is not documented`],
    ),
    ...wrongBy(pointerOf(...place, 'content', 'application/json', 'schema'), body),
    ...(status < 300
      ? [...new URLSearchParams(query).keys()].flatMap((name) =>
          parameters.includes(name) ? [] : [`the parameter ${name} is not documented`],
        )
      : []),
    ...(status < 300 ? wrongBody.map((why) => `the document refuses what the API accepts: ${why}`) : []),
    ...(status === 400 && operation.requestBody !== undefined && wrongBody.length === 0 && isOfForm(body)
      ? [`the document accepts what the API refuses: ${JSON.stringify([sent, body])}`]
      : []),
  ].map((finding) => `${named}: ${finding}`);
}

function componentOf(ref: string): z.infer<typeof response> {
  const component = file.components.responses[lastStep(ref)];
  if (!component) throw new Error(`the document has no response ${ref}`);
  return component;
}

function lastStep(ref: string): string {
  return ref.split('/').at(-1) ?? '';
}

function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  return (
    wanted.length === given.length &&
    wanted.every((step, index) => step === given[index] || (step.startsWith('{') && given[index] !== ''))
  );
}
