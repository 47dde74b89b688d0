import { createAccountSettings } from '../../accounts/account-settings-store.ts';
import type { PortalOperationName } from '../../contract/operations.ts';
import { openFollow, type PaymentPlatform } from '../../payments/open.ts';
import { createPaymentStore } from '../../payments/payment-store.ts';
import type { ServicesOf } from '../../platform/common.ts';
import { openPortalWith, type PortalPlatform } from '../open.ts';
import type { PortalHandle } from '../http/caller.ts';

export type PayServices = ServicesOf<typeof openPortalPay>;
export type PayHandle<Name extends PortalOperationName> = PortalHandle<Name, PayServices>;

export function openPortalPay(on: PortalPlatform & PaymentPlatform) {
  return openPortalWith(on, (store) => ({
    ...openFollow(on, store),
    allPayments: createPaymentStore(store),
    readAccount: createAccountSettings(store).read,
  }));
}
