import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { callLimits } from '../../adapters/call-limits.ts';
import { createProviderCredentials } from '../../adapters/provider-credentials.ts';
import type { VendorAccess } from '../../adapters/providers/vendors.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import { environment } from './environment.ts';

/** The keys of the vendors, and the addresses that replace the vendors' own. */
export function vendorAccess(): VendorAccess {
  const baseUrls = JSON.parse(environment('PROVIDER_BASE_URLS')) as Readonly<Record<string, string>>;
  const credentials = createProviderCredentials({
    client: new SecretsManagerClient(callLimits()),
    secretArn: environment('PROVIDER_SECRET_ARN'),
    clock: systemClock,
  });
  return { credentials, clock: systemClock, baseUrls };
}
