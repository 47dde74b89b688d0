/** What an account is told of its payments. */
import type { AccountId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import type { NoticeRecord } from '../notices/notice.ts';
import type { PauseReason } from './auto-top-up.ts';
import type { PaymentId, StripePayment } from './payment.ts';

export type PaymentNews =
  | { readonly type: 'payment.received'; readonly payment: PaidPart }
  | {
      readonly type: 'payment.failed';
      /** Null: the monthly cap left no room to begin a payment. */
      readonly payment: PaidPart | null;
      readonly reason: Exclude<PauseReason, 'dispute' | 'operator'> | 'monthly_cap';
      readonly isPaused: boolean;
    }
  | {
      readonly type: 'payment.reversed';
      readonly payment: Pick<PaidPart, 'id'>;
      readonly reason: 'refund' | 'dispute' | 'dispute_won';
      /** Negative: the account has lost it. */
      readonly amountMicros: Micros;
    };

type PaidPart = Pick<StripePayment, 'kind' | 'amountMicros'> & { readonly id: PaymentId };

/** Telling needs two steps: the transaction that moves the money also stores the notice. */
export interface Teller {
  /** Undefined: the account wants no notices. @param movedMicros what the same transaction adds to the wallet */
  readonly prepare: (
    account: AccountId,
    news: PaymentNews,
    movedMicros: Micros,
  ) => Promise<NoticeRecord | undefined>;
  /** Sends a stored notice, and looks at the wallet's thresholds. It never throws. */
  readonly stored: (account: AccountId, notice: NoticeRecord | undefined) => Promise<void>;
}
