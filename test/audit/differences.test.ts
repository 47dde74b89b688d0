import { describe, expect, it } from 'vitest';
import { userHash } from '../../service/accounts/end-user.ts';
import type { LedgerRow, UserCounter } from '../../service/accounts/account.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { type AccountBooks, differencesOf } from '../fixtures/books.ts';
import { accountId, creationId, keyId } from '../fixtures/records.ts';
import { without } from '../fixtures/values.ts';

const at = '2026-11-21T12:00:00.000Z';
const row = (kind: LedgerRow['kind'], amount: number, rest: Partial<LedgerRow> = {}): LedgerRow => ({
  kind,
  amountMicros: asMicros(amount),
  at,
  ...rest,
});
const other = '019aa5a0-1000-7000-8000-00000000000b' as CreationId;
const third = '019aa5a0-1000-7000-8000-00000000000c' as CreationId;
const charge = (id: CreationId, micros: number): LedgerRow =>
  row('charge', 0 - micros, { creationId: id, keyId, month: '2026_11' });
const refund = (id: CreationId, micros: number): LedgerRow =>
  row('refund', micros, { creationId: id, keyId, month: '2026_11' });

const open: AccountBooks['creations'][number] = {
  id: creationId,
  status: 'processing',
  costMicros: asMicros(40_000),
  refundedMicros: asMicros(0),
  dueAt: 1,
};
const failed: AccountBooks['creations'][number] = {
  id: other,
  status: 'failed',
  costMicros: asMicros(60_000),
  refundedMicros: asMicros(60_000),
};

const spends = (month: Readonly<Record<string, number>>, day: Readonly<Record<string, number>> = {}) => ({
  keys: [{ id: keyId, spent: month, spentByDay: day }] as unknown as AccountBooks['keys'],
});

/** 25 USD and a credit line of 5; two creations, one of them refunded, one open. */
const balanced: AccountBooks = {
  accountId,
  availableMicros: asMicros(29_960_000),
  creditLineMicros: asMicros(5_000_000),
  inFlight: 1,
  creations: [open, failed],
  ...spends({ '2026_11': 40_000 }),
  userCounters: [],
  readAt: Date.UTC(2026, 10, 22),
  ledger: [
    row('top_up', 25_000_000),
    row('credit_line', 5_000_000),
    charge(creationId, 40_000),
    charge(other, 60_000),
    refund(other, 60_000),
  ],
};

/** The ledger with a change of the charge of the open creation. */
const withCharge = (change: (row: LedgerRow) => LedgerRow): readonly LedgerRow[] =>
  balanced.ledger.map((row) => (row.creationId === creationId ? change(row) : row));
const today = '2026_11_21';
const ofUser = { user: 'customer 7', countedForUser: true } as const;
const ofUsers = withCharge((row) => ({ ...row, ...ofUser }));
const ofTheKey = `spend of key ${keyId}`;
const ofTheUser = `${ofTheKey} for user ${userHash(ofUser.user)}`;
const counterOf = (micros: number): UserCounter => ({
  keyId,
  month: '2026_11',
  userHash: userHash(ofUser.user),
  spentMicros: asMicros(micros),
});

const differences = (change: Partial<AccountBooks>): string[] =>
  differencesOf({ ...balanced, ...change }).map(
    ({ account, what, expected, found }) => `${account}: ${what} ${expected} ${found}`,
  );

