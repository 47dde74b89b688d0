import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { callLimits } from '../../adapters/call-limits.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createProviderCredentials } from '../../adapters/provider-credentials.ts';
import { createCallingVendors } from '../../adapters/providers/calling-vendors.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import { commonServices, imageStore, table } from './clients.ts';
import type { CompletionServices } from './completion.ts';
import { environment } from './environment.ts';
import { tasks } from './tasks.ts';

/** The providers are those that call back. */
export type CallbackServices = CompletionServices;

export function callbackServices(): CallbackServices {
  const credentials = createProviderCredentials({
    client: new SecretsManagerClient(callLimits()),
    secretArn: environment('PROVIDER_SECRET_ARN'),
    clock: systemClock,
  });
  const baseUrls = JSON.parse(environment('PROVIDER_BASE_URLS')) as Readonly<Record<string, string>>;
  const providers = createCallingVendors({ credentials, clock: systemClock, baseUrls });
  const common = commonServices('receive-callback');
  return {
    ...common,
    creations: createCreationStore(table()),
    images: imageStore(),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    tasks: tasks(common.log),
    resultDays: Number(environment('RESULT_DAYS')),
  };
}
