/** What the body of a notice says about a payment (docs/api.md, "Notices"). */
import type { Account } from '../accounts/account.ts';
import { type Micros, toUsd } from '../values/money.ts';
import { walletView } from './notice.ts';

interface PaidPart {
  readonly id: string;
  readonly kind: 'checkout' | 'auto';
  readonly amountMicros: Micros;
}

export type PaymentNews =
  | { readonly type: 'payment.received'; readonly payment: PaidPart }
  | {
      readonly type: 'payment.failed';
      /** Null: the cap of the month left no room to begin a payment. */
      readonly payment: PaidPart | null;
      readonly reason: (typeof failedReasons)[number];
      readonly isPaused: boolean;
    }
  | {
      readonly type: 'payment.reversed';
      readonly payment: Pick<PaidPart, 'id'>;
      readonly reason: (typeof reversedReasons)[number];
      /** What it adds to the wallet: below zero, the account has lost it. */
      readonly amountMicros: Micros;
    };

export const failedReasons = [
  'authentication_required',
  'declined',
  'card_expired',
  'monthly_cap',
  'unknown',
] as const;
export const reversedReasons = ['refund', 'dispute', 'dispute_won'] as const;

/** The members that a payment adds to the body. @param payUrl the page on which a person pays */
export function paymentParts(
  account: Pick<Account, 'availableMicros' | 'lowBalanceMicros'>,
  told: PaymentNews,
  payUrl: string,
): Readonly<Record<string, unknown>> {
  return { account: walletView(account), payment: paymentView(told, payUrl) };
}

function paymentView(told: PaymentNews, payUrl: string): Readonly<Record<string, unknown>> {
  switch (told.type) {
    case 'payment.received': {
      const { id, kind, amountMicros } = told.payment;
      return { id, kind, amount: toUsd(amountMicros) };
    }
    case 'payment.failed': {
      const { payment, reason, isPaused } = told;
      return {
        id: payment?.id ?? null,
        // Only an automatic payment fails without a person who sees it.
        kind: 'auto',
        amount: payment ? toUsd(payment.amountMicros) : null,
        reason,
        auto_top_up: isPaused ? 'paused' : 'on',
        pay_url: payUrl,
      };
    }
    case 'payment.reversed': {
      const { payment, reason, amountMicros } = told;
      return { id: payment.id, reason, amount: toUsd(amountMicros) };
    }
  }
}
