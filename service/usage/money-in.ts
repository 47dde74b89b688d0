/** The money that came in and went back, by the ledgers. It counts on the day of its row. */
import type { LedgerKind } from '../accounts/account.ts';
import { asMicros, type Micros } from '../values/money.ts';
import { type BookedRow, type Cells } from './booked-row.ts';

export interface MoneyIn {
  /** Through Stripe or another payment system. */
  readonly paymentsMicros: Micros;
  /** What the operator entered. */
  readonly topUpsMicros: Micros;
  /** By refunds and disputes, less what disputes gave back. */
  readonly reversedMicros: Micros;
}

/** The rows that count here. */
export const moneyInKinds = [
  'payment',
  'top_up',
  'payment_reversed',
] as const satisfies readonly LedgerKind[];

export function sumMoneyIn() {
  let [payments, topUps, reversed] = [0, 0, 0];
  return {
    add: ({ row: { kind, amountMicros } }: BookedRow): void => {
      if (kind === 'payment') payments += amountMicros;
      if (kind === 'top_up') topUps += amountMicros;
      if (kind === 'payment_reversed') reversed -= amountMicros;
    },
    total: (): MoneyIn => ({
      paymentsMicros: asMicros(payments),
      topUpsMicros: asMicros(topUps),
      reversedMicros: asMicros(reversed),
    }),
  };
}

export function moneyInCells({ paymentsMicros, topUpsMicros, reversedMicros }: MoneyIn) {
  return {
    payments: { usd: paymentsMicros },
    top_ups: { usd: topUpsMicros },
    reversed: { usd: reversedMicros },
  } as const satisfies Cells;
}
