/** The stand-in of the portal's distribution. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import type { AwsEndpoint } from '../aws/endpoint.ts';
import { operator, wildcard } from '../aws/iam.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { joinedHeaders, targetOf } from '../http.ts';
import type { AddedHeaders } from '../template/distributions.ts';
import type { LocalBehavior, LocalDistribution } from '../template.ts';
import { addressOf } from '../viewer.ts';
import type { ServePage } from './objects.ts';

/** The path of this server below which the pages of the portal are. */
export const portalPath = '/portal';

/** The package of the client has the same path as on the host of a portal in AWS. */
const packagePath = '/client/';

/** The address from which CloudFront calls an origin, as the gateway sees it. */
const edgeAddress = '130.176.0.1';

export interface PortalFront {
  /** Whether a path of this server belongs to the distribution. */
  readonly serves: (path: string) => boolean;
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
}

/** Answers as the distribution of the template does: by path patterns, with its lists of headers. */
export function createPortalFront({
  distribution,
  gateway,
  servePage,
  publish,
  valueOf,
  apiHost,
}: {
  readonly distribution: LocalDistribution;
  readonly gateway: Gateway;
  readonly servePage: ServePage;
  /** Puts the pages into their bucket, at the first request for one of them. */
  readonly publish: () => Promise<void>;
  /** The value of a text that may be a reference to a secret. */
  readonly valueOf: (text: string) => Promise<string>;
  /** The address of the API, for the header Host. */
  readonly apiHost: string;
}): PortalFront {
  const isPage = (path: string): boolean =>
    path === portalPath || path.startsWith(`${portalPath}/`) || path.startsWith(packagePath);
  const behaviorOf = (path: string): LocalBehavior | undefined =>
    distribution.behaviors.find(({ pathPattern }) => wildcard(pathPattern).test(path));

  async function callApi(
    behavior: LocalBehavior,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    const headers = forwardedHeaders(behavior, incoming);
    for (const [name, text] of Object.entries(behavior.sent)) headers[name] = await valueOf(text);
    headers['host'] = apiHost;
    await gateway.handle(incoming, withHeaders(outgoing, behavior.added), { headers, sourceIp: edgeAddress });
  }

  return {
    serves: (path) => isPage(path) || behaviorOf(path) !== undefined,
    handle: async (incoming, outgoing) => {
      const { path, query } = targetOf(incoming);
      const behavior = isPage(path) ? undefined : behaviorOf(path);
      if (behavior) return callApi(behavior, incoming, outgoing);
      if (path === portalPath) {
        incoming.resume();
        outgoing.writeHead(301, { location: `${portalPath}/${query === '' ? '' : `?${query}`}` }).end();
        return;
      }
      await publish();
      const uri = path.startsWith(packagePath) ? path : path.slice(portalPath.length);
      const own = distribution.pages.find(({ pathPattern }) => wildcard(pathPattern).test(uri));
      return servePage(uri, incoming, withHeaders(outgoing, own?.added ?? distribution.added));
    },
  };
}

/** The headers that reach the API: those of the list, cookies and body, and the viewer's address. */
function forwardedHeaders({ forwarded }: LocalBehavior, incoming: IncomingMessage): Record<string, string> {
  const viewer = joinedHeaders(incoming);
  const own: Record<string, string> = {
    'user-agent': 'Amazon CloudFront',
    'x-forwarded-for': addressOf(incoming),
    via: '2.0 local.cloudfront.net (CloudFront)',
  };
  for (const name of ['content-length', 'content-type', 'cookie', 'transfer-encoding', ...forwarded]) {
    const value = viewer[name];
    if (value !== undefined && !name.startsWith('cloudfront-')) own[name] = value;
  }
  if (forwarded.includes('cloudfront-viewer-address'))
    own['cloudfront-viewer-address'] = `${addressOf(incoming)}:${incoming.socket.remotePort ?? 0}`;
  return own;
}

/** Lets the answer carry these headers, whatever the origin says. */
function withHeaders(outgoing: ServerResponse, added: AddedHeaders): ServerResponse {
  const end = outgoing.writeHead.bind(outgoing) as (status: number, headers?: object) => ServerResponse;
  outgoing.writeHead = ((status: number, headers: object = {}) =>
    end(status, { ...headers, ...added })) as typeof outgoing.writeHead;
  return outgoing;
}

const valueSchema = z.object({ SecretString: z.string() });

/**
 * Reads the value of a secret of this folder.
 * @param versionId absent: the current version
 */
export async function secretValue(
  handle: AwsEndpoint['handle'],
  secretId: string,
  versionId?: string,
): Promise<string> {
  const output = await handle({
    service: 'secretsmanager',
    operation: 'GetSecretValue',
    caller: operator,
    input: { SecretId: secretId, ...(versionId !== undefined && { VersionId: versionId }) },
  });
  return valueSchema.parse(output).SecretString;
}

const reference = /^\{\{resolve:secretsmanager:(.+):SecretString:::([\w-]+)?\}\}$/;

/** CloudFormation resolves such a reference when it deploys; here that is the first use after a start. */
export function createReferences(handle: AwsEndpoint['handle']): (text: string) => Promise<string> {
  const deployed = new Map<string, string>();
  return async (text) => {
    const known = deployed.get(text);
    if (known !== undefined) return known;
    const [, secretId, versionId] = reference.exec(text) ?? [];
    const value = secretId === undefined ? text : await secretValue(handle, secretId, versionId);
    deployed.set(text, value);
    return value;
  };
}
