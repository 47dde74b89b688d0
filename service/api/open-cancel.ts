import type { Table } from '../aws/dynamodb/table.ts';
import { createChargeStore } from '../creations/charge-store.ts';
import { createCreationStore } from '../creations/creation-store.ts';
import { type CommonServices, tasksOf } from '../platform/common.ts';
import type { ServicesOf } from '../platform/opener.ts';
import type { On } from '../platform/platform.ts';
import { recentOperatorCatalog, withConfigured } from '../vendors/open.ts';
import { openApiWith } from './open.ts';

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
