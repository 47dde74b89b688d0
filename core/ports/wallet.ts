/** Movements of money by the operator. */
import type { AccountId } from '../ids.ts';
import type { Micros } from '../money.ts';

/** The movement of an account that a reference names. */
export interface Movement {
  readonly kind: 'top_up' | 'adjustment';
  readonly amountMicros: Micros;
}

/** The outcome of a movement. Only 'applied' changed anything. */
export type MovementOutcome =
  | { readonly kind: 'applied' }
  /** An earlier call made the same movement with this reference. */
  | { readonly kind: 'already_applied' }
  /** The reference names another movement. */
  | { readonly kind: 'reference_taken'; readonly by: Movement }
  /** The account would exceed the largest amount, or fall as far below zero. */
  | { readonly kind: 'out_of_range' };

export type CreditLineOutcome = 'changed' | 'changed_meanwhile' | 'out_of_range';

/**
 * All movements throw Overloaded when the table stayed busy and nothing was written. They throw
 * OutcomeUnknown when it is unknown whether the movement was written.
 */
export interface Wallet {
  /** Adds to the balance, once for each reference. */
  topUp(id: AccountId, amount: Micros, reference: string): Promise<MovementOutcome>;
  /**
   * Adds to the balance or takes from it, even below zero. With a reference, only once for each reference.
   */
  adjust(id: AccountId, amount: Micros, reason: string, reference?: string): Promise<MovementOutcome>;
  /** 'changed_meanwhile': the stored credit line is no longer `from`. */
  setCreditLine(id: AccountId, from: Micros, to: Micros): Promise<CreditLineOutcome>;
}
