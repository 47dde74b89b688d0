/** What somebody with the role finance sees, and the statement of a month, in a real browser. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { keyboardOf } from './keyboard.ts';
import { startPortalPage } from './stub/portal-page.ts';

const portal = await startPortalPage();
const { page, stub } = portal;
afterAll(() => portal.end());
beforeEach(() => portal.reset());

function asFinance(): void {
  const { me } = stub.samples;
  const account = me.account && { ...me.account, role: 'finance' as const };
  stub.answer('getMe', () => ({ ...me, account, is_operator: false }));
}

describe('Finance', () => {
  it('begins with the wallet, and has money in the menu and nothing else', async () => {
    asFinance();
    await portal.open('', 'Wallet');
    await page.getByRole('columnheader', { name: 'Available after' }).waitFor();
    const menu = page.getByRole('navigation', { name: 'Portal' });
    expect(await menu.getByRole('link').allTextContents()).toEqual(['Wallet', 'Statement', 'Usage']);
    expect(await page.locator('td a[href*="/creations/"]').count()).toBe(0);
    expect(await portal.violations()).toEqual([]);
    const refused = stub.received.map(({ operation }) => operation);
    expect([...new Set(refused)].sort()).toEqual([
      'getAlerts',
      'getAutoTopUp',
      'getEmails',
      'getMe',
      'listLedger',
      'listPayments',
    ]);
    await portal.follow('keys', 'Not for your role');
    await portal.follow('creations', 'Not for your role');
  });
});

describe('The statement', () => {
  it('is chosen, printed and saved by the keyboard alone', async () => {
    asFinance();
    await page.addInitScript('window.print = () => { window.printed = (window.printed ?? 0) + 1; }');
    await portal.open('statement', 'Statement');
    const keyboard = keyboardOf(page);
    await keyboard.press(/^Print$/);
    expect(await page.evaluate('window.printed')).toBe(1);
    const saved = async (name: RegExp): Promise<string> => {
      const download = page.waitForEvent('download');
      await keyboard.press(name);
      return readFile(await (await download).path(), 'utf8');
    };
    expect(JSON.parse(await saved(/^Download JSON$/))).toEqual(stub.samples.statement);
    expect((await saved(/^Download CSV$/)).split('\r\n')).toEqual([
      'what,count,amount_usd',
      '"Opening balance",,100.000000',
      '"Charges: sandbox-standard",300,-13.500000',
      '"Charges: sandbox-sketch",120,-1.200000',
      '"Refunds: sandbox-standard",2,0.090000',
      '"Top-up",,50.000000',
      '"Closing balance",,135.390000',
      '',
    ]);
    await keyboard.reach(/^Month$/);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => stub.received.at(-1)?.query).toBe('?month=2026-10');
    expect(portal.complaints).toEqual([]);
  });

  it('on paper has its lines and nothing to press, black on white', async () => {
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await portal.open('statement', 'Statement');
    await page.getByText('Closing balance').waitFor();
    for (const hidden of ['.menu', '.page-head .actions', '.filters'])
      expect(await page.locator(hidden).first().isVisible(), hidden).toBe(false);
    const ink = await page.evaluate<string>('getComputedStyle(document.querySelector("main td")).color');
    const [red = 255] = ink.match(/\d+/g)?.map(Number) ?? [];
    expect(red).toBeLessThan(80);
    expect(await portal.violations()).toEqual([]);
    await page.emulateMedia({ media: 'screen' });
  });

  it('fits a phone and 200 % with long names', async () => {
    const { statement } = stub.samples;
    const model = 'a-model-with-a-very-long-name-that-nobody-would-choose'.repeat(2);
    const charges = statement.charges.map((line) => ({ ...line, model }));
    stub.answer('getStatement', () => ({ ...statement, charges, account: { id: 'a', name: model } }));
    for (const width of [390, 640]) {
      await page.setViewportSize({ width, height: 844 });
      await portal.open('statement', 'Statement');
      await page.getByText('Closing balance').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });
});

describe('The usage', () => {
  it('says what the month will cost and how that is computed, and offers ranges of days', async () => {
    await portal.open('usage', 'Usage');
    await page.getByText('about $174.12 at its end, by the mean of the last seven days').waitFor();
    expect(await page.getByLabel('Days (UTC)').locator('option').allInnerTexts()).toEqual([
      ...['Last 7 days', 'Last 30 days', 'Last 90 days', 'Last year', 'Custom range'],
    ]);
  });

  it('has the budget of the month, which finance changes by the keyboard, and two people see each other', async () => {
    asFinance();
    await portal.open('usage', 'Usage');
    await page.getByText('84 % of the month’s budget is spent.').waitFor();
    const keyboard = keyboardOf(page);
    await keyboard.press(/^Change the budget$/);
    await keyboard.write(/^Budget of a month \(USD\)$/, '150');
    expect(await portal.violations('dialog')).toEqual([]);
    const usage = stub.samples.usage('day');
    const budget = { monthly_budget: 200, version: 'v2' };
    stub.answer('getUsage', () => ({ ...usage, month: { ...usage.month, budget } }));
    const details = { reason: 'changed_meanwhile' };
    stub.refuse('setBudget', { status: 409, code: 'ERR_CONFLICT', message: 'Somebody changed it.', details });
    await keyboard.press(/^Save$/);
    await page.getByText('Somebody stored meanwhile: $200.00').waitFor();
    stub.answer('setBudget', ({ body }) => body);
    await keyboard.press(/^Keep mine: Budget/);
    await keyboard.press(/^Save$/);
    await page.getByText('The budget is saved.').waitFor();
    const sent = stub.received.filter(({ operation }) => operation === 'setBudget').map(({ body }) => body);
    expect(sent).toEqual([
      { monthly_budget: 150, version: 'v1' },
      { monthly_budget: 150, version: 'v2' },
    ]);
  });

  it.each([
    [100, null, 'The budget of the month is used up.'],
    [400, 500, 'At this pace the month exceeds its budget.'],
  ])('of a budget of %s says what has to be told', async (monthly_budget, at_end, words) => {
    const usage = stub.samples.usage('day');
    const budget = { monthly_budget, version: 'v1' };
    stub.answer('getUsage', () => ({ ...usage, month: { ...usage.month, at_end, budget } }));
    await portal.open('usage', 'Usage');
    await page.getByText(words).waitFor();
  });
});
