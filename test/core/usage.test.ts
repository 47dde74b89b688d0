/** The sums of usage, on books that a generator draws. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayAfter, type BookedCreation, type BookedRow } from '../../core/booked-row.ts';
import type { KeyId } from '../../core/ids.ts';
import type { LedgerRow } from '../../core/ledger.ts';
import { asMicros } from '../../core/money.ts';
import { sumUsage, usageCells, usageDimensions, type Usage } from '../../core/usage.ts';
import { differencesOf } from '../fixtures/books.ts';
import { accountId, creationId, keyId } from '../fixtures/records.ts';
import { openingMicros, start, books, usageBy, moneyOf } from './figures-fixture.ts';

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
  const failed: BookedCreation = {
    id: creationId,
    status: 'failed',
    model: 'one',
    attempts: [],
    refundedMicros: asMicros(40_000),
  };

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

  it('A refund after midnight counts on the day of the charge, and the day of the refund has nothing', () => {
    const refund = charged('2026-11-21T00:00:04.000Z', {
      kind: 'refund',
      amountMicros: asMicros(40_000),
      chargedOn: '2026-11-20',
    });
    const rows = [charged('2026-11-20T23:59:58.000Z'), refund].map((row) => ({ row, creation: failed }));
    const days = usageBy('day', rows).groups();
    expect(days.map(({ group, sums }) => [group, usageCells(sums)])).toEqual([
      ['2026-11-20', { creations: 1, completed: 0, failed: 1, ...money(40_000, 40_000) }],
    ]);
  });

  it('A refund that came after the days that are asked for still counts on the day of its charge', () => {
    const rows = [{ row: charged('2026-11-20T23:59:58.000Z'), creation: failed }];
    expect(usageCells(usageBy('day', rows).total())).toEqual({
      ...{ creations: 1, completed: 0, failed: 1 },
      ...money(40_000, 40_000),
    });
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

  function money(chargedMicros: number, refundedMicros: number): object {
    return {
      charged: { usd: chargedMicros },
      refunded: { usd: refundedMicros },
      spent: { usd: chargedMicros - refundedMicros },
    };
  }
});
