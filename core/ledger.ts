/** The ledger: rows that are only added, one for every movement of an account's money. */
import type { ApiKey } from './account.ts';
import { oldestDayKept } from './caps.ts';
import { isTerminal, monthOf, type CreationRecord } from './creation.ts';
import type { AccountId, CreationId, KeyId } from './ids.ts';
import type { Micros } from './money.ts';
import { userHash } from './user.ts';

export type LedgerKind = 'charge' | 'refund' | 'top_up' | 'adjustment' | 'credit_line';

export interface LedgerRow {
  readonly kind: LedgerKind;
  /** The change of what the account can spend. Negative for a charge. */
  readonly amountMicros: Micros;
  /** RFC 3339. */
  readonly at: string;
  readonly creationId?: CreationId;
  readonly keyId?: KeyId;
  /** Of a charge: X-Request-Id of the request. Absent in rows of older releases. */
  readonly requestId?: string;
  /** Of a charge or refund: the UTC month in which it counts as spend of the key. */
  readonly month?: string;
  /**
   * Of a charge: the UTC day in which it counts as spend of the key. Of a refund: the day to which it gave
   * back. Absent in rows of older releases, and in refunds of charges that are days old.
   */
  readonly day?: string;
  /** Of a charge or refund: whether it counts for `user`, too. */
  readonly countedForUser?: true;
  /** Of a charge or refund: whom the client renders for. Absent when the request named nobody. */
  readonly user?: string;
  /** Of a charge or refund: the model of its creation. Absent in rows of older releases. */
  readonly model?: string;
  /**
   * Of a refund: the UTC day of its charge, "2026-11-21", on which usage counts it. Unlike `day`, no cap and no
   * counter of a key follows from it. Absent in rows of older releases.
   */
  readonly chargedOn?: string;
  /** Of a top-up or adjustment: the operator's text. */
  readonly reference?: string;
  readonly reason?: string;
}

/** The properties of a creation that the audit compares. */
export type AuditedCreation = Pick<
  CreationRecord,
  'id' | 'status' | 'costMicros' | 'refundedMicros' | 'dueAt'
>;

/** What a key spent in a month for one user. */
export interface UserCounter {
  readonly keyId: KeyId;
  readonly month: string;
  readonly userHash: string;
  readonly spentMicros: Micros;
}

/** The stored sums of an account, and the ledger with which the audit compares them. */
export interface AccountBooks {
  readonly accountId: AccountId;
  readonly availableMicros: Micros;
  readonly creditLineMicros: Micros;
  readonly inFlight: number;
  /** Each creation of the account once that is listed, is open or is named in the ledger. */
  readonly creations: readonly AuditedCreation[];
  readonly keys: readonly Pick<ApiKey, 'id' | 'spent' | 'spentByDay'>[];
  /** The counters of the users of keys that have a cap for each user. */
  readonly userCounters: readonly UserCounter[];
  /** Unix milliseconds. Counters of months long before are removed by and by. */
  readonly readAt: number;
  readonly ledger: readonly LedgerRow[];
}

/** One disagreement between the books. */
export interface Difference {
  readonly account: AccountId;
  /**
   * "available", "credit_line", "in_flight", "spend of key … in 2026_11", "spend of key … on 2026_11_21",
   * "spend of key … for user …", or something of a creation: "refunds of …".
   */
  readonly what: string;
  /** By the ledger, or by counting. In micro-dollars where it is money. */
  readonly expected: number;
  /** As stored. */
  readonly found: number;
}

