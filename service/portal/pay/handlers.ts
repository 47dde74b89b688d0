import { NotSetUp } from '../../payments/payment-system.ts';
import { Problem } from '../../values/problem.ts';
import type { PortalHandlers } from '../http/serve-portal.ts';
import { getAutoTopUp, removeCard, resumeAutoTopUp, setAutoTopUp } from './auto-top-up.ts';
import type { PayServices } from './open.ts';
import { listAccountPayments, listHeldPayments } from './operated.ts';
import { beginPayment, getPayment, getReceipt, listPayments } from './payments.ts';

const handlers: PortalHandlers<'pay', PayServices> = {
  listPayments,
  beginPayment,
  getPayment,
  getReceipt,
  getAutoTopUp,
  setAutoTopUp,
  resumeAutoTopUp,
  removeCard,
  listHeldPayments,
  listAccountPayments,
};

/** Until the operator has entered the key of Stripe, every operation says so. It is no fault of the service. */
export const payHandlers = Object.fromEntries(
  Object.entries<AnyHandle>(handlers as unknown as Record<string, AnyHandle>).map(([name, handle]) => [
    name,
    async (...given: Parameters<AnyHandle>) => {
      try {
        return await handle(...given);
      } catch (error) {
        throw error instanceof NotSetUp ? notSetUp() : error;
      }
    },
  ]),
) as unknown as PortalHandlers<'pay', PayServices>;

type AnyHandle = (...given: readonly unknown[]) => Promise<unknown>;

function notSetUp(): Problem {
  const message = 'The operator has not set up payments yet.';
  return new Problem('ERR_CONFLICT', message, { reason: 'payments_not_set_up' });
}
