/** The rights of an operation that several functions answer: for clients of the API, of the portal, and of MCP. */
import type { CreationExecution } from './creation-execution.ts';
import type { ImageDelivery } from './image-delivery.ts';
import type { NoticeExecution } from './notice-execution.ts';
import type { PortalFunctions } from './portal/portal.ts';
import type { EncryptionSecret, ProviderAccess } from './secrets.ts';
import type { ServiceFunction } from './service-function.ts';
import { type Partition, requestItems, type Store, workItems } from './store.ts';

/** The items that a client request about a creation may change. */
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
  execution.grantEndTasks(fn, 'SendTaskFailure');
}

/** What each function of the portal may do: the rights of its own operations. */
export interface PortalParts extends OperationParts {
  readonly encryptionSecret: EncryptionSecret;
  readonly notices: NoticeExecution;
}

export function grantPortal(functions: PortalFunctions, parts: PortalParts): void {
  const { store, images, execution, encryptionSecret, notices } = parts;
  const { 'sign-in': signIn, read, manage, generate, cancel, operate } = functions;
  // Every request of a person is noted in the session.
  const items = [...requestItems, 'SESSION#*'] as const;
  const ofPeople = [...items, 'INVITED#*', 'PERSON#*'] as const;
  for (const fn of Object.values(functions)) store.grantRead(fn, 'BatchGetItem');
  for (const fn of [signIn, read, manage, operate]) store.grantRead(fn, 'GetItem', 'Query');
  // Actions of the operator, and who belongs to the operator, are items of the service.
  store.grantWrite(signIn, [...ofPeople, 'SERVICE'], 'DeleteItem', 'PutItem', 'UpdateItem');
  encryptionSecret.grantOpen(signIn);
  store.grantWrite(read, items, 'BatchWriteItem', 'UpdateItem');
  images.grantAddresses(read);
  store.grantListing(read);
  store.grantOpenWork(read);
  store.grantWrite(manage, [...new Set([...workItems, ...ofPeople])], 'DeleteItem', 'PutItem', 'UpdateItem');
  encryptionSecret.grantOpen(manage);
  execution.grantStart(manage);
  notices.grantStart(manage);
  notices.grantTopics(signIn, 'ListSubscriptionsByTopic', 'CreateTopic', 'DeleteTopic', 'Subscribe');
  notices.grantTopics(manage, 'DeleteTopic');
  grantGenerate(generate, parts, [...workItems, 'IP#*', 'SESSION#*']);
  images.grantSignUploads(generate);
  notices.grantStart(generate);
  grantCancel(cancel, parts, [...workItems, 'IP#*', 'SESSION#*']);
  if (functions.pay) store.grantWrite(functions.pay, [...items, 'NOTICE#*'], 'PutItem', 'UpdateItem');
  store.grantWrite(operate, [...items, 'INVITED#*', 'NOTICE#*', 'SERVICE'], 'PutItem', 'UpdateItem');
  store.grantListing(operate);
  notices.grantStart(operate);
}
