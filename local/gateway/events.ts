import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { localAccount } from '../aws/aws-call.ts';
import { joinedHeaders, targetOf } from '../http.ts';
import type { LocalRestApi } from '../template.ts';
import { addressOf, protocolOf } from '../viewer.ts';
import type { RestMatch, RouteMatch } from './router.ts';

interface ReceivedRequest<Match> {
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
  readonly match: Match;
  readonly requestId: string;
  /** Milliseconds since 1970, of the virtual clock. */
  readonly at: number;
}

export interface Forwarded {
  /** Under lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sourceIp: string;
}

/** The event in payload format 2.0 that an HTTP API makes of a request. */
export function gatewayEvent({
  incoming,
  body,
  match,
  requestId,
  at,
  forwarded,
}: ReceivedRequest<RouteMatch> & {
  /** What a distribution in front of the gateway sent instead of the viewer's own request. */
  readonly forwarded?: Forwarded | undefined;
}): APIGatewayProxyEventV2 {
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
    ...(query !== '' && {
      queryStringParameters: ofEach(groupedBy(new URLSearchParams(query)), (values) => values.join(',')),
    }),
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
        sourceIp: forwarded?.sourceIp ?? addressOf(incoming),
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
  return new Date(at).toUTCString().replace(/^\w+, (\d+) (\w+) (\d+) (\S+) GMT$/, '$1/$2/$3:$4 +0000');
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
}: ReceivedRequest<RestMatch> & {
  readonly api: Pick<LocalRestApi, 'id' | 'stage' | 'binaryTypes'>;
  /** The path without the stage. */
  readonly path: string;
}): APIGatewayProxyEvent {
  const { query } = targetOf(incoming);
  const multiValueHeaders = headersOf(incoming);
  const parameters = groupedBy(new URLSearchParams(query));
  const httpMethod = incoming.method ?? '';
  const isBinary = api.binaryTypes.includes(typeOf(incoming));
  return {
    resource: match.resource,
    path,
    httpMethod,
    headers: ofEach(multiValueHeaders, last),
    multiValueHeaders,
    queryStringParameters: query === '' ? null : ofEach(parameters, last),
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
    ['X-Forwarded-Proto', protocolOf(incoming)],
  ]);
}

const added = new Set(['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto']);

function typeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function groupedBy(pairs: Iterable<readonly [string, string]>): Record<string, string[]> {
  // A map, because a client may choose a name that every object already has, such as __proto__.
  const groups = new Map<string, string[]>();
  for (const [name, value] of pairs) groups.set(name, [...(groups.get(name) ?? []), value]);
  return Object.fromEntries(groups);
}

function ofEach(
  groups: Readonly<Record<string, readonly string[]>>,
  choose: (values: readonly string[]) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, choose(values)]));
}

function last(values: readonly string[]): string {
  return values.at(-1) ?? '';
}
