import costs from '../../catalog/provider-costs.json' with { type: 'json' };
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createSandboxProvider } from '../../adapters/providers/sandbox/provider.ts';
import { createVendors } from '../../adapters/providers/vendors.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { ProviderCosts } from '../../core/provider-costs.ts';
import { commonServices, imageStore, table } from './clients.ts';
import type { CompletionServices } from './completion.ts';
import { environment } from './environment.ts';
import { tasks } from './tasks.ts';
import { vendorAccess } from './vendor-access.ts';

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
  const sandboxes = new Map(
    ['sandbox', 'sandbox-large'].map((name) => [
      name,
      createSandboxProvider({ name, clock: systemClock, crash }),
    ]),
  );
  const vendors = createVendors({ ...vendorAccess(), bedrockRegion: environment('BEDROCK_REGION') });
  const common = commonServices('render-image');
  return {
    ...common,
    creations: createCreationStore(table()),
    images: imageStore(),
    tasks: tasks(common.log),
    providers: { get: (name) => sandboxes.get(name) ?? vendors.get(name) },
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
