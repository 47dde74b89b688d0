import { createAccountSettings } from '../accounts/account-settings-store.ts';
import type { Table } from '../aws/dynamodb/table.ts';
import { createNoticeExecutions } from '../notices/notice-executions.ts';
import { createNoticeMarks } from '../notices/notice-store.ts';
import { commonOf, tableOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import { createAutoTopUpStore } from './auto-top-up-store.ts';
import { createStripePaymentStore } from './stripe-payment-store.ts';
import { createPaymentNotices } from './payment-notices.ts';

export type PaymentPlatform = On<'dynamodb' | 'states' | 'paymentSystem'>;

export type ReceiveServices = ReturnType<typeof openReceivePayment>;
export type WorkerServices = ReturnType<typeof openFollowPayments>;

export function openReceivePayment(on: PaymentPlatform) {
  return { ...commonOf(on, 'receive-payment'), ...openFollow(on, tableOf(on)) };
}

export function openFollowPayments(on: PaymentPlatform) {
  return { ...commonOf(on, 'follow-payments'), ...openFollow(on, tableOf(on)) };
}

/** What follows a payment needs, over the table of one request or of a function. */
export function openFollow(on: PaymentPlatform, table: Table & { readonly signal?: AbortSignal }) {
  const { stripe, settings, livemode, webhookSecrets } = on.paymentSystem;
  const common = commonOf(on, 'payments');
  const payments = createStripePaymentStore(table);
  const paymentNotices = createPaymentNotices({
    ...common,
    notices: createNoticeMarks(table),
    noticeExecutions: createNoticeExecutions(on.states, on.environment('NOTICE_MACHINE_ARN'), table.signal),
    readAccount: createAccountSettings(table).read,
    walletUrl: new URL('wallet', on.environment('PORTAL_URL')).href,
  });
  return {
    stripe,
    paymentSettings: settings,
    livemode,
    webhookSecrets,
    payments,
    topUps: createAutoTopUpStore(table),
    paymentNotices,
    ...(settings.suspend_on_dispute && { suspend: payments.suspend }),
  };
}
