import type { PortalHandlers } from '../http/serve-portal.ts';
import { getAutoTopUp, removeCard, resumeAutoTopUp, setAutoTopUp } from './auto-top-up.ts';
import type { PayServices } from './open.ts';
import { listAccountPayments, listHeldPayments } from './operated.ts';
import { beginPayment, getPayment, getReceipt, listPayments } from './payments.ts';

export const payHandlers: PortalHandlers<'pay', PayServices> = {
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
