import type { IncomingMessage, ServerResponse } from 'node:http';
import { Script } from 'node:vm';
import type { ObjectStore } from '../aws/object-store.ts';
import { targetOf } from '../gateway/events.ts';
import type { LocalDistribution } from '../template.ts';

/** The path under which this server serves the distribution's objects. */
export const resultsPath = '/_results/';

const accessDeniedXml =
  '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>';

/**
 * The stand-in of CloudFront. It serves those objects that the bucket's policy lets CloudFront read, as
 * CloudFront does with origin access control: GET and HEAD of one object.
 */
export function createResults(
  objects: Pick<ObjectStore, 'read'>,
  { bucket, readable }: Pick<LocalDistribution, 'bucket' | 'readable'>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    incoming.resume();
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD') {
      sendAccessDenied(outgoing);
      return;
    }
    const key = keyOf(targetOf(incoming).path);
    const mayRead = key !== undefined && readable.some((arn) => covers(arn, `arn:aws:s3:::${bucket}/${key}`));
    const found = mayRead ? await objects.read(bucket, key) : undefined;
    if (found === undefined) {
      sendAccessDenied(outgoing);
      return;
    }
    outgoing.writeHead(200, {
      'content-type': found.contentType,
      'content-length': found.body.length,
      etag: found.etag,
      'last-modified': found.lastModified.toUTCString(),
      ...(found.cacheControl === undefined ? {} : { 'cache-control': found.cacheControl }),
      ...(found.expires === undefined ? {} : { expires: found.expires }),
      // A browser must not read a client's upload as a page when it opens the upload at this address.
      'x-content-type-options': 'nosniff',
    });
    outgoing.end(incoming.method === 'HEAD' ? undefined : found.body);
  };
}

/** `*` at the end of an ARN stands for any text. The policy of the stack has it nowhere else. */
function covers(pattern: string, arn: string): boolean {
  return pattern.endsWith('*') ? arn.startsWith(pattern.slice(0, -1)) : arn === pattern;
}

function keyOf(path: string): string | undefined {
  try {
    const key = decodeURIComponent(path.slice(resultsPath.length));
    return key === '' ? undefined : key;
  } catch {
    return undefined;
  }
}

/** The answer of S3 to CloudFront for a key that CloudFront may not read, or that is absent. */
function sendAccessDenied(outgoing: ServerResponse): void {
  outgoing.writeHead(403, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(accessDeniedXml),
  });
  outgoing.end(accessDeniedXml);
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
    incoming.resume();
    const { method = '' } = incoming;
    const isRead = method === 'GET' || method === 'HEAD';
    const changed = change?.({ method, uri }).uri ?? uri;
    const found = isRead ? await objects.read(bucket, decoded(changed.slice(1))) : undefined;
    if (found === undefined) {
      sendAccessDenied(outgoing);
      return;
    }
    outgoing.writeHead(200, {
      'content-type': found.contentType,
      'content-length': found.body.length,
      etag: found.etag,
      ...(found.cacheControl === undefined ? {} : { 'cache-control': found.cacheControl }),
    });
    outgoing.end(method === 'HEAD' ? undefined : found.body);
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
