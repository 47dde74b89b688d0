/** The rights of an operation that several functions answer: for clients of the API, of the portal, and of MCP. */
import type { CreationExecution } from './creation-execution.ts';
import type { ImageDelivery } from './image-delivery.ts';
import type { ProviderAccess } from './provider-access.ts';
import type { ServiceFunction } from './service-function.ts';
import type { Store } from './store.ts';

/** The parts of the service that the operations use. */
export interface OperationParts {
  readonly store: Store;
  readonly images: ImageDelivery;
  readonly providers: ProviderAccess;
  readonly execution: CreationExecution;
}

/** A submission copies its source images, charges, and starts the execution. */
export function grantGenerate(
  fn: ServiceFunction,
  { store, images, execution }: Omit<OperationParts, 'providers'>,
): void {
  store.grant(fn, 'GetItem', 'PutItem');
  images.grantStoreSources(fn);
  images.grantReadUploads(fn);
  execution.grantStart(fn);
}

/** A cancel refunds, asks the vendor of the job to stop, and ends the task that waits for the callback. */
export function grantCancel(
  fn: ServiceFunction,
  { store, providers, execution }: Omit<OperationParts, 'images'>,
): void {
  store.grant(fn, 'GetItem', 'PutItem');
  providers.grantKeys(fn);
  execution.grantEndTasks(fn, 'SendTaskSuccess');
}
