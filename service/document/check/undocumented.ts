/** What an answer of the API has that docs/openapi.json does not say, or lacks that it promises. */
import { apiRoot } from '../../contract/operations.ts';
import { type Header, openApiFile, operationAt, pointerOf, wrongBy } from './refused-by-document.ts';

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** In any case. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  /** Empty for an answer to HEAD. */
  readonly text: string;
}

/** The form of failed authentications that the deployment is set to (service/contract/operations.ts). */
type Form = 'envelope' | 'plain';

/** Headers of HTTP and of the gateway, which the document does not name. */
const transport: ReadonlySet<string> = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'apigw-requestid',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
]);

const shownCharacters = 1_500;

/** Every way in which the answer differs from the document. Empty when it is as documented. */
export function undocumented(exchange: Exchange, form: Form = 'envelope'): string[] {
  const { method, status, text } = exchange;
  const place = responseOf(exchange);
  const name = `${method} ${exchange.path}: ${status}`;
  if (place === undefined) return [`${name} is no documented status: ${text}`];
  const body = parsed(text);
  const findings = [
    ...headerFindings(place.headers, exchange, body),
    ...(text === '' && (method === 'HEAD' || status === 204)
      ? []
      : bodyFindings(place.schema, body, { status, form })),
  ];
  return findings.map((finding) => `${name}: ${finding}: ${text.slice(0, shownCharacters)}`);
}

interface Place {
  readonly headers: Readonly<Record<string, Header>>;
  readonly schema: string;
}

function responseOf({ method, path, status }: Exchange): Place | undefined {
  const known = operationAt(method, path);
  if (!known && status === 404) return componentAt('UnknownRoute');
  // The other refusals of an unknown path are those of every operation.
  const found = known ?? (status >= 400 ? operationAt('GET', `${apiRoot}/models`) : undefined);
  const response = found?.operation.responses[String(status)];
  if (!found || !response) return undefined;
  if ('$ref' in response) return componentAt(lastStep(response.$ref));
  return placeOf(response.headers, [...found.at, 'responses', String(status)]);
}

function componentAt(name: string): Place | undefined {
  const component = openApiFile.components.responses[name];
  return component && placeOf(component.headers, ['components', 'responses', name]);
}

function placeOf(
  headers: Readonly<Record<string, Header | { readonly $ref: string }>>,
  at: readonly string[],
): Place {
  const resolved = Object.entries(headers).flatMap(([name, header]): [string, Header][] => {
    const found = '$ref' in header ? openApiFile.components.headers[lastStep(header.$ref)] : header;
    return found ? [[name.toLowerCase(), found]] : [];
  });
  return {
    headers: Object.fromEntries(resolved),
    schema: pointerOf(...at, 'content', 'application/json', 'schema'),
  };
}

function lastStep(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

function headerFindings(
  documented: Place['headers'],
  { status, headers }: Exchange,
  body: unknown,
): string[] {
  const given = new Map([...headers].map(([name, value]) => [name.toLowerCase(), value]));
  // API Gateway's own answers have neither of these two.
  const isPaced =
    (status === 429 || status === 503) && !JSON.stringify([body]).includes('"no_provider_enabled"');
  const ofService = isOfGateway(body) ? [] : ['x-request-id', ...(isPaced ? ['retry-after'] : [])];
  const missing = Object.entries(documented).filter(
    ([name, { required }]) => (required || ofService.includes(name)) && !given.has(name),
  );
  return [
    ...missing.map(([name]) => `the header ${name} is missing`),
    ...[...given].flatMap(([name, value]) => {
      if (transport.has(name)) return [];
      const header = documented[name];
      if (!header) return [`the header ${name} is not documented`];
      return fits(header, value) ? [] : [`the header ${name} is not as documented (${value})`];
    }),
  ];
}

/** The few keywords that the headers of the document use. */
function fits({ schema }: Header, value: string): boolean {
  const { type, pattern, minimum, const: only } = schema;
  if (type === 'integer' && !/^\d+$/.test(value)) return false;
  if (type === 'number' && !/^\d+(\.\d+)?$/.test(value)) return false;
  if (typeof minimum === 'number' && Number(value) < minimum) return false;
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value)) return false;
  return only === undefined || only === value;
}

function bodyFindings(
  schema: string,
  body: unknown,
  { status, form }: { readonly status: number; readonly form: Form },
): string[] {
  if (body === undefined) return ['the body is not JSON'];
  if (form === 'plain' && (status === 401 || status === 403))
    return isPlain(body) ? [] : ['not the plain form'];
  return wrongBy(schema, body);
}

function isPlain(body: unknown): boolean {
  return onlyMember(body, 'detail');
}

function isOfGateway(body: unknown): boolean {
  return onlyMember(body, 'message');
}

/** Whether the body is an object with this one member, a text. */
function onlyMember(body: unknown, name: string): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const [[member, value] = [], ...others] = Object.entries(body);
  return member === name && typeof value === 'string' && others.length === 0;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a delivery (a webhook or a notice) has that docs/openapi.json does not say, or lacks. */
export interface SentDelivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers of HTTP, which the document does not name. */
const transportOfDelivery: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

/** Every way in which the delivery differs from the document. Empty when it is as documented. */
export function undocumentedDelivery({ headers, body }: SentDelivery): string[] {
  const kind = headers['x-webhook-event'] ?? headers['x-darkroom-notice'] ?? '';
  const documented = openApiFile.webhooks[kind]?.post.parameters;
  if (!documented) return [`the delivery ${JSON.stringify(kind)} is not documented`];
  const at = ['webhooks', kind, 'post'];
  const wrongHeaders = documented.flatMap(({ name, required }, index) => {
    const value = headers[name.toLowerCase()];
    if (value === undefined) return required ? [`the header ${name} is missing`] : [];
    return wrongBy(pointerOf(...at, 'parameters', String(index), 'schema'), value).map(
      (finding) => `the header ${name}: ${finding}`,
    );
  });
  const known = new Set(documented.map(({ name }) => name.toLowerCase()));
  const unknown = Object.keys(headers).filter((name) => !transportOfDelivery.has(name) && !known.has(name));
  return [
    ...wrongHeaders,
    ...unknown.map((name) => `the header ${name} is not documented`),
    ...wrongBy(pointerOf(...at, 'requestBody', 'content', 'application/json', 'schema'), JSON.parse(body)),
  ].map((finding) => `${kind}: ${finding}: ${body}`);
}
