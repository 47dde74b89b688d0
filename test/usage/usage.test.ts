/** The sums of usage, on books that a generator draws. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerRow } from '../../service/accounts/account.ts';
import type { RouteAttempt } from '../../service/creations/creation.ts';
import type { BookedCreation, BookedRow } from '../../service/usage/booked-row.ts';
import { type Margin, marginCells, marginDimensions } from '../../service/usage/margin.ts';
import { sumUsage, type Usage, usageCells, usageDimensions } from '../../service/usage/usage.ts';
import type { KeyId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { dayAfter } from '../../service/values/time.ts';
import { books, marginBy, moneyOf, openingMicros, start, usageBy } from '../catalog/figures-fixture.ts';
import { differencesOf } from '../fixtures/books.ts';
import { accountId, creationId, keyId } from '../fixtures/records.ts';

describe('the sums of usage', () => {
  it('Every grouping has the same total, which is that of the ledger', () => {
    fc.assert(
      fc.property(books, ({ rows, ledger, creations }) => {
        for (const by of usageDimensions) {
          const sums = usageBy(by, rows);
          const added = sums.groups().reduce<Record<string, number>>((total, { sums: own }) => {
            for (const [name, value] of Object.entries(own)) total[name] = (total[name] ?? 0) + Number(value);
            return total;
          }, {});
          const total: Usage = sums.total();
          expect({ ...total, ...added }, by).toEqual(total);
          expect(total.creations, by).toBe(creations.length);
          expect([total.chargedMicros, total.refundedMicros], by).toEqual([
            0 - moneyOf(ledger, 'charge'),
            moneyOf(ledger, 'refund'),
          ]);
        }
      }),
    );
  });

  it('The spend by key and by day is that with which the audit balances the account and its keys', () => {
    fc.assert(
      fc.property(books, ({ rows, ledger, creations }) => {
        const spentOf = ({ chargedMicros, refundedMicros }: Usage) =>
          asMicros(chargedMicros - refundedMicros);
        const differences = differencesOf({
          accountId,
          availableMicros: asMicros(openingMicros - spentOf(usageBy('day', rows).total())),
          creditLineMicros: asMicros(0),
          inFlight: creations.filter(({ own }) => /queued|processing/.test(own.status)).length,
          creations: creations.map(({ own: { id, status }, costMicros }) => ({
            id,
            status,
            costMicros: asMicros(costMicros),
            refundedMicros: asMicros(status === 'failed' ? costMicros : 0),
            dueAt: 1,
          })),
          keys: usageBy('key', rows)
            .groups()
            .map(({ group, sums }) => ({
              id: group as KeyId,
              spent: { '2026_11': spentOf(sums) },
              spentByDay: {},
            })),
          userCounters: [],
          readAt: start,
          ledger,
        });
        expect(differences).toEqual([]);
      }),
    );
  });

  const charged = (at: string, change: Partial<LedgerRow> = {}): LedgerRow => ({
    kind: 'charge',
    amountMicros: asMicros(-40_000),
    at,
    creationId,
    keyId,
    ...change,
  });

  it('A day begins at 00:00 UTC', () => {
    const rows = ['2026-11-20T23:59:59.999Z', '2026-11-21T00:00:00.000Z', '2026-11-21T23:59:59.999Z'].map(
      (at): BookedRow => ({ row: charged(at) }),
    );
    const days = usageBy('day', rows).groups();
    expect(days.map(({ group, sums }) => [group, sums.creations])).toEqual([
      ['2026-11-20', 1],
      ['2026-11-21', 2],
    ]);
    expect(['2026-11-30', '2026-12-31', '2028-02-28'].map(dayAfter)).toEqual([
      '2026-12-01',
      '2027-01-01',
      '2028-02-29',
    ]);
  });

  it.each([
    ['of an older release counts on its own day', {}, '2026-11-21'],
    ['that names the day of its charge counts there', { chargedOn: '2026-11-20' }, '2026-11-20'],
  ])('A refund without a record of its creation, %s', (_how, named, day) => {
    const money = { kind: 'refund', amountMicros: asMicros(40_000), ...named } as const;
    const row = charged('2026-11-21T00:00:04.000Z', money);
    const [line] = usageBy('day', [{ row }]).groups();
    expect([line?.group, line?.sums.refundedMicros]).toEqual([day, 40_000]);
  });

  it('Creations for nobody are a group of their own, which is the last', () => {
    const rows = ['zoe', undefined, 'null', 'ann'].map((user): BookedRow => ({
      row: charged('2026-11-21T12:00:00.000Z', user === undefined ? {} : { user }),
    }));
    expect(
      usageBy('user', rows)
        .groups()
        .map(({ group }) => group),
    ).toEqual(['ann', 'null', 'zoe', null]);
  });

  it('No figure of usage is a figure of a provider', () => {
    expect(Object.keys(usageCells(sumUsage('day').total()))).toEqual([
      'creations',
      'completed',
      'failed',
      'charged',
      'refunded',
      'spent',
    ]);
  });
});

/** The sums of the margin, on books that a generator draws. */
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
