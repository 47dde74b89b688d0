import { cancelling, type CancelPlatform } from './cancel.ts';
import type { ServicesOf } from './open.ts';
import { openPortalWith, type PortalPlatform } from './portal.ts';

/** For the operation that cancels a creation. */
export type PortalCancelServices = ServicesOf<typeof openPortalCancel>;

export function openPortalCancel(on: PortalPlatform & CancelPlatform) {
  const cancel = cancelling(on);
  return openPortalWith(on, (store, portal) => cancel(store, portal));
}
