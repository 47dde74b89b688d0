import { describe, expect, it } from 'vitest';
import { auditAccount, type AuditedAccount, type ClosingUse } from '../../service/audit/audit-accounts.ts';
import { closableMonth } from '../../service/audit/closings.ts';
import type { CheckState } from '../../service/audit/check-account.ts';
import { asMicros } from '../../service/values/money.ts';
import { closingsInMemory } from '../fixtures/closings.ts';
import { accountId, keyId } from '../fixtures/records.ts';
import { costMicros, workingAccount, type WorkingAccount } from './working-account.ts';

const turn = Date.UTC(2026, 11, 1);
const secondDay = turn + 86_400_000;
const oneCost = asMicros(0 - costMicros);

type Closings = ReturnType<typeof closingsInMemory>;

/** November with ten creations. The last one fails in December, where five more follow. */
function twoMonths(): WorkingAccount {
  const account = workingAccount();
  for (let number = 0; number < 9; number += 1) account.complete(account.charge());
  account.setNow(turn - 2_000);
  const late = account.charge();
  account.setNow(turn + 5_000);
  account.refund(late);
  for (let number = 0; number < 5; number += 1) account.complete(account.charge());
  account.setNow(secondDay);
  return account;
}

async function audit(
  account: WorkingAccount,
  closings: Closings,
  use: ClosingUse,
  isTimeUp: () => boolean = () => false,
): Promise<AuditedAccount> {
  let state: CheckState | undefined;
  for (;;) {
    const run = {
      books: account.books,
      closings: { ...closings, use },
      nowMillis: () => account.nowMillis(),
      pause: () => Promise.resolve(),
      isTimeUp,
    };
    const audited = await auditAccount(accountId, run, state);
    if (!('unfinished' in audited)) return audited;
    state = JSON.parse(JSON.stringify(audited.unfinished)) as CheckState;
  }
}

async function closed(account: WorkingAccount): Promise<Closings> {
  const closings = closingsInMemory('compared');
  expect(await audit(account, closings, 'compared')).toMatchObject({ differences: [], rows: 16 });
  return closings;
}

const namesOf = ({ differences }: AuditedAccount): string[] => differences.map(({ what }) => what).sort();

describe('the closing balance of a month', () => {
  it('A whole count closes the month with its charges and their later refunds', async () => {
    const { kept } = await closed(twoMonths());
    expect([...kept.values()]).toEqual([
      { month: '2026_11', rows: 11, availableMicros: 9 * oneCost, creditLineMicros: 0 },
    ]);
  });

  it.each([
    ['2026-12-01T23:59:59.999Z', '2026_10'],
    ['2026-12-02T00:00:00.000Z', '2026_11'],
    ['2027-01-01T12:00:00.000Z', '2026_11'],
    ['2027-01-02T00:00:00.000Z', '2026_12'],
  ])('At %s the last month that can be closed is %s', (time, month) => {
    expect(closableMonth(Date.parse(time))).toBe(month);
  });

  it('The daily count reads only the rows after the closing balance', async () => {
    const account = twoMonths();
    const closings = await closed(account);
    expect(await audit(account, closings, 'trusted')).toMatchObject({
      differences: [],
      rows: 5,
      creations: 5,
    });
  });

  it('A daily count in several parts counts the same', async () => {
    const account = twoMonths();
    const closings = await closed(account);
    let pages = 0;
    const everySecond = (): boolean => (pages += 1) % 2 === 1;
    expect(await audit(account, closings, 'trusted', everySecond)).toMatchObject({
      differences: [],
      rows: 5,
      creations: 5,
    });
  });

  it('The daily count finds what is wrong after the closing balance', async () => {
    const account = twoMonths();
    const closings = await closed(account);
    account.add({ availableMicros: 1 });
    expect(namesOf(await audit(account, closings, 'trusted'))).toEqual(['available']);
    account.changeRow(15, { amountMicros: asMicros(0 - costMicros - 1) });
    expect(namesOf(await audit(account, closings, 'trusted'))).toContain(`spend of key ${keyId} in 2026_12`);
  });

  it('A row that changed in a closed month passes the daily count and is found by the whole count', async () => {
    const account = twoMonths();
    const closings = await closed(account);
    account.changeRow(3, { amountMicros: asMicros(0 - costMicros - 1) });
    expect(await audit(account, closings, 'trusted')).toMatchObject({ differences: [] });
    expect(namesOf(await audit(account, closings, 'compared'))).toContain('closing balance of 2026_11');
  });

  it('A row and a balance that changed together do not differ, but the closing balance shows the change', async () => {
    const account = workingAccount();
    account.addRow({ kind: 'adjustment', amountMicros: asMicros(0) });
    account.setNow(secondDay);
    const closings = closingsInMemory('compared');
    await audit(account, closings, 'compared');
    account.changeRow(0, { amountMicros: asMicros(500_000) });
    account.add({ availableMicros: 500_000 });
    const [difference, ...others] = (await audit(account, closings, 'compared')).differences;
    expect(others).toEqual([]);
    expect(difference).toEqual({
      account: accountId,
      what: 'closing balance of 2026_11',
      expected: 500_000,
      found: 0,
    });
  });

  it('A refund whose clock is a minute behind that of its charge is counted with the charge', async () => {
    const account = twoMonths();
    account.setNow(turn + 100_000);
    const id = account.charge();
    account.setNow(turn - 60_000);
    account.refund(id);
    account.setNow(secondDay);
    const closings = closingsInMemory('compared');
    await audit(account, closings, 'compared');
    expect(await audit(account, closings, 'trusted')).toMatchObject({ differences: [], creations: 6 });
  });

  it('An account with an open creation of the month is not closed', async () => {
    const account = workingAccount();
    account.complete(account.charge());
    account.charge();
    account.setNow(secondDay);
    const closings = closingsInMemory('compared');
    expect((await audit(account, closings, 'compared')).differences).toEqual([]);
    expect(closings.kept.size).toBe(0);
  });

  it('An account that differs is not closed', async () => {
    const account = twoMonths();
    account.add({ availableMicros: 1 });
    const closings = closingsInMemory('compared');
    expect(namesOf(await audit(account, closings, 'compared'))).toEqual(['available']);
    expect(closings.kept.size).toBe(0);
  });

  it('A wrong closing balance is found by the next daily count, and stays until an operator renews it', async () => {
    const account = twoMonths();
    const closings = await closed(account);
    const [right] = closings.kept.values();
    if (!right) throw new Error('the month is closed');
    closings.kept.set('2026_11', { ...right, availableMicros: right.availableMicros + 7 });
    for (const use of ['trusted', 'compared', 'trusted'] as const)
      expect(namesOf(await audit(account, closings, use))).toEqual(['closing balance of 2026_11']);
    expect(namesOf(await audit(account, closings, 'renewed'))).toEqual([]);
    expect(closings.kept.get('2026_11')).toEqual(right);
    expect(namesOf(await audit(account, closings, 'trusted'))).toEqual([]);
  });

  it('A row that an inconsistent read misses is counted by the second count', async () => {
    const account = twoMonths();
    const closings = await closed(account);
    account.complete(account.charge());
    account.setNow(secondDay + 86_400_000);
    account.hideRow(13);
    expect(await audit(account, closings, 'trusted')).toMatchObject({ differences: [], rows: 17 });
  });
});
