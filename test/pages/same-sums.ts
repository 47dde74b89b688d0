/** The sums that every page and the audit of the operator must show alike for a generated year. */
import { expect } from 'vitest';
import type { HomeView, LedgerPage, UsageView } from '../../service/contract/portal-views.ts';
import { getHome } from '../../service/portal/read/home.ts';
import { exportLedger, listLedger } from '../../service/portal/read/ledger.ts';
import { exportUsage, getUsage } from '../../service/portal/read/usage.ts';
import { asMicros } from '../../service/values/money.ts';
import { auditOf } from '../fixtures/books.ts';
import { accountId, anAccount } from '../fixtures/records.ts';
import { aCaller, ask } from '../portal/read-fixture.ts';
import { type Year, yearBegan, yearNow } from './generated-year.ts';

const wholeYear = { from: '2025-11-22', to: '2026-11-21' };
export const micros = (usd: number): number => Math.round(usd * 1_000_000);

type Here = Parameters<typeof ask>[1];

/** The account of the year, as the frame reads it. */
export function callerOf({ table, expected }: Year): Here {
  const account = anAccount({
    createdAt: new Date(yearBegan).toISOString(),
    availableMicros: asMicros(expected.availableMicros),
    creditLineMicros: asMicros(expected.creditLineMicros),
  });
  return { table, caller: aCaller(account, { nowMillis: yearNow }) };
}

export async function usageOf(here: Here, by: string, range: object = wholeYear): Promise<UsageView> {
  return (await ask(getUsage, here, { query: { ...range, by } })).body as UsageView;
}

/** Home, wallet, usage, the files and the audit show the same sums. */
export async function expectSameSums(year: Year): Promise<void> {
  const here = callerOf(year);
  const { expected } = year;
  const home = (await ask(getHome, here)).body as HomeView;
  const wallet = (await ask(listLedger, here)).body as LedgerPage;
  const month = await usageOf(here, 'key', { from: '2026-11-01', to: '2026-11-21' });
  const whole = await usageOf(here, 'day');
  const lines: string[][] = [];
  for (const one of wallet.months) lines.push(...(await rowsOfMonth(here, one)));
  const amounts = lines.map((cells) => [cells[1] ?? '', micros(Number(cells[2]))] as const);
  const sumOf = (kinds: RegExp): number =>
    amounts.reduce((sum, [kind, amount]) => (kinds.test(kind) ? sum + amount : sum), 0);
  expect(amounts).toHaveLength(expected.rows);
  expect(sumOf(/./)).toBe(expected.availableMicros);
  expect(micros(home.available)).toBe(expected.availableMicros);
  expect(micros(wallet.data[0]?.available ?? 0)).toBe(expected.availableMicros);
  expect(micros(wallet.balance)).toBe(sumOf(/^(?!credit_line)/));
  expect(micros(whole.total.spent)).toBe(0 - sumOf(/charge|refund/));
  expect(micros(home.spent_this_month)).toBe(micros(month.total.spent));
  const file = await ask(exportUsage, here, { query: { ...wholeYear, by: 'user' } });
  const users = (file.text ?? '').split('\r\n').slice(1);
  const spent = users.map((line) => micros(Number(line.split(',').at(-1))));
  expect(spent.reduce((sum, one) => sum + one, 0)).toBe(micros(whole.total.spent));
  const { counted, differences } = await auditOf(year.table, accountId);
  expect(differences).toEqual([]);
  expect(counted.rows).toBe(expected.rows);
}

/** The cells of every line of a month, of all parts. */
async function rowsOfMonth(here: Here, month: string): Promise<string[][]> {
  const rows: string[][] = [];
  let cursor: string | undefined;
  do {
    const query = { month, ...(cursor !== undefined && { cursor }) };
    const part = await ask(exportLedger, here, { query });
    expect(Buffer.byteLength(JSON.stringify({ body: part.text }))).toBeLessThan(5_000_000);
    const lines = (part.text ?? '').split('\r\n').slice(0, -1);
    rows.push(...lines.slice(cursor === undefined ? 1 : 0).map((line) => line.split(',')));
    cursor = part.headers?.['x-next-cursor'];
  } while (cursor !== undefined);
  return rows;
}
