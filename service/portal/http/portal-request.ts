/** A request as it arrives from the portal's distribution. */
import { timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type ApiRequest, requestOf } from '../../api/request.ts';
import { clientAddress } from '../../outbound/client-address.ts';
import { Problem } from '../../values/problem.ts';
import type { PortalServices } from '../open.ts';

// The refusals that only the portal's API makes.

/** Why a request has no session: it has no cookie, the cookie is unknown, or the session has expired. */
export type NoSession = 'no_session' | 'unknown_session' | 'session_ended';

export function sessionRequired(reason: NoSession): Problem {
  return new Problem('ERR_SESSION_REQUIRED', 'Sign in to go on.', { reason });
}

/** 403: the request did not come from the portal's own pages, or not through the portal's address. */
export function foreignOrigin(): Problem {
  return new Problem('ERR_FORBIDDEN', 'The portal answers only its own pages.', { reason: 'origin' });
}

export function roleTooLow(): Problem {
  return new Problem('ERR_FORBIDDEN', 'Your role in this account does not allow this.', { reason: 'role' });
}

/** 403: the person is no member of the session's account, such as after a removal. */
export function notMember(): Problem {
  const message = 'You do not belong to this account, or not any more.';
  return new Problem('ERR_FORBIDDEN', message, { reason: 'role', is_member: false });
}

export function reauthenticate(): Problem {
  const message = 'Sign in again to do this: your last sign-in is more than 15 minutes ago.';
  return new Problem('ERR_FORBIDDEN', message, { reason: 'reauthenticate' });
}

/** 409: the form was filled in from values that are no longer stored. */
export function changedMeanwhile(): Problem {
  const message = 'Somebody changed it meanwhile. Nothing was stored: look again.';
  return new Problem('ERR_CONFLICT', message, { reason: 'changed_meanwhile' });
}

export function nothingHere(): Problem {
  return new Problem('ERR_NOT_FOUND', 'The portal has no such operation.');
}

/** 404: the same answer for an account that does not exist and for one without this person. */
export function noSuchAccount(): Problem {
  return new Problem('ERR_NOT_FOUND', 'You belong to no account with this id.');
}

export interface PortalRequest extends ApiRequest {
  /** "GET /api/portal/v1/keys": the route that the gateway chose. */
  readonly routeKey: string;
  /** What follows the root in the path, where the gateway has one route for all paths that the function answers. */
  readonly proxy: string | undefined;
  /** As it was sent, without the question mark. */
  readonly rawQuery: string;
  /** "name=value" each. */
  readonly cookies: readonly string[];
  /** The person's own address, in the form in which rejections are counted. */
  readonly clientAddress: string;
}

/** Reads the request. Throws 403 unless it came through the distribution, which knows the address. */
export async function portalRequestOf(
  event: APIGatewayProxyEventV2,
  { originSecrets }: Pick<PortalServices, 'originSecrets'>,
): Promise<PortalRequest> {
  const request = requestOf(event);
  const { headers } = request;
  if (!isOneOf(headers['x-origin-secret'] ?? '', await originSecrets())) throw foreignOrigin();
  const sourceIp = viewerAddress(headers['cloudfront-viewer-address']) ?? request.sourceIp;
  return {
    ...request,
    sourceIp,
    routeKey: event.requestContext.routeKey,
    proxy: event.pathParameters?.['proxy'],
    rawQuery: event.rawQueryString,
    cookies: event.cookies ?? (headers['cookie'] ?? '').split(';'),
    clientAddress: clientAddress(sourceIp),
  };
}

/** Compares with every secret, so that the time does not reveal which one is similar. */
function isOneOf(presented: string, secrets: readonly string[]): boolean {
  return secrets.filter((secret) => isSame(presented, secret)).length > 0;
}

/** Takes the same time for every text of the right length. An empty secret equals nothing. */
function isSame(presented: string, secret: string): boolean {
  const [a, b] = [Buffer.from(presented), Buffer.from(secret)];
  return secret !== '' && a.length === b.length && timingSafeEqual(a, b);
}

/** "203.0.113.9:1234", or an IPv6 address without brackets: the last colon comes before the port. */
function viewerAddress(header: string | undefined): string | undefined {
  const colon = header?.lastIndexOf(':') ?? -1;
  return colon > 0 ? header?.slice(0, colon) : undefined;
}

/** Whether a change comes from the portal's own pages: by Sec-Fetch-Site, or else by Origin. */
export function isFromOwnPages(
  { method, headers }: Pick<ApiRequest, 'method' | 'headers'>,
  portalUrl: URL,
): boolean {
  if (method === 'GET') return true;
  const site = headers['sec-fetch-site'];
  return site === undefined ? headers['origin'] === portalUrl.origin : site === 'same-origin';
}
