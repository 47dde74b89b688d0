/**
 * The service's own bucket. Its few plain requests need only a signer of 3 KB. The S3 client of the SDK would
 * add 150 KB to every bundle that stores an image.
 */
import type { Clock } from '../values/runtime.ts';
import { type AwsPlace, serviceUrl } from './aws-place.ts';

export interface BucketAddress extends AwsPlace {
  readonly bucket: string;
}

/** The address before a key, without a slash at its end. */
export function addressOf({ bucket, ...place }: BucketAddress): string {
  return place.endpoint === undefined ? serviceUrl(`${bucket}.s3`, place) : `${place.endpoint}/${bucket}`;
}

export interface BucketAccess extends BucketAddress {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Limits the time of each call. */
  readonly clock: Pick<Clock, 'timeout'>;
  /** Aborts when the time of the request is used up. */
  readonly signal?: AbortSignal;
}
