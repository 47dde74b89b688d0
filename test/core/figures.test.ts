/** The sums of usage and margin, on books that a generator draws. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayAfter, type BookedCreation, type BookedRow } from '../../core/booked-row.ts';
import type { RouteAttempt } from '../../core/creation.ts';
import type { CreationId, KeyId } from '../../core/ids.ts';
import { auditAccount, type LedgerRow } from '../../core/ledger.ts';
import { marginCells, marginDimensions, sumMargin, type Margin } from '../../core/margin.ts';
import { asMicros } from '../../core/money.ts';
import { sumUsage, usageCells, usageDimensions, type Usage } from '../../core/usage.ts';
import { accountId, creationId, keyId } from '../fixtures/records.ts';

const openingMicros = 25_000_000;
const start = Date.UTC(2026, 10, 20, 22);

interface Drawn {
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
const books: fc.Arbitrary<Drawn> = fc
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
      const own: BookedCreation = { id, status: one.status, model: one.model, attempts: one.attempts };
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

function usageBy(by: (typeof usageDimensions)[number], rows: readonly BookedRow[]) {
  const sums = sumUsage(by);
  for (const row of rows) sums.add(row);
  return sums;
}

function marginBy(by: (typeof marginDimensions)[number], rows: readonly BookedRow[]) {
  const sums = sumMargin(by);
  for (const row of rows) sums.add(accountId, row);
  return sums;
}

const moneyOf = (ledger: readonly LedgerRow[], kind: LedgerRow['kind']): number =>
  ledger.reduce((sum, row) => (row.kind === kind ? sum + row.amountMicros : sum), 0);

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
        const differences = auditAccount({
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
  const failed: BookedCreation = { id: creationId, status: 'failed', model: 'one', attempts: [] };

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

  it('A refund after midnight counts on its own day, and the failure on the day of the charge', () => {
    const refund = charged('2026-11-21T00:00:04.000Z', {
      kind: 'refund',
      amountMicros: asMicros(40_000),
      // The day of the key's cap to which the refund gives back is another one.
      day: '2026-11-20',
    });
    const rows = [charged('2026-11-20T23:59:58.000Z'), refund].map((row) => ({ row, creation: failed }));
    expect(
      usageBy('day', rows)
        .groups()
        .map(({ group, sums }) => [group, usageCells(sums)]),
    ).toEqual([
      ['2026-11-20', { creations: 1, completed: 0, failed: 1, ...money(40_000, 0) }],
      ['2026-11-21', { creations: 0, completed: 0, failed: 0, ...money(0, 40_000) }],
    ]);
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

  function money(chargedMicros: number, refundedMicros: number): object {
    return {
      charged: { usd: chargedMicros },
      refunded: { usd: refundedMicros },
      spent: { usd: chargedMicros - refundedMicros },
    };
  }
});

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
    const creation = { id: creationId, status, model: 'one', attempts };
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
