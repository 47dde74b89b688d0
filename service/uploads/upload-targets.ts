/** Signs the requests by which clients put their uploads into the bucket, without a call of S3. */
import { addressOf, type BucketAddress } from '../aws/aws-place.ts';
import { signedAddress, type SigningKeys } from '../aws/signed-fetch.ts';
import { uploadAddressSeconds } from '../contract/limits.ts';
import type { Upload, UploadTarget } from './upload.ts';

export function createUploadTargets(access: BucketAddress & SigningKeys) {
  return {
    /** Signs a request that takes exactly the type and length of the upload, for a quarter of an hour. */
    sign: async ({ key, contentType, bytes }: Upload, nowMillis: number): Promise<UploadTarget> => {
      const headers = { 'content-type': contentType, 'content-length': String(bytes) };
      const request = { method: 'PUT', url: `${addressOf(access)}/${key}`, headers };
      return {
        url: await signedAddress(access, { ...request, seconds: uploadAddressSeconds, nowMillis }),
        headers,
      };
    },
  };
}

export type UploadTargets = ReturnType<typeof createUploadTargets>;
