import { AwsClient } from 'aws4fetch';
import type { PageStore } from '../core/ports/pages.ts';
import { addressOf, type BucketAddress } from './s3-images.ts';

export interface PagesAccess extends BucketAddress {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const callMillis = 20_000;

/** The bucket of the portal's pages. A call throws when S3 refuses it, or does not answer in time. */
export function createPageStore(access: PagesAccess): PageStore {
  const client = new AwsClient({ ...access, service: 's3', retries: 4 });

  async function call(what: string, init: RequestInit): Promise<string> {
    const answer = await client.fetch(`${addressOf(access)}${what}`, {
      ...init,
      signal: AbortSignal.timeout(callMillis),
    });
    const text = await answer.text();
    if (!answer.ok)
      throw new Error(
        `the bucket of the pages answered ${answer.status} to ${init.method ?? ''} ${what.slice(1)}`,
      );
    return text;
  }

  return {
    put: async (name, bytes, { contentType, cacheControl }) => {
      await call(`/${name}`, {
        method: 'PUT',
        body: Uint8Array.from(bytes),
        headers: { 'content-type': contentType, 'cache-control': cacheControl },
      });
    },
    // The names of pages have no character that XML escapes.
    list: async () => {
      const listing = await call('?list-type=2', { method: 'GET' });
      return [...listing.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name = '']) => name);
    },
    remove: async (name) => {
      await call(`/${name}`, { method: 'DELETE' });
    },
  };
}
