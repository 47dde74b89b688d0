/** The rights of an operation that several functions answer: for clients of the API, of the portal, and of MCP. */
import type { CreationExecution } from './creation-execution.ts';
import type { ImageDelivery } from './image-delivery.ts';
import type { ProviderAccess } from './provider-access.ts';
import type { ServiceFunction } from './service-function.ts';
import { workItems, type Partition, type Store } from './store.ts';

/** What a request of a client changes when it works on a creation. */
const itemsOfClients: readonly Partition[] = [...workItems, 'IP#*'];

/** The parts of the service that the operations use. */
export interface OperationParts {
  readonly store: Store;
  readonly images: ImageDelivery;
  readonly providers: ProviderAccess;
  readonly execution: CreationExecution;
}

/**
 * A submission copies its source images, charges, and starts the execution.
 * @param items what the function writes, by all its operations
 */
export function grantGenerate(
  fn: ServiceFunction,
  { store, images, execution }: Omit<OperationParts, 'providers'>,
  items: readonly Partition[] = itemsOfClients,
): void {
  store.grantRead(fn, 'BatchGetItem', 'GetItem');
  store.grantWrite(fn, items, 'PutItem', 'UpdateItem');
  images.grantStoreSources(fn);
  images.grantReadUploads(fn);
  execution.grantStart(fn);
}

/** A cancel refunds, asks the vendor of the job to stop, and ends the task that waits for the callback. */
export function grantCancel(
  fn: ServiceFunction,
  { store, providers, execution }: Omit<OperationParts, 'images'>,
  items: readonly Partition[] = itemsOfClients,
): void {
  store.grantRead(fn, 'BatchGetItem', 'GetItem');
  store.grantWrite(fn, items, 'PutItem', 'UpdateItem');
  providers.grantKeys(fn);
  execution.grantEndTasks(fn, 'SendTaskSuccess');
}
