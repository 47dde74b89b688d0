import { cancelling, type CancelPlatform } from '../../api/open-cancel.ts';
import type { ServicesOf } from '../../platform/opener.ts';
import { openPortalWith, type PortalPlatform } from '../open.ts';

/** For the operation that cancels a creation. */
export type PortalCancelServices = ServicesOf<typeof openPortalCancel>;

export function openPortalCancel(on: PortalPlatform & CancelPlatform) {
  const cancel = cancelling(on);
  return openPortalWith(on, (store, portal) => cancel(store, portal));
}
