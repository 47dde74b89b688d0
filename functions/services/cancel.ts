import { createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { openApiWith } from './api.ts';
import type { CommonServices } from './common.ts';
import { recentOperatorCatalog, withConfigured } from './configured.ts';
import type { ServicesOf } from './open.ts';
import type { On } from './platform.ts';
import { tasksOf } from './tasks.ts';

/** The vendors are those that may be able to stop a job. */
export type CancelPlatform = On<'dynamodb' | 'states' | 'vendors' | 'configured'>;
export type CancelApiServices = ServicesOf<typeof openCancel>;

/** What cancels a creation, behind a key or a session. */
export function cancelling(on: CancelPlatform) {
  const providers = withConfigured(on, recentOperatorCatalog(on));
  return (store: Table, { log }: Pick<CommonServices, 'log'>) => ({
    creations: createCreationStore(store),
    charges: createChargeStore(store),
    tasks: tasksOf(on, log, store.signal),
    providers,
  });
}

export function openCancel(on: CancelPlatform) {
  const cancel = cancelling(on);
  return openApiWith(on, (store, api) => cancel(store, api));
}
