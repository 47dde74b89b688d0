import type { ServerResponse } from 'node:http';
import { Script } from 'node:vm';
import type { IncomingMessage } from 'node:http';
import type { ObjectStore } from '../aws/object-store.ts';
import { sendAccessDenied } from '../gateway/results.ts';
import type { LocalDistribution } from '../template.ts';

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
