/** The automatic top-up of an account: what its owner chose, and what it has under way. */
import type { AccountId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import type { PaymentId } from './payment.ts';

/** Why nothing is taken until a person acts. */
export type PauseReason =
  | 'authentication_required'
  | 'declined'
  | 'card_expired'
  | 'unknown'
  /** A payment is disputed. Only the operator ends the pause, and until then nobody can pay. */
  | 'dispute'
  | 'operator';

/** The pauses that only the operator ends. */
export function isOfOperator(reason: PauseReason | undefined): boolean {
  return reason === 'dispute' || reason === 'operator';
}

export interface TopUpChoice {
  /** Below this much to spend, a payment begins. */
  readonly thresholdMicros: Micros;
  readonly amountMicros: Micros;
  /** The payments that begin in one UTC month take at most this much. */
  readonly monthlyCapMicros: Micros;
}

/** A card that Stripe keeps. */
export interface SavedCard {
  readonly paymentMethod: string;
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
}

export interface AutoTopUp {
  readonly accountId: AccountId;
  readonly isOn: boolean;
  /** Absent: the owner has never chosen. */
  readonly choice?: TopUpChoice;
  /** What the payments that began in a month took or may still take. A month is named "2026_11". */
  readonly reservedMicros: Readonly<Record<string, Micros>>;
  /** The payment under way. An account has at most one. */
  readonly open?: PaymentId;
  readonly paused?: PauseReason;
  /** The account at Stripe. Absent until its first payment. */
  readonly customer?: string;
  /** Absent: nothing can be taken. */
  readonly card?: SavedCard;
  /** The month of the last notice that the cap is reached. */
  readonly capTold?: string;
  /** Counts the changes of what the owner chose, the cards and the pauses. 0: there is no item yet. */
  readonly version: number;
}

/** Whether one more payment that begins in this month stays within the cap. */
export function hasRoom({ choice, reservedMicros }: AutoTopUp, month: string): boolean {
  return (
    choice !== undefined && (reservedMicros[month] ?? 0) + choice.amountMicros <= choice.monthlyCapMicros
  );
}

/** An account whose item does not exist. */
export function noTopUp(accountId: AccountId): AutoTopUp {
  return { accountId, isOn: false, reservedMicros: {}, version: 0 };
}
