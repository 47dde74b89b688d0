/** Books that a generator draws, and the sums of usage and margin by one dimension. */
import fc from 'fast-check';
import type { LedgerRow } from '../../service/accounts/account.ts';
import type { RouteAttempt } from '../../service/creations/creation.ts';
import type { BookedCreation, BookedRow } from '../../service/usage/booked-row.ts';
import { type marginDimensions, sumMargin } from '../../service/usage/margin.ts';
import { sumUsage, type usageDimensions } from '../../service/usage/usage.ts';
import type { CreationId, KeyId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId } from '../fixtures/records.ts';

export const openingMicros = 25_000_000;
export const start = Date.UTC(2026, 10, 20, 22);

export interface Drawn {
  readonly rows: readonly BookedRow[];
  readonly ledger: readonly LedgerRow[];
  readonly creations: readonly { readonly own: BookedCreation; readonly costMicros: number }[];
}

const attempt: fc.Arbitrary<RouteAttempt> = fc
  .record({
    provider: fc.constantFrom('openai', 'fal', 'bfl'),
    outcome: fc.constantFrom('rendered', 'unavailable', 'no_answer', 'unknown_outcome', undefined),
    cost: fc.option(fc.nat(90_000), { nil: undefined }),
  })
  .map(({ provider, outcome, cost }) => ({
    provider,
    providerModel: 'm',
    startedAt: '',
    resultKey: '',
    ...(outcome && { outcome }),
    ...(cost !== undefined && { providerCostMicros: asMicros(cost) }),
  }));

/** Creations of three keys over some days. A failed creation is refunded within minutes. */
export const books: fc.Arbitrary<Drawn> = fc
  .array(
    fc.record({
      minute: fc.nat(4_000),
      endsAfter: fc.integer({ min: 1, max: 300 }),
      costMicros: fc.nat(200_000),
      key: fc.constantFrom('Key001', 'Key002', 'Key003'),
      model: fc.constantFrom('one', 'two'),
      user: fc.option(fc.constantFrom('ann', 'bob', '=1'), { nil: undefined }),
      status: fc.constantFrom('queued', 'processing', 'completed', 'failed'),
      attempts: fc.array(attempt, { maxLength: 3 }),
      isRecorded: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn > 0),
    }),
    { maxLength: 60 },
  )
  .map((drawn) => {
    const of = drawn.map((one, number) => {
      const id = `019aa5a0-1000-7000-8000-${String(number).padStart(12, '0')}` as CreationId;
      const at = (minute: number): string => new Date(start + minute * 60_000).toISOString();
      const named = { creationId: id, keyId: one.key as KeyId, month: '2026_11', user: one.user };
      const { user: _absent, ...unnamed } = named;
      const shared = one.user === undefined ? unnamed : { ...unnamed, user: one.user };
      const charge: LedgerRow = {
        kind: 'charge',
        amountMicros: asMicros(0 - one.costMicros),
        at: at(one.minute),
        ...shared,
      };
      const refund: LedgerRow = {
        kind: 'refund',
        amountMicros: asMicros(one.costMicros),
        at: at(one.minute + one.endsAfter),
        ...shared,
      };
      const { status, model, attempts } = one;
      const refundedMicros = asMicros(status === 'failed' ? one.costMicros : 0);
      const own: BookedCreation = { id, status, model, attempts, refundedMicros };
      const ledger = one.status === 'failed' ? [charge, refund] : [charge];
      const rows = ledger.map((row): BookedRow => ({ row, ...(one.isRecorded && { creation: own }) }));
      return { rows, ledger, creation: { own, costMicros: one.costMicros } };
    });
    const topUp: LedgerRow = {
      kind: 'top_up',
      amountMicros: asMicros(openingMicros),
      at: '2026-11-20T00:00:00.000Z',
    };
    return {
      rows: [{ row: topUp }, ...of.flatMap(({ rows }) => rows)],
      ledger: [topUp, ...of.flatMap(({ ledger }) => ledger)],
      creations: of.map(({ creation }) => creation),
    };
  });

export function usageBy(by: (typeof usageDimensions)[number], rows: readonly BookedRow[]) {
  const sums = sumUsage(by);
  for (const row of rows) sums.add(row);
  return sums;
}

export function marginBy(by: (typeof marginDimensions)[number], rows: readonly BookedRow[]) {
  const sums = sumMargin(by);
  for (const row of rows) sums.add(accountId, row);
  return sums;
}

export const moneyOf = (ledger: readonly LedgerRow[], kind: LedgerRow['kind']): number =>
  ledger.reduce((sum, row) => (row.kind === kind ? sum + row.amountMicros : sum), 0);
