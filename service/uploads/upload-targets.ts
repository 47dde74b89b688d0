/** Signs the requests by which clients put their uploads into the bucket, without a call of S3. */
import { AwsV4Signer } from 'aws4fetch';
import { addressOf, type BucketAddress } from '../aws/aws-place.ts';
import { uploadAddressSeconds } from '../contract/limits.ts';
import type { Upload, UploadTarget } from './upload.ts';

export interface SigningAccess extends BucketAddress {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The signature covers type and length: aws4fetch leaves both out unless `allHeaders` is set. */
export function createUploadTargets(access: SigningAccess) {
  const { accessKeyId, secretAccessKey, sessionToken, region } = access;
  return {
    /** Signs a request that takes exactly the type and length of the upload, for a quarter of an hour. */
    sign: async ({ key, contentType, bytes }: Upload, nowMillis: number): Promise<UploadTarget> => {
      const headers = { 'content-type': contentType, 'content-length': String(bytes) };
      const signer = new AwsV4Signer({
        method: 'PUT',
        url: `${addressOf(access)}/${key}?X-Amz-Expires=${uploadAddressSeconds}`,
        headers,
        accessKeyId,
        secretAccessKey,
        ...(sessionToken !== undefined && { sessionToken }),
        service: 's3',
        region,
        datetime: new Date(nowMillis).toISOString().replace(/[:-]|\.\d{3}/g, ''),
        signQuery: true,
        allHeaders: true,
      });
      const { url } = await signer.sign();
      return { url: url.href, headers };
    },
  };
}

export type UploadTargets = ReturnType<typeof createUploadTargets>;
