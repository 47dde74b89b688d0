/** The stand-in of CloudFront in front of a bucket: the results, and the pages of the portal. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Script } from 'node:vm';
import type { KeyGroups } from '../aws/key-groups.ts';
import type { ObjectStore, StoredObject } from '../aws/object-store.ts';
import { type Handler, sendText, targetOf } from '../http.ts';
import type { LocalDistribution } from '../template.ts';
import { allowOrigin } from '../template/distributions.ts';
import { refusalOf, type Refused } from './signed-address.ts';

/** The path under which this server serves the distribution's objects. */
export const resultsPath = '/_results/';

/** What the distribution knows beside its objects. */
interface Edge {
  /** The address of this server, without a slash at its end. */
  readonly url: string;
  readonly keyGroups: Pick<KeyGroups, 'keyIn'>;
  readonly now: () => number;
}

/** Serves GET and HEAD of the objects that the bucket's policy lets CloudFront read. */
export function createResults(
  objects: Pick<ObjectStore, 'read'>,
  distribution: Pick<LocalDistribution, 'bucket' | 'readable' | 'unreadable' | 'added' | 'pages'>,
  edge: Edge,
): Handler {
  const { bucket, readable, unreadable = [], added } = distribution;
  return async (incoming, outgoing) => {
    const { path, query } = targetOf(incoming);
    const key = decoded(path.slice(resultsPath.length));
    const refused = refusalFor(key, `${edge.url}${path}`, query, distribution, edge);
    if (refused) {
      incoming.resume();
      sendRefusal(outgoing, refused);
      return;
    }
    const covering = (arns: readonly string[]): boolean =>
      arns.some((arn) => covers(arn, `arn:aws:s3:::${bucket}/${key}`));
    const mayRead = covering(readable) && !covering(unreadable);
    const found = mayRead ? await readObject(objects, bucket, key, incoming) : undefined;
    sendObject(incoming, outgoing, found, {
      'last-modified': found?.lastModified.toUTCString() ?? '',
      ...(found?.expires !== undefined && { expires: found.expires }),
      // A browser must not read a client's upload as a page when it opens the upload at this address.
      'x-content-type-options': 'nosniff',
      ...(incoming.headers.origin !== undefined &&
        added[allowOrigin] !== undefined && { [allowOrigin]: added[allowOrigin] }),
    });
  };
}

/** CloudFront finds the behaviour by the decoded path. The signature is that of the address as it was asked for. */
function refusalFor(
  key: string,
  url: string,
  query: string,
  { pages }: Pick<LocalDistribution, 'pages'>,
  { keyGroups, now }: Edge,
): Refused | undefined {
  const groups = pages.find(({ pathPattern }) => covers(pathPattern, key))?.keyGroups ?? [];
  return groups.length === 0 ? undefined : refusalOf(url, query, (id) => keyGroups.keyIn(groups, id), now());
}

/** `*` at the end of an ARN stands for any text. The policy of the stack has it nowhere else. */
function covers(pattern: string, arn: string): boolean {
  return pattern.endsWith('*') ? arn.startsWith(pattern.slice(0, -1)) : arn === pattern;
}

/** Serves the objects behind a distribution's default behaviour. `uri` is the path at the distribution. */
export type ServePage = (uri: string, incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

interface ViewerRequest {
  readonly method: string;
  readonly uri: string;
}

/** Serves pages as CloudFront does: the function of the template first, then the object. */
export function createPages(
  objects: Pick<ObjectStore, 'read'>,
  { bucket, viewerRequest }: Pick<LocalDistribution, 'bucket' | 'viewerRequest'>,
): ServePage {
  const change = viewerRequest === undefined ? undefined : compiled(viewerRequest);
  return async (uri, incoming, outgoing) => {
    const changed = change?.({ method: incoming.method ?? '', uri }).uri ?? uri;
    sendObject(incoming, outgoing, await readObject(objects, bucket, decoded(changed.slice(1)), incoming));
  };
}

/** The text of a CloudFront Function declares `handler(event)`, which returns the request. */
function compiled(code: string): (request: ViewerRequest) => ViewerRequest {
  const handler = new Script(`${code}\nhandler`).runInNewContext() as (event: object) => ViewerRequest;
  return (request) => handler({ version: '1.0', request });
}

/** An empty text for a path that is no text. No object has this key. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
}

/** The object of a GET or HEAD. Undefined for other methods. */
async function readObject(
  objects: Pick<ObjectStore, 'read'>,
  bucket: string,
  key: string,
  { method }: IncomingMessage,
): Promise<StoredObject | undefined> {
  return method === 'GET' || method === 'HEAD' ? objects.read(bucket, key) : undefined;
}

/** Sends an object, or the answer of S3 to CloudFront for a key that CloudFront may not read, or that is absent. */
function sendObject(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  found: StoredObject | undefined,
  headers: Readonly<Record<string, string>> = {},
): void {
  incoming.resume();
  if (found === undefined) {
    sendRefusal(outgoing, { code: 'AccessDenied', message: 'Access Denied' });
    return;
  }
  outgoing.writeHead(200, {
    'content-type': found.contentType,
    'content-length': found.body.length,
    etag: found.etag,
    ...(found.cacheControl !== undefined && { 'cache-control': found.cacheControl }),
    ...headers,
  });
  outgoing.end(incoming.method === 'HEAD' ? undefined : found.body);
}

function sendRefusal(outgoing: ServerResponse, { code, message }: Refused): void {
  const error = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  sendText(outgoing, 403, 'application/xml', `<?xml version="1.0" encoding="UTF-8"?>\n${error}`);
}
