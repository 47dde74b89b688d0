/** What each function of the portal may do: the rights of its own operations. */
import type { PortalFunction } from '../../service/contract/operations.ts';
import type { EncryptionSecret } from '../encryption-secret.ts';
import type { NoticeExecution } from '../notice-execution.ts';
import { grantCancel, grantGenerate, type OperationParts } from '../operation-grants.ts';
import type { ServiceFunction } from '../service-function.ts';
import { requestItems, workItems } from '../store.ts';

export interface PortalParts extends OperationParts {
  readonly encryptionSecret: EncryptionSecret;
  readonly notices: NoticeExecution;
}

export function grantPortal(
  functions: Readonly<Record<PortalFunction, ServiceFunction>>,
  parts: PortalParts,
): void {
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
  store.grantListing(read);
  store.grantWrite(manage, [...new Set([...workItems, ...ofPeople])], 'DeleteItem', 'PutItem', 'UpdateItem');
  encryptionSecret.grantOpen(manage);
  execution.grantStart(manage);
  notices.grantStart(manage);
  grantGenerate(generate, parts, [...workItems, 'IP#*', 'SESSION#*']);
  images.grantSignUploads(generate);
  notices.grantStart(generate);
  grantCancel(cancel, parts, [...workItems, 'IP#*', 'SESSION#*']);
  store.grantWrite(operate, [...items, 'INVITED#*', 'NOTICE#*', 'SERVICE'], 'PutItem', 'UpdateItem');
  store.grantListing(operate);
  store.grantOpenWork(operate);
  notices.grantStart(operate);
}
