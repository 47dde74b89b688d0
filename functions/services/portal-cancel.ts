import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import type { CancelServices } from '../../core/cancellation.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import { table } from './clients.ts';
import { stoppingProviders } from './configured.ts';
import type { OpenServices } from './open.ts';
import { openPortal, type PortalServices } from './portal.ts';
import { tasks } from './tasks.ts';

/** For the operation that cancels a creation. */
export type PortalCancelServices = PortalServices & CancelServices & { readonly creations: CreationStore };

export function portalCancelServices(): OpenServices<PortalCancelServices> {
  const shared = table();
  const open = openPortal(shared);
  const providers = stoppingProviders(shared);
  return () => {
    const portal = open();
    const { signal } = portal.budget;
    const store = { ...shared, signal };
    return {
      ...portal,
      creations: createCreationStore(store),
      charges: createChargeStore(store),
      tasks: tasks(portal.log, signal),
      providers,
    };
  };
}
