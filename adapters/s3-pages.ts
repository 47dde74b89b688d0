import { AwsClient } from 'aws4fetch';
import type { PageStore } from '../core/ports/pages.ts';
import { addressOf, type BucketAddress } from './s3-images.ts';

export interface PagesAccess extends BucketAddress {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const callMillis = 20_000;

/** The bucket of the portal's pages. A put throws when S3 refuses it, or does not answer in time. */
export function createPageStore(access: PagesAccess): PageStore {
  const client = new AwsClient({ ...access, service: 's3', retries: 4 });
  return {
    put: async (name, bytes, { contentType, cacheControl }) => {
      const answer = await client.fetch(`${addressOf(access)}/${name}`, {
        method: 'PUT',
        body: Uint8Array.from(bytes),
        headers: { 'content-type': contentType, 'cache-control': cacheControl },
        signal: AbortSignal.timeout(callMillis),
      });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`the bucket of the pages answered ${answer.status} to ${name}`);
    },
  };
}
