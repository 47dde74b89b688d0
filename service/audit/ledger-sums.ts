/** The sums of an account's ledger, row by row, and their comparison with the stored sums. */
import type { ApiKey, UserCounter } from '../accounts/account.ts';
import { counterExpiry, oldestDayKept } from '../accounts/caps.ts';
import { userHash } from '../accounts/end-user.ts';
import { monthOf } from '../values/time.ts';
import { type AuditedRow, compare, type Finding, type StoredSums } from './books.ts';
import { type Closing, monthOfRow } from './closings.ts';

/** Expired counters are removed some days late. */
const removedLateMillis = 30 * 86_400_000;

/** The sums of the rows that count in one month. */
type MonthSums = Omit<Closing, 'month'>;

export interface LedgerSumsState {
  readonly byMonth: readonly (readonly [month: string, MonthSums])[];
  readonly months: readonly (readonly [string, number])[];
  readonly days: readonly (readonly [key: string, day: string, micros: number])[];
  readonly users: readonly (readonly [string, number])[];
}

export type LedgerSums = ReturnType<typeof createLedgerSums>;

/**
 * The memory that the sums take grows with the months and days of each key, and with the users of the last
 * months that have a counter. It does not grow with the rows.
 * @param nowMillis decides which counters of users can still exist
 * @param closed the rows up to this month are not counted, and its sums are trusted
 */
export function createLedgerSums(nowMillis: number, from?: LedgerSumsState, closed?: Closing) {
  const byMonth = new Map(from?.byMonth);
  const isOpen = (period: string): boolean => closed === undefined || period.slice(0, 7) > closed.month;
  /** The sums up to this month. */
  const closingOf = (month: string): Closing => {
    const counted = [...byMonth].filter(([own]) => own <= month).map(([, sums]) => sums);
    return { ...[closed ?? none, ...counted].reduce(added), month };
  };
  const months = new Map(from?.months);
  const days = new Map<string, Map<string, number>>();
  for (const [key, day, micros] of from?.days ?? []) addTo(daysOf(days, key), day, micros);
  const users = new Map(from?.users);
  const mayExist = new Map<string, boolean>();
  const hasCounter = (month: string): boolean => {
    const known = mayExist.get(month) ?? counterExpiry(month) + removedLateMillis > nowMillis;
    mayExist.set(month, known);
    return known;
  };
  return {
    add: (row: AuditedRow) => {
      const { kind, amountMicros, keyId, month, day } = row;
      const counted = monthOfRow(row);
      const creditLineMicros = kind === 'credit_line' ? amountMicros : 0;
      const own = { rows: 1, availableMicros: amountMicros, creditLineMicros };
      byMonth.set(counted, added(byMonth.get(counted) ?? none, own));
      if (keyId === undefined) return;
      if (month !== undefined) addTo(months, `${keyId} in ${month}`, 0 - amountMicros);
      if (day !== undefined) addTo(daysOf(days, keyId), day, 0 - amountMicros);
      if (month !== undefined && hasCounter(month))
        for (const name of counterOf(row)) addTo(users, name, 0 - amountMicros);
    },
    rows: (): number => [...byMonth.values()].reduce((sum, { rows }) => sum + rows, 0),
    closingOf,
    /** The stored sums that differ. The number of open creations is not one of them. */
    differences: (stored: StoredSums): Finding[] => {
      const { availableMicros, creditLineMicros } = closingOf(lastMonth);
      const keys = stored.keys.map(({ id, spent, spentByDay }) => ({
        id,
        spent: Object.fromEntries(Object.entries(spent).filter(([month]) => isOpen(month))),
        spentByDay: Object.fromEntries(Object.entries(spentByDay).filter(([day]) => isOpen(day))),
      }));
      return [
        ...compare('available', availableMicros, stored.availableMicros),
        ...compare('credit_line', creditLineMicros, stored.creditLineMicros),
        ...monthDifferences(months, { keys }),
        ...dayDifferences(days, { keys }),
      ];
    },
    /** The counters of users that differ. @param moved rows that came meanwhile are passed over */
    counterDifferences: (stored: readonly UserCounter[], moved: readonly AuditedRow[]): Finding[] => {
      const passedOver = new Set(moved.flatMap(counterOf));
      const found = new Map(
        stored
          .filter(({ month }) => isOpen(month) && hasCounter(month))
          .map((one) => [userName(one.keyId, one.userHash, one.month), one.spentMicros]),
      );
      // A counter is kept for months, so the counters of this month and the month before must exist.
      const oldest = monthOf(nowMillis - 28 * 86_400_000);
      const recent = [...users.keys()].filter((name) => name.slice(-oldest.length) >= oldest);
      return [...new Set([...recent, ...found.keys()])].flatMap((name) =>
        passedOver.has(name)
          ? []
          : compare(`spend of key ${name}`, users.get(name) ?? 0, found.get(name) ?? 0),
      );
    },
    state: (): LedgerSumsState => ({
      byMonth: [...byMonth],
      months: [...months],
      days: [...days].flatMap(([key, own]) => [...own].map(([day, micros]) => [key, day, micros] as const)),
      users: [...users],
    }),
  };
}

const none: MonthSums = { rows: 0, availableMicros: 0, creditLineMicros: 0 };
/** After every month. */
const lastMonth = '9999_12';

function added(one: MonthSums, other: MonthSums): MonthSums {
  return {
    rows: one.rows + other.rows,
    availableMicros: one.availableMicros + other.availableMicros,
    creditLineMicros: one.creditLineMicros + other.creditLineMicros,
  };
}

function addTo(sums: Map<string, number>, name: string, micros: number): void {
  sums.set(name, (sums.get(name) ?? 0) + micros);
}

function daysOf(days: Map<string, Map<string, number>>, key: string): Map<string, number> {
  const own = days.get(key) ?? new Map<string, number>();
  days.set(key, own);
  return own;
}

/** The name of the counter in which the row counts, if it counts for a user. */
function counterOf({ keyId, month, countedForUser, user }: AuditedRow): string[] {
  if (!countedForUser || user === undefined || month === undefined || keyId === undefined) return [];
  return [userName(keyId, userHash(user), month)];
}

function userName(keyId: string, hash: string, month: string): string {
  return `${keyId} for user ${hash} in ${month}`;
}

type StoredKeys = Pick<StoredSums, 'keys'>;

function monthDifferences(spent: ReadonlyMap<string, number>, { keys }: StoredKeys): Finding[] {
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
function dayDifferences(
  spent: ReadonlyMap<string, ReadonlyMap<string, number>>,
  { keys }: StoredKeys,
): Finding[] {
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
