import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { localAccount } from '../aws/aws-call.ts';
import type { LocalRestApi } from '../template.ts';
import type { RestMatch, RouteMatch } from './router.ts';

/** A request that the gateway has received. */
export interface GatewayRequest {
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
  readonly match: RouteMatch;
  readonly requestId: string;
  /** Milliseconds since 1970, of the virtual clock. */
  readonly at: number;
  /** What a distribution in front of the gateway sent instead of the viewer's own request. */
  readonly forwarded?: Forwarded | undefined;
}

/** A request as a distribution forwards it. */
export interface Forwarded {
  /** Under lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sourceIp: string;
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The event in payload format 2.0 that an HTTP API makes of a request. */
export function gatewayEvent({
  incoming,
  body,
  match,
  requestId,
  at,
  forwarded,
}: GatewayRequest): APIGatewayProxyEventV2 {
  const { path, query } = targetOf(incoming);
  const { cookie, ...headers } = forwarded?.headers ?? joinedHeaders(incoming);
  const isText = readsAsText(incoming.headers['content-type'], body);
  return {
    version: '2.0',
    routeKey: match.route.routeKey,
    rawPath: path,
    rawQueryString: query,
    ...(cookie === undefined ? {} : { cookies: cookie.split(/; */) }),
    headers,
    ...(query === '' ? {} : { queryStringParameters: parametersOf(query) }),
    ...(Object.keys(match.pathParameters).length === 0 ? {} : { pathParameters: match.pathParameters }),
    requestContext: {
      accountId: localAccount,
      apiId: 'local',
      domainName: (headers['host'] ?? '').replace(/:\d+$/, ''),
      domainPrefix: 'local',
      http: {
        method: incoming.method ?? '',
        path,
        protocol: `HTTP/${incoming.httpVersion}`,
        // The address of the connection. A header is not used, because a client can write any address there.
        sourceIp: forwarded?.sourceIp ?? (incoming.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey: match.route.routeKey,
      stage: '$default',
      time: clfTime(at),
      timeEpoch: at,
    },
    ...(body.length === 0 ? {} : { body: isText ? body.toString('utf8') : body.toString('base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

/** The path and the query of a request, exactly as the client sent them. The query has no question mark. */
export function targetOf({ url = '/' }: IncomingMessage): { path: string; query: string } {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  return { path, query: mark < 0 ? '' : url.slice(mark + 1) };
}

/** The headers under lower-case names. When a header occurs twice, a comma joins its values. */
export function joinedHeaders(incoming: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(incoming.headersDistinct).map(([name, values = []]) => [
      name,
      values.join(name === 'cookie' ? '; ' : ','),
    ]),
  );
}

function parametersOf(query: string): Record<string, string> {
  // A map, because a client may choose a name that every object already has, such as __proto__.
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const before = parameters.get(name);
    parameters.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(parameters);
}

function readsAsText(contentType: string | undefined, body: Buffer): boolean {
  if (!/^(text\/|application\/(json|javascript|xml)\b)/i.test(contentType ?? '')) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body);
    return true;
  } catch {
    return false;
  }
}

/** The time as access logs write it: 12/Mar/2020:19:03:58 +0000. */
function clfTime(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${two(date.getUTCDate())}/${monthNames[date.getUTCMonth()] ?? ''}/${date.getUTCFullYear()}`;
  return `${day}:${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} +0000`;
}

/** A request that a REST API has received. */
export interface RestRequest {
  readonly api: Pick<LocalRestApi, 'id' | 'stage' | 'binaryTypes'>;
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
  /** The path without the stage. */
  readonly path: string;
  readonly match: RestMatch;
  /** Milliseconds since 1970, of the virtual clock. */
  readonly at: number;
  readonly requestId: string;
}

/** The event in payload format 1.0 that a REST API makes of a request. */
export function restEvent({
  api,
  incoming,
  body,
  path,
  match,
  at,
  requestId,
}: RestRequest): APIGatewayProxyEvent {
  const { query } = targetOf(incoming);
  const multiValueHeaders = headersOf(incoming);
  const parameters = groupedBy([...new URLSearchParams(query)]);
  const httpMethod = incoming.method ?? '';
  const isBinary = api.binaryTypes.includes(typeOf(incoming));
  return {
    resource: match.resource,
    path,
    httpMethod,
    headers: lastOfEach(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: query === '' ? null : lastOfEach(parameters),
    multiValueQueryStringParameters: query === '' ? null : parameters,
    pathParameters: Object.keys(match.pathParameters).length === 0 ? null : match.pathParameters,
    stageVariables: null,
    requestContext: {
      accountId: localAccount,
      apiId: api.id,
      authorizer: null,
      domainName: (incoming.headers.host ?? '').replace(/:\d+$/, ''),
      domainPrefix: 'local',
      extendedRequestId: randomUUID(),
      httpMethod,
      identity: {
        ...nobody,
        sourceIp: addressOf(incoming),
        userAgent: incoming.headers['user-agent'] ?? null,
      },
      path: `/${api.stage}${path === '/' ? '' : path}`,
      protocol: `HTTP/${incoming.httpVersion}`,
      requestId,
      requestTime: clfTime(at),
      requestTimeEpoch: at,
      resourceId: 'local',
      resourcePath: match.resource,
      stage: api.stage,
    },
    body: body.length === 0 ? null : body.toString(isBinary ? 'base64' : 'utf8'),
    isBase64Encoded: body.length > 0 && isBinary,
  };
}

/** The members of the identity that only an authorizer of AWS fills. */
const nobody = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  user: null,
  userArn: null,
} as const;

/** The values of each header, under the name that the client wrote, and the headers that API Gateway adds. */
function headersOf(incoming: IncomingMessage): Record<string, string[]> {
  const sent = incoming.rawHeaders;
  const pairs = sent.flatMap((name, index): [string, string][] =>
    index % 2 === 0 && !added.has(name.toLowerCase()) ? [[name, sent[index + 1] ?? '']] : [],
  );
  const before = incoming.headers['x-forwarded-for'];
  return groupedBy([
    ...pairs,
    ['X-Forwarded-For', [...(before === undefined ? [] : [before].flat()), addressOf(incoming)].join(', ')],
    ['X-Forwarded-Port', String(incoming.socket.localPort ?? '')],
    ['X-Forwarded-Proto', 'http'],
  ]);
}

const added = new Set(['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto']);

/** The address of the connection. A header is not used, because a client can write any address there. */
function addressOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}

function typeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function groupedBy(pairs: readonly (readonly [string, string])[]): Record<string, string[]> {
  // A map, because a client may choose a name that every object already has, such as __proto__.
  const groups = new Map<string, string[]>();
  for (const [name, value] of pairs) groups.set(name, [...(groups.get(name) ?? []), value]);
  return Object.fromEntries(groups);
}

function lastOfEach(groups: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1) ?? '']));
}
