/** The items of payments of Stripe, and of the cursor of the listing. */
import { type Item, type ItemKey, openWorkIndex } from '../aws/dynamodb/table.ts';
import { paymentKey } from './payment-store.ts';
import { nextCheck, type StripePayment } from './payment.ts';

/**
 * The parts of the index of open work: payments with a time for the next check, and those held for a person.
 */
export const duePayments = 'PAYMENT';
export const heldPayments = 'PAYMENT_HELD';

/** The cursor of the listing of Stripe's events. */
export const cursorKey: ItemKey = { pk: 'PAYMENTS', sk: 'CURSOR' };

export function stripePaymentToItem(payment: StripePayment): Item {
  const dueAt = payment.state === 'open' ? nextCheck(payment, Date.parse(payment.at)) : undefined;
  return {
    ...paymentKey(payment.id),
    ...payment,
    ...(dueAt !== undefined && { [openWorkIndex.partition]: duePayments, [openWorkIndex.sort]: dueAt }),
  };
}

/** Undefined: there is no such payment, or another payment system took it. */
export function stripePaymentFromItem(item: Item | undefined): StripePayment | undefined {
  if (item?.['kind'] !== 'checkout' && item?.['kind'] !== 'auto') return undefined;
  const { pk: _pk, sk: _sk, openShard: _part, dueAt: _due, ...rest } = item;
  return rest as unknown as StripePayment;
}
