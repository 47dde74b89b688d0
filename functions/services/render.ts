import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import costs from '../../catalog/provider-costs.json' with { type: 'json' };
import { callLimits } from '../../adapters/call-limits.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createProviderCredentials } from '../../adapters/provider-credentials.ts';
import { createSandboxProvider } from '../../adapters/providers/sandbox/provider.ts';
import { createVendors } from '../../adapters/providers/vendors.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { ProviderCosts } from '../../core/provider-costs.ts';
import { commonServices, imageStore, table } from './clients.ts';
import type { CompletionServices } from './completion.ts';
import { environment } from './environment.ts';
import { tasks } from './tasks.ts';

export interface RenderServices extends CompletionServices {
  /** Where vendors reach this service. Undefined: no vendor is asked to call back. */
  readonly callbackBaseUrl: string | undefined;
  /** The prices of the providers, as this release knows them. */
  readonly providerCosts: ProviderCosts;
}

// A test and the synthesis check the file against its schema.
const providerCosts = costs as ProviderCosts;

export function renderServices(): RenderServices {
  const crash = (): never => process.exit(1);
  const sandboxes = ['sandbox', 'sandbox-large'].map((name) =>
    createSandboxProvider({ name, clock: systemClock, crash }),
  );
  const providers = [...sandboxes, ...createVendors(vendorAccess())];
  const common = commonServices('render-image');
  return {
    ...common,
    creations: createCreationStore(table()),
    images: imageStore(),
    tasks: tasks(common.log),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    resultDays: Number(environment('RESULT_DAYS')),
    callbackBaseUrl: callbackBaseUrl(),
    providerCosts,
  };
}

/** Empty on one machine that vendors cannot reach. */
function callbackBaseUrl(): string | undefined {
  const url = environment('CALLBACK_BASE_URL');
  return url === '' ? undefined : url;
}

function vendorAccess(): Parameters<typeof createVendors>[0] {
  const baseUrls = JSON.parse(environment('PROVIDER_BASE_URLS')) as Readonly<Record<string, string>>;
  const credentials = createProviderCredentials({
    client: new SecretsManagerClient(callLimits()),
    secretArn: environment('PROVIDER_SECRET_ARN'),
    clock: systemClock,
  });
  return { credentials, clock: systemClock, baseUrls, bedrockRegion: environment('BEDROCK_REGION') };
}
