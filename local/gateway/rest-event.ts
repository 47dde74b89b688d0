import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { localAccount } from '../aws/aws-call.ts';
import type { LocalRestApi } from '../template.ts';
import { clfTime, targetOf } from './gateway-event.ts';
import type { RestMatch } from './rest-router.ts';

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
