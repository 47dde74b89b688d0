/** The statement of a month: its balances are those of the ledger, and its sums are those of the ledger's rows. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import type { StatementView } from '../../service/contract/portal-views.ts';
import { createChargeStore } from '../../service/creations/charge-store.ts';
import { exportLedger } from '../../service/portal/read/ledger.ts';
import { getStatement } from '../../service/portal/read/statement.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId, now } from '../fixtures/records.ts';
import { startMemory } from '../tables/engines.ts';
import { openStores, orderOf } from '../tables/facts.ts';
import { problemOf } from './portal-fixture.ts';
import { aCaller, ask } from './read-fixture.ts';

let table: Table;
const day = 86_400_000;
/** The rows of the last five minutes do not count yet. */
const later = now + 6 * 60_000;

beforeEach(async () => {
  table = await (await startMemory()).open();
  await openStores(table);
});

async function charge(number: number, at: number): Promise<ReturnType<typeof orderOf>> {
  const order = orderOf(number, { nowMillis: at }, { createdAt: new Date(at).toISOString() });
  expect(await createChargeStore(table).charge(order)).toEqual({ kind: 'charged' });
  return order;
}

async function statement(month: string, nowMillis = later): Promise<StatementView> {
  const account = await createAccountStore(table).read(accountId);
  if (!account) throw new Error('the account is gone');
  const answer = await ask(
    getStatement,
    { table, caller: aCaller(account, { nowMillis }) },
    { query: { month } },
  );
  return answer.body as StatementView;
}

const micros = (usd: number): number => Math.round(usd * 1e6);
const sumOf = ({ opening_balance, charged, refunded, others }: StatementView): number =>
  [opening_balance, charged, refunded, ...others.map(({ amount }) => amount)]
    .map(micros)
    .reduce((sum, one) => sum + one, 0);

/** The sum of all rows of the month's file but those of the credit line. */
async function sumOfFile(month: string): Promise<number> {
  const answer = await ask(exportLedger, { table }, { query: { month } });
  const lines = (answer.text ?? '').trim().split('\r\n').slice(1);
  return lines
    .map((line) => line.split(','))
    .filter(([, kind]) => kind !== 'credit_line')
    .reduce((sum, [, , amount]) => sum + micros(Number(amount)), 0);
}

describe('The statement', () => {
  it('Opening balance and movements are the closing balance, which is that of the wallet, in each month', async () => {
    const thisMonth = new Date(now).toISOString().slice(0, 7);
    const lastMonth = new Date(Date.parse(`${thisMonth}-01`) - day).toISOString().slice(0, 7);
    await charge(1, Date.parse(`${thisMonth}-01`) - 1);
    await charge(2, Date.parse(`${thisMonth}-01`));
    const failed = await charge(3, now - 60_000);
    await createChargeStore(table).refund(failed.creations[0], {
      failure: 'GenerationFailed',
      nowMillis: now,
      announce: false,
    });
    const wallet = createWalletStore(table);
    await wallet.topUp(accountId, asMicros(5_000_001), 'invoice 7');
    await wallet.adjust(accountId, asMicros(-1_000_000), 'a mistake', 'correction 1');
    const before = await createAccountStore(table).read(accountId);
    await wallet.setCreditLine(accountId, before?.creditLineMicros ?? asMicros(0), asMicros(3_000_000));
    const account = await createAccountStore(table).read(accountId);
    if (!account) throw new Error('the account is gone');

    const [last, current] = [await statement(lastMonth), await statement(thisMonth)];
    expect([last.is_final, current.is_final]).toEqual([true, false]);
    expect(micros(current.closing_balance)).toBe(account.availableMicros - account.creditLineMicros);
    expect(current.opening_balance).toBe(last.closing_balance);
    for (const one of [last, current]) {
      expect(sumOf(one)).toBe(micros(one.closing_balance));
      expect(micros(one.closing_balance) - micros(one.opening_balance)).toBe(await sumOfFile(one.month));
    }
    const cost = failed.creations[0].costMicros / 1e6;
    const { model } = failed.creations[0];
    expect(last.charges).toEqual([{ model, count: 1, amount: -cost }]);
    expect(current.charges).toEqual([{ model, count: 2, amount: -2 * cost }]);
    expect(current.refunds).toEqual([{ model, count: 1, amount: cost }]);
    expect(current.others).toContainEqual({ kind: 'adjustment', amount: -1 });
    expect(current.movements.map(({ note }) => note)).toEqual(
      expect.arrayContaining(['invoice 7', 'a mistake']),
    );
    expect(current.movements.map(({ kind }) => kind)).not.toContain('credit_line');
  });

  it('What came in the last five minutes counts later, because rows may still come in before it', async () => {
    const month = new Date(now).toISOString().slice(0, 7);
    await charge(1, now - 10 * 60_000);
    await charge(2, now - 60_000);
    const soon = await statement(month, now);
    expect(soon.charges.map(({ count }) => count)).toEqual([1]);
    expect(soon.until).toBe(new Date(now - 5 * 60_000).toISOString());
    expect(sumOf(soon)).toBe(micros(soon.closing_balance));
    const before = await createAccountStore(table).read(accountId);
    const line = before?.creditLineMicros ?? asMicros(0);
    await createWalletStore(table).setCreditLine(accountId, line, asMicros(line + 3_000_000));
    expect((await statement(month, now)).closing_balance).toBe(soon.closing_balance);
    expect((await statement(month)).charges.map(({ count }) => count)).toEqual([2]);
  });

  it('A month before the account has nothing, and one in the future is refused', async () => {
    const early = await statement('2020-01');
    expect([early.opening_balance, early.closing_balance, early.charges]).toEqual([0, 0, []]);
    const refused = await problemOf(statement('2099-01'));
    expect(refused.status).toBe(400);
  });
});
