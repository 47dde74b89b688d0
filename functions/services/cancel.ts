import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import type { ChargeStore } from '../../core/ports/charges.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { Tasks } from '../../core/ports/tasks.ts';
import type { Providers } from '../../core/provider.ts';
import { openApi, type ApiServices } from './api.ts';
import { table } from './clients.ts';
import { stoppingProviders } from './configured.ts';
import type { OpenServices } from './open.ts';
import { tasks } from './tasks.ts';

/** For the operation that cancels. */
export interface CancelApiServices extends ApiServices {
  readonly creations: CreationStore;
  readonly charges: ChargeStore;
  readonly tasks: Tasks;
  readonly providers: Providers;
}

export function cancelServices(): OpenServices<CancelApiServices> {
  const shared = table();
  const open = openApi(shared);
  const providers = stoppingProviders(shared);
  return () => {
    const api = open();
    const { signal } = api.budget;
    const charges = createChargeStore({ ...shared, signal });
    const creations = createCreationStore({ ...shared, signal });
    return { ...api, creations, charges, tasks: tasks(api.log, signal), providers };
  };
}
