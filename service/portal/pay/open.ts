import { createAccountSettings } from '../../accounts/account-settings-store.ts';
import type { PortalOperationName } from '../../contract/operations.ts';
import { openFollow, type PaymentPlatform } from '../../payments/open.ts';
import { createPaymentStore } from '../../payments/payment-store.ts';
import type { ServicesOf } from '../../platform/common.ts';
import { openPortalWith, type PortalPlatform } from '../open.ts';
import type { PortalHandle } from '../http/caller.ts';

export type PayServices = ServicesOf<typeof openPortalPay>;
export type PayHandle<Name extends PortalOperationName> = PortalHandle<Name, PayServices>;

/** The part of the request's time that is kept for the table and the answer. */
const answerMillis = 3_000;

export function openPortalPay(on: PortalPlatform & PaymentPlatform) {
  return openPortalWith(on, (store, { budget }) => ({
    ...openFollow(on, store),
    stripe: on.paymentSystem.stripeWithin(() => budget.left() - answerMillis),
    allPayments: createPaymentStore(store),
    readAccount: createAccountSettings(store).read,
  }));
}
