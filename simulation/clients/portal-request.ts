/** Requests of the portal's pages, in the form in which API Gateway passes them to a function. */
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { portalOperations, portalRoot, type PortalOperationName } from '../../core/contract.ts';
import { originSecret, type PortalFunctionName } from '../aws/portal-service.ts';
import type { PersonHeld } from './open-people.ts';

export interface PortalRequest {
  readonly operation: PortalOperationName;
  /** Of the path's {id}. */
  readonly id?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const functions: readonly PortalFunctionName[] = [
  'portal-read',
  'portal-manage',
  'portal-generate',
  'portal-cancel',
];

/** The address of everybody's browser, as the portal's distribution saw it. */
const viewerAddress = '198.51.100.251:49152';

/** The function that answers the request. */
export function functionOf({ operation }: Pick<PortalRequest, 'operation'>): PortalFunctionName {
  const name = `portal-${portalOperations[operation].function}`;
  const found = functions.find((known) => known === name);
  if (!found) throw new Error(`the simulation does not run ${name}`);
  return found;
}

export function portalEvent(
  { operation, id, body, headers = {} }: PortalRequest,
  { cookie }: Pick<PersonHeld, 'cookie'>,
): APIGatewayProxyEventV2 {
  const { method, path } = portalOperations[operation];
  return {
    routeKey: `${method} ${portalRoot}${path}`,
    rawPath: `${portalRoot}${path.replace('{id}', id ?? '')}`,
    rawQueryString: '',
    headers: {
      'x-origin-secret': originSecret,
      'cloudfront-viewer-address': viewerAddress,
      'sec-fetch-site': 'same-origin',
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    cookies: [`__Host-darkroom=${cookie}`],
    ...(id !== undefined && { pathParameters: { id } }),
    ...(body && { body: JSON.stringify(body) }),
    isBase64Encoded: false,
    requestContext: {
      http: { method, sourceIp: '192.0.2.1' },
      routeKey: `${method} ${portalRoot}${path}`,
      requestId: '',
      domainName: 'api.test',
    },
  } as unknown as APIGatewayProxyEventV2;
}
