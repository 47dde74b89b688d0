/** Statements from the sums of days that are over: they are those of the rows, and they read few of them. */
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import { accountToItem } from '../../service/accounts/account-items.ts';
import type { LedgerKind } from '../../service/accounts/account.ts';
import { queryAll } from '../../service/aws/dynamodb/query.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import type { StatementView } from '../../service/contract/portal-views.ts';
import { getStatement } from '../../service/portal/read/statement.ts';
import { getUsage } from '../../service/portal/read/usage.ts';
import { asMicros, toUsd } from '../../service/values/money.ts';
import { accountId, anAccount, now } from '../fixtures/records.ts';
import { startMemory } from '../tables/engines.ts';
import { aCaller, ask } from './read-fixture.ts';

const dayMillis = 86_400_000;
const minute = 60_000;

interface Row {
  readonly kind: Exclude<LedgerKind, 'credit_line'>;
  readonly amountMicros: number;
  readonly at: number;
  readonly model: string;
  /** Of a refund: how many days before it its charge was. */
  readonly daysLate: number;
}

const amount = {
  charge: -1,
  refund: 1,
  top_up: 1,
  adjustment: -1,
  payment: 1,
  payment_reversed: -1,
} as const;

const ledgers = fc.array(
  fc.record({
    kind: fc.constantFrom<Row['kind']>('charge', 'charge', 'refund', 'top_up', 'adjustment', 'payment'),
    amountMicros: fc.integer({ min: 1, max: 9_000_000 }),
    // From 50 days ago until now, also at the turns of days and of the month.
    at: fc.oneof(
      fc.integer({ min: now - 50 * dayMillis, max: now }),
      fc.constantFrom(Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 1) - 1, Date.UTC(2026, 10, 21) - 1, now),
    ),
    model: fc.constantFrom('one', 'two', 'three'),
    daysLate: fc.constantFrom(0, 1, 3),
  }),
  { maxLength: 40 },
);

async function tableWith(rows: readonly Row[]): Promise<Table> {
  const table = await (await startMemory()).open();
  const createdAt = new Date(now - 60 * dayMillis).toISOString();
  const all = rows.map((row) => ({ ...row, amountMicros: row.amountMicros * amount[row.kind] }));
  const availableMicros = asMicros(all.reduce((sum, row) => sum + row.amountMicros, 0));
  const put = (Item: Record<string, unknown>) =>
    table.client.send(new PutCommand({ TableName: table.name, Item }));
  await put(accountToItem(anAccount({ availableMicros, createdAt })));
  for (const [number, { kind, amountMicros, at: millis, model, daysLate }] of all.entries()) {
    const at = new Date(millis).toISOString();
    const isOfCreation = kind === 'charge' || kind === 'refund';
    await put({
      ...{ pk: `ACCOUNT#${accountId}`, sk: `LEDGER#${at}#${kind}#row-${number}`, kind, at, amountMicros },
      ...(isOfCreation ? { model, creationId: `c${number}` } : { reference: `invoice ${number}` }),
      ...(kind === 'refund' && {
        chargedOn: new Date(millis - daysLate * dayMillis).toISOString().slice(0, 10),
      }),
    });
  }
  return table;
}

/** What a release without statements from sums has stored. */
async function loseMovements(table: Table): Promise<void> {
  const found = await queryAll(table, `ACCOUNT#${accountId}`, 'USAGE#moves#');
  expect(found.length).toBeGreaterThan(0);
  for (const { pk, sk } of found)
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
}

async function statement(table: Table, month: string): Promise<StatementView> {
  const account = await createAccountStore(table).read(accountId);
  if (!account) throw new Error('the account is gone');
  const caller = aCaller(account, { nowMillis: now + 6 * minute });
  return (await ask(getStatement, { table, caller }, { query: { month } })).body as StatementView;
}

/** What the rows alone say. */
function expected(rows: readonly Row[], month: string): object {
  const signed = rows.map((row) => ({
    ...row,
    month: new Date(row.at).toISOString().slice(0, 7),
    micros: row.amountMicros * amount[row.kind],
  }));
  const sum = (some: typeof signed): number =>
    toUsd(asMicros(some.reduce((all, one) => all + one.micros, 0)));
  const own = signed.filter((row) => row.month === month);
  const lines = (kind: Row['kind']): Set<object> =>
    new Set(
      [
        ...Map.groupBy(
          own.filter((row) => row.kind === kind),
          ({ model }) => model,
        ),
      ].map(([model, some]) => ({
        model,
        count: some.length,
        amount: sum(some),
      })),
    );
  const others = own.filter(({ kind }) => kind !== 'charge' && kind !== 'refund');
  return {
    opening_balance: sum(signed.filter((row) => row.month < month)),
    closing_balance: sum(signed.filter((row) => row.month <= month)),
    charges: lines('charge'),
    refunds: lines('refund'),
    others: new Set(
      [...Map.groupBy(others, ({ kind }) => kind)].map(([kind, some]) => ({ kind, amount: sum(some) })),
    ),
    movements: others.length,
  };
}

const shown = ({ charges, refunds, others, movements, ...rest }: StatementView): object => ({
  opening_balance: rest.opening_balance,
  closing_balance: rest.closing_balance,
  ...{ charges: new Set(charges), refunds: new Set(refunds), others: new Set(others) },
  movements: movements.length,
});

const months = ['2026-10', '2026-11'];

describe('A statement from sums', () => {
  it('is that of the rows, when it makes the sums and when it finds them', async () => {
    await fc.assert(
      fc.asyncProperty(ledgers, fc.boolean(), async (rows, isUsageFirst) => {
        const table = await tableWith(rows);
        if (isUsageFirst) await ask(getUsage, { table, caller: aCaller(anAccount()) }, { query: {} });
        for (const month of [...months, ...months])
          expect(shown(await statement(table, month))).toEqual(expected(rows, month));
        await loseMovements(table);
        for (const month of months)
          expect(shown(await statement(table, month))).toEqual(expected(rows, month));
      }),
      { numRuns: 15 },
    );
  });

  it('reads the rows of today alone, and is answered in some ten reads', async () => {
    const many = Array.from({ length: 600 }, (_, number): Row => {
      const at = now - (number % 50) * dayMillis - number * 1_000;
      return { kind: 'charge', amountMicros: 40_000, at, model: `model ${number % 3}`, daysLate: 0 };
    });
    const table = await tableWith(many);
    const first = await statement(table, '2026-10');
    let [calls, rows] = [0, 0];
    table.client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        calls += 1;
        const items = (result.output as { Items?: readonly { sk: string }[] }).Items ?? [];
        rows += items.filter(({ sk }) => sk.startsWith('LEDGER#')).length;
        return result;
      },
      { step: 'initialize' },
    );
    expect(await statement(table, '2026-10')).toEqual(first);
    const today = many.filter(({ at }) => at >= Date.UTC(2026, 10, 21)).length;
    // The newest row is read twice with the balance.
    expect(rows).toBeLessThanOrEqual(today + 4);
    // One of them is the test's own, of the account.
    expect(calls).toBeLessThanOrEqual(13);
  });
});