/** Every stored sum that differs from the sum of the rows. Empty when the books balance. */
export function auditAccount(books: AccountBooks): Difference[] {
  const compare = (what: string, expected: number, found: number): Difference[] =>
    expected === found ? [] : [{ account: books.accountId, what, expected, found }];
  const creditRows = books.ledger.filter((row) => row.kind === 'credit_line');
  return [
    ...compare('available', sum(books.ledger), books.availableMicros),
    ...compare('credit_line', sum(creditRows), books.creditLineMicros),
    ...compare(
      'in_flight',
      books.creations.filter(({ status }) => !isTerminal(status)).length,
      books.inFlight,
    ),
    ...auditKeyMonths(books, compare),
    ...auditKeyDays(books, compare),
    ...auditUsers(books, compare),
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
  const stored = new Map(
    keys.flatMap((key) =>
      Object.entries(key.spent).map(([month, value]) => [`${key.id} in ${month}`, value]),
    ),
  );
  return [...new Set([...spent.keys(), ...stored.keys()])].flatMap((name) =>
    compare(`spend of key ${name}`, spent.get(name) ?? 0, stored.get(name) ?? 0),
  );
}

/** A charge removes the days from its key that are days older than its own. */
function auditKeyDays({ keys, ledger }: AccountBooks, compare: Compare): Difference[] {
  const spent = new Map<string, Map<string, number>>();
  for (const { day, keyId, amountMicros } of ledger) {
    if (day === undefined || keyId === undefined) continue;
    const days = spent.get(keyId) ?? new Map<string, number>();
    spent.set(keyId, days.set(day, (days.get(day) ?? 0) - amountMicros));
  }
  const stored = new Map<string, ApiKey['spentByDay']>(keys.map((key) => [key.id, key.spentByDay]));
  return [...new Set([...spent.keys(), ...stored.keys()])].flatMap((keyId) => {
    const rows = spent.get(keyId) ?? new Map<string, number>();
    const found = stored.get(keyId) ?? {};
    const newest = [...rows.keys()].sort().at(-1);
    const kept = [...rows.keys()].filter((day) => newest !== undefined && day >= oldestDayKept(newest));
    return [...new Set([...kept, ...Object.keys(found)])].flatMap((day) =>
      compare(`spend of key ${keyId} on ${day}`, rows.get(day) ?? 0, found[day] ?? 0),
    );
  });
}

/** A counter is kept for months, so the counters of this month and the month before must exist. */
function auditUsers({ userCounters, ledger, readAt }: AccountBooks, compare: Compare): Difference[] {
  const spent = new Map<string, number>();
  const recent = new Set<string>();
  const oldest = monthOf(readAt - 28 * 86_400_000);
  for (const { countedForUser, user, month, keyId, amountMicros } of ledger) {
    if (!countedForUser || user === undefined || month === undefined || keyId === undefined) continue;
    const name = `${keyId} for user ${userHash(user)} in ${month}`;
    spent.set(name, (spent.get(name) ?? 0) - amountMicros);
    if (month >= oldest) recent.add(name);
  }
  const stored = new Map(
    userCounters.map((one) => [`${one.keyId} for user ${one.userHash} in ${one.month}`, one.spentMicros]),
  );
  return [...new Set([...recent, ...stored.keys()])].flatMap((name) =>
    compare(`spend of key ${name}`, spent.get(name) ?? 0, stored.get(name) ?? 0),
  );
}

/**
 * Each charge has its creation and each creation its charge. A creation has one full refund if and only if it
 * failed.
 */
function auditCreations({ creations, ledger }: AccountBooks, compare: Compare): Difference[] {
  const rows = Map.groupBy(
    ledger.filter((row) => row.creationId !== undefined),
    (row) => row.creationId,
  );
  const known = new Map(creations.map((creation) => [creation.id, creation]));
  const ids = new Set([...known.keys(), ...[...rows.keys()].flatMap((id) => id ?? [])]);
  return [...ids].flatMap((id) => {
    const creation = known.get(id);
    const movements = rows.get(id) ?? [];
    return [
      ...compare(`creations ${id}`, 1, creation ? 1 : 0),
      ...auditMovements(id, creation, movements, compare),
      ...(creation ? auditCreation(creation, movements, compare) : []),
    ];
  });
}

function auditMovements(
  id: CreationId,
  creation: AuditedCreation | undefined,
  movements: readonly LedgerRow[],
  compare: Compare,
): Difference[] {
  const charges = movements.filter((row) => row.kind === 'charge');
  const refunds = movements.filter((row) => row.kind === 'refund');
  const isRefunded = creation ? creation.status === 'failed' : refunds.length > 0;
  return [
    ...compare(`charges of ${id}`, 1, charges.length),
    ...compare(`refunds of ${id}`, isRefunded ? 0 - sum(charges) : 0, sum(refunds)),
    // Two half refunds also add up, so the number of refund rows is compared as well.
    ...(isRefunded && sum(refunds) === 0 - sum(charges)
      ? compare(`refund rows of ${id}`, 1, refunds.length)
      : []),
  ];
}

/** Compares the record of a creation. The reconciler never finds an open creation that has no due time. */
function auditCreation(
  { id, status, costMicros, refundedMicros, dueAt }: AuditedCreation,
  movements: readonly LedgerRow[],
  compare: Compare,
): Difference[] {
  const sumOf = (kind: LedgerKind): number => sum(movements.filter((row) => row.kind === kind));
  return [
    ...compare(`cost of ${id}`, 0 - sumOf('charge'), costMicros),
    ...compare(`amount refunded of ${id}`, sumOf('refund'), refundedMicros),
    ...(isTerminal(status) ? [] : compare(`due time of ${id}`, 1, dueAt === undefined ? 0 : 1)),
  ];
}
