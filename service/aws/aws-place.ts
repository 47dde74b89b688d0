import type { Clock } from '../values/runtime.ts';

export interface AwsPlace {
  readonly region: string;
  /** The domain of the partition of AWS to which the region belongs. China and secret regions have their own. */
  readonly urlSuffix: string;
  readonly endpoint?: string;
}

export function serviceUrl(service: string, { region, urlSuffix, endpoint }: AwsPlace): string {
  return endpoint?.replace(/\/$/, '') ?? `https://${service}.${region}.${urlSuffix}`;
}

/** The service's own bucket. A signer of 3 KB suffices; the S3 client of the SDK has 150 KB. */
export interface BucketAddress extends AwsPlace {
  readonly bucket: string;
}

export function addressOf({ bucket, ...place }: BucketAddress): string {
  return place.endpoint === undefined ? serviceUrl(`${bucket}.s3`, place) : `${place.endpoint}/${bucket}`;
}

export interface BucketAccess extends BucketAddress {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly clock: Pick<Clock, 'timeout'>;
  readonly signal?: AbortSignal;
}
