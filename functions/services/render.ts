import costs from '../../catalog/provider-costs.json' with { type: 'json' };
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createHealthStore } from '../../adapters/dynamodb/health-store.ts';
import { createSandboxProvider } from '../../adapters/providers/sandbox/provider.ts';
import { createVendors } from '../../adapters/providers/vendors.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { ProviderCost, ProviderCosts } from '../../core/provider-costs.ts';
import { commonServices, imageStore, table } from './clients.ts';
import type { CompletionServices } from './completion.ts';
import { recentOperatorCatalog, withConfigured } from './configured.ts';
import { environment } from './environment.ts';
import { tasks } from './tasks.ts';
import { vendorAccess } from './vendor-access.ts';

export interface RenderServices extends CompletionServices {
  /** Where vendors reach this service. Undefined: no vendor is asked to call back. */
  readonly callbackBaseUrl: string | undefined;
  /** The prices of the providers, as this release knows them. */
  readonly providerCosts: ProviderCosts;
  /** What the operator knows of prices. Throws Overloaded. */
  readonly operatorCosts: () => Promise<readonly ProviderCost[]>;
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
  const access = vendorAccess();
  const vendors = createVendors({ ...access, bedrockRegion: environment('BEDROCK_REGION') });
  const shared = table();
  const operated = recentOperatorCatalog(shared);
  const common = commonServices('render-image');
  return {
    ...common,
    creations: createCreationStore(shared),
    health: createHealthStore(shared),
    images: imageStore(),
    tasks: tasks(common.log),
    providers: withConfigured({ get: (name) => sandboxes.get(name) ?? vendors.get(name) }, operated, access),
    resultDays: Number(environment('RESULT_DAYS')),
    callbackBaseUrl: callbackBaseUrl(),
    providerCosts,
    operatorCosts: async () => (await operated.read())?.costs ?? [],
  };
}

/** Empty on one machine that vendors cannot reach. */
function callbackBaseUrl(): string | undefined {
  const url = environment('CALLBACK_BASE_URL');
  return url === '' ? undefined : url;
}
