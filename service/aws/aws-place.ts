/** Where the services of AWS answer. */
export interface AwsPlace {
  readonly region: string;
  /** The domain of the partition of AWS to which the region belongs. China and secret regions have their own. */
  readonly urlSuffix: string;
  /** Replaces the address of every service. */
  readonly endpoint?: string;
}

/** The address of a service, without a slash at its end. */
export function serviceUrl(service: string, { region, urlSuffix, endpoint }: AwsPlace): string {
  return endpoint?.replace(/\/$/, '') ?? `https://${service}.${region}.${urlSuffix}`;
}
