/** The automatic top-up of an account: what its owner chose, and what it has under way. */
import type { AccountId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import type { PaymentId } from './payment.ts';

/** Why nothing is taken until a person acts. */
export type PauseReason = 'authentication_required' | 'declined' | 'card_expired' | 'unknown' | 'dispute';

export interface AutoTopUp {
  readonly accountId: AccountId;
  readonly isOn: boolean;
  /** Below this much to spend, a payment begins. */
  readonly thresholdMicros: Micros;
  readonly amountMicros: Micros;
  /** The payments that begin in one UTC month take at most this much. */
  readonly monthlyCapMicros: Micros;
  /** What the payments that began in a month took or may still take, by the month, such as "2026_11". */
  readonly reservedMicros: Readonly<Record<string, Micros>>;
  /** The payment under way. An account has at most one. */
  readonly open?: PaymentId;
  readonly paused?: PauseReason;
  /** Counts the changes of what the owner chose, and the pauses. */
  readonly version: number;
}
