/** The bucket of a client that gets a copy of each picture: the setting, and the view of the client. */
import type { SigningKeys } from '../aws/signed-fetch.ts';

/** Where a copy goes. The service speaks S3 and takes addresses with the bucket in their path. */
export interface BucketPlace {
  /** An origin, such as https://s3.example.com. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** The prefix of each object's name. May be empty. */
  readonly prefix: string;
}

export interface StoredBucket extends BucketPlace {
  /** The JSON of the two keys, sealed as webhook secrets are (service/webhooks/secret-box.ts). */
  readonly sealedKeys: string;
  readonly updatedAt: string;
}

/** The form of each member: only characters that neither a service nor a signature encodes. */
export const bucketForms = {
  region: /^[a-z0-9-]{1,64}$/,
  bucket: /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/,
  prefix: /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/){0,20}(?:[A-Za-z0-9_-][A-Za-z0-9._-]*)?$/,
  key: /^[\x21-\x7e]{1,256}$/,
} as const;
export const longestPrefix = 200;

/** The two keys of the client, as they are sealed. */
export type BucketKeys = Pick<SigningKeys, 'accessKeyId' | 'secretAccessKey'>;

/** The view of the client, without the keys. */
export function bucketView({ endpoint, bucket, prefix, region, updatedAt }: StoredBucket) {
  return { endpoint, bucket, prefix, region, updated_at: updatedAt };
}

/** The address of an object, with bucket and key in the path, which every service accepts. */
export function objectAddress({ endpoint, bucket }: BucketPlace, key: string): string {
  return `${endpoint}/${bucket}/${key}`;
}
