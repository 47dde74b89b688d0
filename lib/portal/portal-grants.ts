/** What each function of the portal may do: the rights of its own operations. */
import type { PortalFunction } from '../../core/contract.ts';
import type { EncryptionSecret } from '../encryption-secret.ts';
import type { NoticeExecution } from '../notice-execution.ts';
import { grantCancel, grantGenerate, type OperationParts } from '../operation-grants.ts';
import type { ServiceFunction } from '../service-function.ts';

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
  for (const fn of Object.values(functions)) store.grant(fn, 'BatchGetItem', 'UpdateItem');
  // Whatever changes something is in the log of actions, and a sign-in makes a session.
  for (const fn of [signIn, manage, operate]) store.grant(fn, 'PutItem');
  store.grant(signIn, 'DeleteItem', 'GetItem', 'Query');
  encryptionSecret.grantOpen(signIn);
  store.grant(read, 'BatchWriteItem', 'GetItem', 'Query');
  store.grantListing(read);
  store.grant(manage, 'DeleteItem', 'GetItem', 'Query');
  encryptionSecret.grantOpen(manage);
  execution.grantStart(manage);
  notices.grantStart(manage);
  grantGenerate(generate, parts);
  images.grantSignUploads(generate);
  notices.grantStart(generate);
  grantCancel(cancel, parts);
  store.grant(operate, 'GetItem', 'Query');
  store.grantListing(operate);
  store.grantOpenWork(operate);
  notices.grantStart(operate);
}
