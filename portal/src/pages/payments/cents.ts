import { money, parseAmount } from '../../words/figures.ts';

export interface Cents {
  /** Undefined: nothing is entered, or it is wrong. */
  readonly amount: number | undefined;
  /** What would be right. Undefined: nothing is wrong. */
  readonly error: string | undefined;
}

/** An entry in USD, in whole cents. */
export function centsOf(text: string, least: number, largest = Infinity): Cents {
  const amount = parseAmount(text);
  if (amount === null) return { amount: undefined, error: undefined };
  const isRight = amount !== undefined && amount >= least && amount <= largest;
  if (isRight && Number(amount.toFixed(2)) === amount) return { amount, error: undefined };
  const range =
    largest === Infinity ? `at least ${money(least)}` : `from ${money(least)} to ${money(largest)}`;
  return { amount: undefined, error: `An amount in whole cents, ${range}.` };
}
