/** The sums of the margin, on books that a generator draws. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BookedCreation, type BookedRow } from '../../core/booked-row.ts';
import type { RouteAttempt } from '../../core/creation.ts';
import { type LedgerRow } from '../../core/ledger.ts';
import { marginCells, marginDimensions, type Margin } from '../../core/margin.ts';
import { asMicros } from '../../core/money.ts';
import { creationId, keyId } from '../fixtures/records.ts';
import { books, marginBy, moneyOf } from './figures-fixture.ts';

describe('the sums of the margin', () => {
  const at = '2026-11-21T12:00:00.000Z';
  const tried = (change: Partial<RouteAttempt>): RouteAttempt => ({
    provider: 'openai',
    providerModel: 'm',
    startedAt: at,
    resultKey: '',
    ...change,
  });
  const ended = (status: BookedCreation['status'], ...attempts: RouteAttempt[]): BookedRow[] => {
    const refundedMicros = asMicros(status === 'failed' ? 50_000 : 0);
    const creation = { id: creationId, status, model: 'one', attempts, refundedMicros };
    const charge: LedgerRow = { kind: 'charge', amountMicros: asMicros(-50_000), at, creationId, keyId };
    const refund: LedgerRow = { ...charge, kind: 'refund', amountMicros: asMicros(50_000) };
    return (status === 'failed' ? [charge, refund] : [charge]).map((row) => ({ row, creation }));
  };
  const cost = (micros: number): Partial<RouteAttempt> => ({ providerCostMicros: asMicros(micros) });
  const totalOf = (rows: readonly BookedRow[]): Margin => marginBy('day', rows).total();

  it('Every grouping has the same total, and the revenue is the spend of all clients', () => {
    fc.assert(
      fc.property(books, ({ rows, ledger }) => {
        const totals = marginDimensions.map((by) => marginBy(by, rows).total());
        for (const total of totals) expect(total).toEqual(totals[0]);
        expect(totals[0]?.revenueMicros).toBe(0 - moneyOf(ledger, 'charge') - moneyOf(ledger, 'refund'));
        for (const by of marginDimensions) {
          const added = marginBy(by, rows)
            .groups()
            .reduce((sum, { sums }) => sum + marginOf(sums), 0);
          expect(added, by).toBe(totals[0] && marginOf(totals[0]));
        }
      }),
    );
  });

  it('The margin is the revenue minus what the provider that rendered billed', () => {
    const rows = ended(
      'completed',
      tried({ provider: 'fal', outcome: 'unavailable', ...cost(7_000) }),
      tried({ outcome: 'rendered', ...cost(12_345) }),
    );
    expect(marginCells(totalOf(rows))).toEqual({
      creations: 1,
      failed: 0,
      revenue: { usd: 50_000 },
      provider_cost: { usd: 12_345 },
      margin: { usd: 37_655 },
      margin_percent: 75.31,
      cost_unknown: 0,
      revenue_cost_unknown: { usd: 0 },
      unclear: 0,
      unclear_cost: { usd: 0 },
      billed: 0,
      billed_cost: { usd: 0 },
      billed_catalog_cost: { usd: 0 },
      billed_difference: { usd: 0 },
      billed_difference_percent: null,
    });
    expect(
      marginBy('provider', rows)
        .groups()
        .map(({ group }) => group),
    ).toEqual(['openai']);
  });

  it.each([
    ['that an older release rendered', ended('completed', tried({ outcome: 'rendered' }))],
    ['without an attempt that rendered', ended('completed')],
    ['that is open', ended('processing', tried(cost(1)))],
    ['without a record', ended('completed').map(({ row }) => ({ row }))],
  ])('A creation %s is counted apart: its revenue makes no margin', (_what, rows) => {
    const known = ended('completed', tried({ outcome: 'rendered', ...cost(10_000) }));
    expect(marginCells(totalOf([...known, ...rows]))).toMatchObject({
      creations: 2,
      revenue: { usd: 100_000 },
      provider_cost: { usd: 10_000 },
      margin: { usd: 40_000 },
      margin_percent: 80,
      cost_unknown: 1,
      revenue_cost_unknown: { usd: 50_000 },
    });
  });

  it('A failed creation whose image was rendered is a loss of what the provider billed', () => {
    expect(
      marginCells(totalOf(ended('failed', tried({ outcome: 'rendered', ...cost(12_345) })))),
    ).toMatchObject({
      failed: 1,
      revenue: { usd: 0 },
      margin: { usd: -12_345 },
      margin_percent: null,
      cost_unknown: 0,
    });
  });

  it.each(['unknown_outcome', 'no_answer', undefined] as const)(
    'An attempt with the outcome %s counts as perhaps billed, and not as a cost',
    (outcome) => {
      const rows = ended('failed', tried({ ...(outcome && { outcome }), ...cost(12_345) }));
      expect(marginCells(totalOf(rows))).toMatchObject({
        provider_cost: { usd: 0 },
        cost_unknown: 0,
        unclear: 1,
        unclear_cost: { usd: 12_345 },
      });
    },
  );

  it('An attempt that the vendor refused costs nothing, and names the provider of the failure', () => {
    const rows = ended('failed', tried({ outcome: 'PromptRejected', ...cost(12_345) }));
    expect(marginCells(totalOf(rows))).toMatchObject({ margin: { usd: 0 }, unclear: 0, cost_unknown: 0 });
    expect(
      marginBy('provider', [...rows, ...ended('failed')])
        .groups()
        .map(({ group, sums }) => [group, sums.failed]),
    ).toEqual([
      ['openai', 1],
      [null, 1],
    ]);
  });

  it('The percentage of nothing is none', () => {
    expect(marginCells(totalOf([]))).toMatchObject({ margin_percent: null, margin: { usd: 0 } });
  });

  function marginOf({ revenueMicros, revenueCostUnknownMicros, costMicros }: Margin): number {
    return revenueMicros - revenueCostUnknownMicros - costMicros;
  }
});
