/** Payments of all accounts, for the people of the operator. */
import type { HeldPaymentView } from '../../contract/portal-views.ts';
import { parseAccountId } from '../../values/ids.ts';
import { accountNotFound } from '../account-not-found.ts';
import type { PayHandle } from './open.ts';
import { paymentsOf, paymentView } from './payments.ts';

const mostHeld = 100;

/** GET /operator/payments: the payments that are held. The first hundred are enough to act on. */
export const listHeldPayments: PayHandle<'listHeldPayments'> = async (_request, _caller, services) => {
  const data: HeldPaymentView[] = [];
  for await (const payment of services.payments.held()) {
    const { accountId } = payment;
    const account = await services.readAccount(accountId);
    data.push({ ...paymentView(payment), account: accountId, account_name: account?.name ?? null });
    if (data.length >= mostHeld) break;
  }
  return { status: 200, body: { data, next_cursor: null } };
};

/** GET /operator/accounts/{id}/payments. */
export const listAccountPayments: PayHandle<'listAccountPayments'> = async (request, _caller, services) => {
  const id = parseAccountId(request.pathId);
  if (!id || !(await services.readAccount(id))) throw accountNotFound();
  return { status: 200, body: await paymentsOf(request, id, services) };
};
