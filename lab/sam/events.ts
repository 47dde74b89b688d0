/**
 * Sample events for `sam local invoke`: one for each operation of the API, for each task and for each
 * scheduled function.
 */
import { creationDefinition, functionsOf } from '../../lib/machine-definitions.ts';
import { operatorRoot } from '../../service/contract/operator-operations.ts';
import {
  apiRoot,
  callbackRoute,
  functionOf,
  mcpPath,
  openaiRoot,
  type Operation,
  type OperationName,
  operations,
  portalRoot,
  stripeEventsRoute,
} from '../../service/contract/operations.ts';

/** A person replaces this id by the id of a real creation. */
const someCreation = '00000000-0000-7000-8000-000000000000';

const sampleRequest = { model: 'sandbox-sketch', prompt: 'a quiet lake at dawn' };
const bodies: ReadonlyMap<string, object> = new Map<OperationName, object>([
  ['generateImage', sampleRequest],
  ['quoteImage', sampleRequest],
  ['createUpload', { content_type: 'image/png', bytes: 123_456 }],
  ['createEndpoint', { url: 'https://example.com/hooks', events: ['creation.completed'] }],
  ['createUserToken', { user: 'alice', spend_limit: 0.4 }],
]);

/** The events by the name of their function. `key` stands in the Authorization header. */
export function sampleEvents(key: string): Readonly<Record<string, object>> {
  // Of operations that share a function, the first one is the sample.
  const api = Object.entries(operations)
    .toReversed()
    .map(([name, operation]): [string, object] => [
      functionOf(operation),
      apiEvent(operation, key, bodies.get(name)),
    ]);
  const tasks = functionsOf(creationDefinition()).map(
    (name) => [name, { creation_id: someCreation }] as const,
  );
  return {
    ...Object.fromEntries([...api, ...tasks]),
    ReceiveCallback: callbackEvent(),
    // Without a signature of Stripe it is refused with 400.
    ReceivePayment: { ...requestEvent('POST', stripeEventsRoute, {}), body: '{}', isBase64Encoded: false },
    FollowPayments: {},
    Reconcile: {},
    AuditBooks: {},
    EraseContent: {},
    ...Object.fromEntries(portalSamples.map(([name, method, path]) => [name, portalEvent(method, path)])),
    // Without an operator key it is refused with 401.
    OperatorApi: { ...requestEvent('GET', `${operatorRoot}/accounts`, {}), isBase64Encoded: false },
    PublishPages: releaseEvent('PortalPages', {}),
    ProtectTable: releaseEvent('Protected', { TableName: 'StoreTable' }),
    OpenaiImages: restEvent('POST', `${openaiRoot}/images/generations`, key, sampleRequest),
    OpenaiModels: restEvent('GET', `${openaiRoot}/models`, key),
    Mcp: restEvent('POST', mcpPath, key, { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  };
}

/** An operation of each function of the portal. */
const portalSamples = [
  ['PortalSignIn', 'GET', '/auth/login'],
  ['PortalRead', 'GET', `${portalRoot}/me`],
  ['PortalManage', 'PUT', `${portalRoot}/alerts`],
  ['PortalGenerate', 'POST', `${portalRoot}/quote`],
  ['PortalCancel', 'POST', `${portalRoot}/creations/{id}/cancel`],
  ['PortalPay', 'GET', `${portalRoot}/payments`],
  ['PortalOperate', 'GET', `${portalRoot}/operator/accounts`],
] as const;

/** A request that is refused with 403, because it lacks the secret of the portal's distribution. */
function portalEvent(method: string, path: string): object {
  return {
    ...requestEvent(method, path, {}),
    ...(path.includes('{id}') && { pathParameters: { id: someCreation } }),
    isBase64Encoded: false,
  };
}

/** CloudFormation asks for a custom resource. Port 9 takes no answer. */
function releaseEvent(resource: string, properties: object): object {
  return {
    RequestType: 'Create',
    ResponseURL: 'http://127.0.0.1:9/',
    StackId: 'sam-local',
    RequestId: 'sam-local',
    LogicalResourceId: resource,
    ResourceProperties: properties,
  };
}

/** A callback that is answered with 404, because its capability is in no record. */
function callbackEvent(): object {
  return {
    version: '2.0',
    routeKey: `POST ${callbackRoute}`,
    headers: {},
    pathParameters: { provider: 'fal', creation_id: someCreation, capability: 'unknown' },
    requestContext: { requestId: 'sam-local' },
    body: '{}',
    isBase64Encoded: false,
  };
}

/** A request of a client of the API. */
function apiEvent({ method, path }: Operation, key: string, body: object | undefined): object {
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
  return {
    ...requestEvent(method, `${apiRoot}${path}`, headers),
    ...(path.includes('{id}') && { pathParameters: { id: someCreation } }),
    ...(body && { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  };
}

/** An event in the payload format 1.0 of a REST API, with the members that the handlers read. */
function restEvent(method: string, path: string, key: string, body?: object): object {
  const [stage = ''] = path.slice(1).split('/');
  const resource = path.slice(stage.length + 1) || '/';
  return {
    resource,
    path: resource,
    httpMethod: method,
    headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
    queryStringParameters: null,
    pathParameters: null,
    requestContext: { requestId: 'sam-local', path, stage, identity: { sourceIp: '127.0.0.1' } },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
  };
}

/** An event in the payload format 2.0 of an HTTP API, with the members that the handlers read. */
function requestEvent(method: string, path: string, headers: Readonly<Record<string, string>>): object {
  const rawPath = path.replace('{id}', someCreation);
  return {
    version: '2.0',
    routeKey: `${method} ${path}`,
    rawPath,
    rawQueryString: '',
    headers,
    requestContext: {
      requestId: 'sam-local',
      domainName: 'localhost',
      stage: '$default',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'sam' },
    },
  };
}
