/** The budget of an account for a month. */
import { describe, expect, it } from 'vitest';
import { budgetVersion } from '../../service/accounts/version.ts';
import { asMicros } from '../../service/values/money.ts';
import { inBetween, loseAnswerOf } from './portal-fixture.ts';
import { type Answered, fieldsOf, openWholePortal } from './whole-portal.ts';

describe('The budget of a month', () => {
  it('is set and removed by owners and finance, is shown with the spend, and refuses no charge', async () => {
    const portal = openWholePortal();
    const account = await portal.openAccount('Acc0unt001');
    const finance = await portal.signIn('finance@studio.test', account, 'finance');
    const owner = await portal.signIn('owner@studio.test', account, 'owner');
    const set = (monthly_budget: unknown, version: string, as = finance): Promise<Answered> =>
      portal.ask('setBudget', { as, body: { monthly_budget, version } });
    const none = budgetVersion({});
    loseAnswerOf(portal, 'ACCOUNT"');
    const first = await set(0.05, none);
    expect([first.status, first.body]).toEqual([
      200,
      { monthly_budget: 0.05, version: budgetVersion({ monthlyBudgetMicros: asMicros(50_000) }) },
    ]);
    const body = { model: 'sandbox-standard', prompt: 'a lake' };
    for (let count = 0; count < 2; count += 1)
      expect((await portal.ask('createCreation', { as: owner, body })).status).toBe(202);
    const { month } = (await portal.ask('getUsage', { as: finance })).body;
    expect(month).toMatchObject({ spent: 0.08, budget: { monthly_budget: 0.05 } });
    const home = (await portal.ask('getHome', { as: owner })).body;
    expect([home.monthly_budget, home.spent_this_month]).toEqual([0.05, 0.08]);
    expect((await set(7, none)).body.error.details.reason).toBe('changed_meanwhile');
    expect((await set(null, month.budget.version, owner)).body.monthly_budget).toBeNull();
    expect((await portal.accounts.read(account))?.monthlyBudgetMicros).toBeUndefined();
    for (const wrong of [0, -1, 'x', 1e12])
      expect(fieldsOf(await set(wrong, none))).toEqual(['monthly_budget']);
  });

  it('is notified at once when it is set below the spend of the month', async () => {
    const portal = openWholePortal();
    const account = await portal.openAccount('Acc0unt001', { noticeUrl: 'https://hooks.test/n' });
    const owner = await portal.signIn('owner@studio.test', account, 'owner');
    const body = { model: 'sandbox-standard', prompt: 'a lake' };
    expect((await portal.ask('createCreation', { as: owner, body })).status).toBe(202);
    const set = (amount: number, before?: number): Promise<Answered> => {
      const read = before === undefined ? {} : { monthlyBudgetMicros: asMicros(before * 1_000_000) };
      return portal.ask('setBudget', {
        as: owner,
        body: { monthly_budget: amount, version: budgetVersion(read) },
      });
    };
    expect((await set(0.06)).status).toBe(200);
    expect((await portal.accounts.read(account))?.toldBudget).toBeUndefined();
    expect((await set(0.05, 0.06)).status).toBe(200);
    expect((await portal.accounts.read(account))?.toldBudget).toMatchObject({ level: 80 });
  });

  it('Of two who set it at once one is refused', async () => {
    const portal = openWholePortal();
    const account = await portal.openAccount('Acc0unt001');
    const owner = await portal.signIn('owner@studio.test', account, 'owner');
    const set = (amount: number): Promise<Answered> =>
      portal.ask('setBudget', {
        as: owner,
        body: { monthly_budget: amount, version: budgetVersion({}) },
      });
    const [late, early] = await inBetween(
      portal,
      'ACCOUNT"',
      () => set(5),
      () => set(7),
    );
    expect([late.status, early.status]).toEqual([409, 200]);
    expect((await portal.accounts.read(account))?.monthlyBudgetMicros).toBe(7_000_000);
  });
});
