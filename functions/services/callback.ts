import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createHealthStore } from '../../adapters/dynamodb/health-store.ts';
import { createCallingVendors } from '../../adapters/providers/calling-vendors.ts';
import { commonServices, imageStore, table } from './clients.ts';
import type { CompletionServices } from './completion.ts';
import { environment } from './environment.ts';
import { tasks } from './tasks.ts';
import { vendorAccess } from './vendor-access.ts';

/** The providers are those that call back. */
export type CallbackServices = CompletionServices;

export function callbackServices(): CallbackServices {
  const providers = createCallingVendors(vendorAccess());
  const common = commonServices('receive-callback');
  const shared = table();
  return {
    ...common,
    creations: createCreationStore(shared),
    health: createHealthStore(shared),
    images: imageStore(),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    tasks: tasks(common.log),
    resultDays: Number(environment('RESULT_DAYS')),
  };
}
