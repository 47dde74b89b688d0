/** The ledger: append-only rows, one for every movement of an account's money. */
import type { AccountId, CreationId, KeyId } from './ids.ts';
import type { Micros } from './money.ts';

export type LedgerKind = 'charge' | 'refund' | 'top_up' | 'adjustment' | 'credit_line';

export interface LedgerRow {
  readonly kind: LedgerKind;
  /** What it adds to what the account can spend; negative for a charge. */
  readonly amountMicros: Micros;
  /** RFC 3339. */
  readonly at: string;
  readonly creationId?: CreationId;
  readonly keyId?: KeyId;
  /** Of charge and refund: the UTC month whose spend it counts in. */
  readonly month?: string;
  /** Of a top-up or adjustment: what the operator wrote. */
  readonly reference?: string;
  readonly reason?: string;
}

/** What an account's items claim, to be held against its ledger. */
export interface AccountBooks {
  readonly accountId: AccountId;
  readonly availableMicros: Micros;
  readonly creditLineMicros: Micros;
  readonly inFlight: number;
  /** Open creations as they were found one by one. */
  readonly openCreations: number;
  readonly keys: readonly { readonly id: KeyId; readonly spent: Readonly<Record<string, Micros>> }[];
  readonly ledger: readonly LedgerRow[];
}

/** One disagreement between the books. */
export interface Difference {
  readonly account: AccountId;
  /** "available", "credit_line", "in_flight", "spend of key … in 2026_11", "refunds of …". */
  readonly what: string;
  /** By the ledger, or by counting. In micro-dollars where it is money. */
  readonly expected: number;
  /** As stored. */
  readonly found: number;
}

/** Everything in which an account's stored sums disagree with its rows; empty when the books balance. */
export function auditAccount(books: AccountBooks): Difference[] {
  const compare = (what: string, expected: number, found: number): Difference[] =>
    expected === found ? [] : [{ account: books.accountId, what, expected, found }];
  const creditRows = books.ledger.filter((row) => row.kind === 'credit_line');
  return [
    ...compare('available', sum(books.ledger), books.availableMicros),
    ...compare('credit_line', sum(creditRows), books.creditLineMicros),
    ...compare('in_flight', books.openCreations, books.inFlight),
    ...auditKeyMonths(books, compare),
    ...auditCreations(books, compare),
  ];
}

type Compare = (what: string, expected: number, found: number) => Difference[];

function sum(rows: readonly LedgerRow[]): number {
  return rows.reduce((total, row) => total + row.amountMicros, 0);
}

function auditKeyMonths({ keys, ledger }: AccountBooks, compare: Compare): Difference[] {
  const spent = new Map<string, number>();
  for (const row of ledger) {
    if (row.month === undefined || row.keyId === undefined) continue;
    const name = `${row.keyId} in ${row.month}`;
    spent.set(name, (spent.get(name) ?? 0) - row.amountMicros);
  }
  const stored = new Map(keys.flatMap((key) => Object.entries(key.spent).map(([month, value]) => [`${key.id} in ${month}`, value])));
  return [...new Set([...spent.keys(), ...stored.keys()])].flatMap((name) =>
    compare(`spend of key ${name}`, spent.get(name) ?? 0, stored.get(name) ?? 0),
  );
}

/** A creation is charged once, and refunded once in full or not at all. */
function auditCreations({ ledger }: AccountBooks, compare: Compare): Difference[] {
  const rows = Map.groupBy(
    ledger.filter((row) => row.creationId !== undefined),
    (row) => row.creationId,
  );
  return [...rows].flatMap(([id, movements]) => {
    const charges = movements.filter((row) => row.kind === 'charge');
    const refunds = movements.filter((row) => row.kind === 'refund');
    return [
      ...compare(`charges of ${id ?? ''}`, 1, charges.length),
      ...(refunds.length === 0 ? [] : compare(`refunds of ${id ?? ''}`, 0 - sum(charges), sum(refunds))),
    ];
  });
}
