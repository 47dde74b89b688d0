/** The alarms of payments through Stripe: rows of alarm-table.ts, where the settings ask for payments. */
import type { AlarmRows, AlarmInputs } from './alarm-definition.ts';

/** None of these events is caused by traffic: each of them waits for the operator. */
export function paymentAlarms({ metrics, takesPayments }: AlarmInputs): AlarmRows {
  if (!takesPayments) return {};
  return {
    PaymentsHeld: {
      metric: metrics.alarms('payment_held'),
      threshold: 1,
      meaning:
        'Stripe took a payment in another currency or mode, or a smaller amount than was asked, and nothing is credited.',
      fix: 'Run payments list, and look at the payment at Stripe. Refund it there, or credit the account with wallet top-up.',
    },
    PaymentKeyRefused: {
      metric: metrics.alarms('payment_key_refused'),
      threshold: 1,
      meaning:
        'Customers cannot pay, and payments that were made are credited late: Stripe answers 401 or 403 to the key.',
      fix: 'Look at the restricted key in the dashboard of Stripe. Make a new one with the rights of docs/payments.md, and run payments set-stripe.',
    },
    PaymentsUnknown: {
      metric: metrics.alarms('payment_unknown'),
      threshold: 1,
      meaning:
        'Nobody knows whether an automatic top-up was paid, as Stripe gave no clear answer for a day. The automatic top-up of the account is paused.',
      fix: 'Look for the payment of the log (paymentId) at Stripe, then run payments refresh with its pi_ id. If Stripe has no such payment, the owner can resume the automatic top-up.',
    },
    PaymentsBehind: {
      metric: metrics.alarms('payments_behind'),
      threshold: 1,
      meaning:
        'Payments without an event are credited late, and no automatic top-up begins: the events of Stripe are read only up to an hour ago.',
      fix: 'Look at the status page of Stripe, and read the log of FollowPayments. It goes on by itself once Stripe answers.',
    },
  };
}