describe('the audit of an account', () => {
  it('The audit finds nothing when the books balance', () => {
    expect(differences({})).toEqual([]);
  });

  it('The audit finds nothing in an account that never did anything', () => {
    const zero = { availableMicros: asMicros(0), creditLineMicros: asMicros(0), inFlight: 0 };
    expect(differences({ ...zero, creations: [], keys: [], ledger: [] })).toEqual([]);
  });

  it('The audit does not miss days and counters that are gone because they are long over', () => {
    const dayAgo = { ...charge(creationId, 40_000), day: '2026_11_17' };
    const later = { ...row('charge', -1, { keyId, month: '2026_11' }), day: today };
    const gone = differences({
      availableMicros: asMicros(29_959_999),
      ...spends({ '2026_11': 40_001 }, { [today]: 1 }),
      ledger: [...withCharge(() => dayAgo), later],
    });
    expect(gone).toEqual([]);
    expect(differences({ ledger: ofUsers, readAt: Date.UTC(2027, 2, 1) })).toEqual([]);
    expect(differences({ ledger: ofUsers, userCounters: [counterOf(40_000)] })).toEqual([]);
  });

  it.each<[what: string, change: Partial<AccountBooks>, ...found: string[]]>([
    ['money that no row explains', { availableMicros: asMicros(29_960_001) }, 'available 29960000 29960001'],
    ['missing money', { availableMicros: asMicros(29_959_999) }, 'available 29960000 29959999'],
    ['a credit line that differs from its rows', { creditLineMicros: asMicros(0) }, 'credit_line 5000000 0'],
    ['a count of open creations that is too high', { inFlight: 2 }, 'in_flight 1 2'],
    ['a count of open creations that is too low', { inFlight: 0 }, 'in_flight 1 0'],
    [
      'a completed creation that still counts as open',
      { creations: [{ ...open, status: 'completed' }, failed] },
      'in_flight 0 1',
    ],
    [
      'an open creation that the reconciler never finds',
      { creations: [without(open, 'dueAt'), failed] },
      `due time of ${creationId} 1 0`,
    ],
    ['a charge without its creation', { creations: [open] }, `creations ${other} 1 0`],
    [
      'a charge that was kept without its creation',
      { creations: [failed], inFlight: 0 },
      `creations ${creationId} 1 0`,
    ],
    [
      'a charge whose row names no month',
      { ledger: withCharge((row) => without(row, 'month')) },
      `${ofTheKey} in 2026_11 0 40000`,
    ],
    [
      'a charge whose row names no key',
      { ledger: withCharge((row) => without(row, 'keyId')) },
      `${ofTheKey} in 2026_11 0 40000`,
    ],
    [
      'a creation without its charge',
      { creations: [open, failed, { ...open, id: third, status: 'completed' }] },
      `charges of ${third} 1 0`,
      `cost of ${third} 0 40000`,
    ],
    [
      'a creation with another cost than its charge',
      { creations: [{ ...open, costMicros: asMicros(50_000) }, failed] },
      `cost of ${creationId} 40000 50000`,
    ],
    [
      'a record that has no refunded amount',
      { creations: [open, { ...failed, refundedMicros: asMicros(0) }] },
      `amount refunded of ${other} 60000 0`,
    ],
    [
      'a refund of a completed creation',
      { creations: [open, { ...failed, status: 'completed' }] },
      `refunds of ${other} 0 60000`,
    ],
    [
      'a failed creation that was not refunded',
      { creations: [{ ...open, status: 'failed' }, failed], inFlight: 0 },
      `refunds of ${creationId} 40000 0`,
    ],
    [
      'a refund in two halves',
      { ledger: [...balanced.ledger.slice(0, 4), refund(other, 30_000), refund(other, 30_000)] },
      `refund rows of ${other} 1 2`,
    ],
    ['a month that was not charged', spends({}), `${ofTheKey} in 2026_11 40000 0`],
    [
      'a charge in the wrong month',
      spends({ '2026_12': 40_000 }),
      `${ofTheKey} in 2026_11 40000 0`,
      `${ofTheKey} in 2026_12 0 40000`,
    ],
    [
      'a day that was not charged',
      { ledger: withCharge((row) => ({ ...row, day: today })) },
      `${ofTheKey} on ${today} 40000 0`,
    ],
    [
      'a day whose stored spend has no row',
      spends({ '2026_11': 40_000 }, { [today]: 1 }),
      `${ofTheKey} on ${today} 0 1`,
    ],
    [
      'a user whose counter differs from the rows',
      { ledger: ofUsers, userCounters: [counterOf(50_000)] },
      `${ofTheUser} in 2026_11 40000 50000`,
    ],
    ['a user whose counter is missing', { ledger: ofUsers }, `${ofTheUser} in 2026_11 40000 0`],
    ['a counter of a user without a row', { userCounters: [counterOf(1)] }, `${ofTheUser} in 2026_11 0 1`],
    [
      'a creation that was charged twice',
      {
        ledger: [...balanced.ledger, charge(creationId, 40_000)],
        availableMicros: asMicros(29_920_000),
        ...spends({ '2026_11': 80_000 }),
      },
      `charges of ${creationId} 1 2`,
      `cost of ${creationId} 80000 40000`,
    ],
    [
      'a creation that was refunded twice',
      {
        ledger: [...balanced.ledger, refund(other, 60_000)],
        availableMicros: asMicros(30_020_000),
        ...spends({ '2026_11': -20_000 }),
      },
      `refunds of ${other} 60000 120000`,
      `amount refunded of ${other} 120000 60000`,
    ],
    [
      'a refund of another amount',
      {
        ledger: [...balanced.ledger, refund(creationId, 39_999)],
        creations: [{ ...open, status: 'failed', refundedMicros: asMicros(40_000) }, failed],
        inFlight: 0,
        availableMicros: asMicros(29_999_999),
        ...spends({ '2026_11': 1 }),
      },
      `refunds of ${creationId} 40000 39999`,
      `amount refunded of ${creationId} 39999 40000`,
    ],
    [
      'a refund of a creation that was never charged',
      {
        ledger: [row('top_up', 25_000_000), refund(other, 60_000)],
        availableMicros: asMicros(25_060_000),
        creditLineMicros: asMicros(0),
        creations: [failed],
        inFlight: 0,
        ...spends({ '2026_11': -60_000 }),
      },
      `charges of ${other} 1 0`,
      `refunds of ${other} 0 60000`,
      `cost of ${other} 0 60000`,
    ],
  ])('The audit finds %s', (_what, change, ...found) => {
    expect(differences(change)).toEqual(found.map((line) => `${accountId}: ${line}`));
  });
});
