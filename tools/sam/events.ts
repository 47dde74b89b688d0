/** Events to invoke the functions with: one an operation of the API, and what Step Functions hands to its tasks. */
import { apiRoot, operations, type Operation, type OperationName } from '../../core/contract.ts';

/** Stands where a person puts in an id of their own. */
const someCreation = '00000000-0000-7000-8000-000000000000';

const bodies: Readonly<Partial<Record<OperationName, object>>> = {
  generateImage: { model: 'sandbox-sketch', prompt: 'a quiet lake at dawn' },
  quoteImage: { model: 'sandbox-sketch', prompt: 'a quiet lake at dawn' },
};

/** By the function's name. `key` goes into the Authorization header. */
export function sampleEvents(key: string): Readonly<Record<string, object>> {
  const api = Object.entries(operations).map(([name, operation]) => [
    pascal(name),
    apiEvent(operation, key, bodies[name as OperationName]),
  ]);
  const tasks = ['RenderImage', 'RefundCharge', 'DeliverWebhook'].map((name) => [
    name,
    { creation_id: someCreation },
  ]);
  return Object.fromEntries([...api, ...tasks, ['Reconcile', {}], ['AuditBooks', {}]]) as Record<
    string,
    object
  >;
}

function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Payload format 2.0 of an HTTP API, as far as the handlers read it. */
function apiEvent({ method, path }: Operation, key: string, body: object | undefined): object {
  const rawPath = `${apiRoot}${path.replace('{id}', someCreation)}`;
  return {
    version: '2.0',
    routeKey: `${method} ${apiRoot}${path}`,
    rawPath,
    rawQueryString: '',
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(path.includes('{id}') && { pathParameters: { id: someCreation } }),
    requestContext: {
      requestId: 'sam-local',
      domainName: 'localhost',
      stage: '$default',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'sam' },
    },
    ...(body && { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  };
}
