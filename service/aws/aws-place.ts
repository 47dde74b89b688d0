import type { Clock } from '../values/runtime.ts';
import type { SigningKeys } from './signed-fetch.ts';

export interface AwsPlace {
  readonly region: string;
  /** The domain of the partition of AWS to which the region belongs. China and secret regions have their own. */
  readonly urlSuffix: string;
  readonly endpoint?: string;
}

export function serviceUrl(service: string, { region, urlSuffix, endpoint }: AwsPlace): string {
  return endpoint?.replace(/\/$/, '') ?? `https://${service}.${region}.${urlSuffix}`;
}

/** The service's own bucket. The signer of the SDK suffices: the client for S3 has 150 KB. */
export interface BucketAddress extends AwsPlace {
  readonly bucket: string;
}

export function addressOf({ bucket, ...place }: BucketAddress): string {
  return place.endpoint === undefined ? serviceUrl(`${bucket}.s3`, place) : `${place.endpoint}/${bucket}`;
}

export interface BucketAccess extends BucketAddress, SigningKeys {
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'timeout'>;
  readonly signal?: AbortSignal;
}
