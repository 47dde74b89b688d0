/**
 * Two tabs with the same form, on the whole service: the second one brings back nothing that the first one
 * changed.
 */
import type { Locator, Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { asMicros } from '../../service/values/money.ts';
import { demoEmail } from '../../start/demo-account.ts';
import { startBrowser } from '../fixtures/browser.ts';
import { invite } from '../fixtures/portal.ts';
import { sharedTestService } from '../fixtures/service.ts';

const account = () => service.demo.accountId;

const [service, browser] = await Promise.all([sharedTestService(), startBrowser()]);
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
const tabs = [await context.newPage(), await context.newPage()] as const;
await tabs[0].goto(service.machine.portalUrl);
await tabs[0].getByRole('link', { name: 'Sign in' }).click();
await tabs[0].getByRole('button', { name: demoEmail }).click();
await tabs[0].getByRole('heading', { level: 1, name: 'Home' }).waitFor();
afterAll(async () => {
  await browser.close();
  await service.end();
});

/** Opens the page in both tabs, and in each the form that the button opens. Resolves with the two forms. */
async function forms(path: string, opener?: string): Promise<readonly [Locator, Locator]> {
  const open = async (page: Page): Promise<Locator> => {
    await page.goto(new URL(path, service.machine.portalUrl).href);
    if (opener === undefined) return page.locator('#notices form');
    await page.getByRole('button', { name: opener, exact: true }).click();
    return page.getByRole('dialog').locator('form');
  };
  return [await open(tabs[0]), await open(tabs[1])];
}
const field = (form: Locator, name: string): Locator => form.getByRole('textbox', { name, exact: true });
const press = async (form: Locator, name: string): Promise<void> =>
  form.getByRole('button', { name, exact: true }).click();
/** Saves in the first tab. */
async function save(form: Locator): Promise<void> {
  await press(form, 'Save');
  await form.waitFor({ state: 'detached' });
}
/** Saves in the second tab, which the service refuses. Waits for what the first tab stored. */
async function saveLate(form: Locator, theirs?: string): Promise<void> {
  await press(form, 'Save');
  await form.getByRole('alert').waitFor();
  if (theirs !== undefined) await form.getByText(`Somebody stored meanwhile: ${theirs}`).waitFor();
}

describe('Of two tabs with the form of', () => {
  it('a key, the second keeps the cap that the first has set, or chooses its own', async () => {
    const page = tabs[0];
    await page.goto(new URL('keys', service.machine.portalUrl).href);
    await page.getByRole('button', { name: 'Create a key' }).click();
    await field(page.getByRole('dialog'), 'Name').fill('Two tabs');
    await field(page.getByRole('dialog'), 'Monthly cap (USD)').fill('100');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByLabel('I have stored it').check();
    await page.getByRole('button', { name: 'Done' }).click();
    const stored = async () =>
      (await service.operator.accounts.listKeys(account())).find(({ name }) => name.startsWith('Two tabs'));

    const [first, second] = await forms('keys', 'Change Two tabs');
    await field(first, 'Monthly cap (USD)').fill('10');
    await field(second, 'Name').fill('Two tabs, renamed');
    await save(first);
    await saveLate(second);
    await expect.poll(() => field(second, 'Monthly cap (USD)').inputValue()).toBe('10');
    await save(second);
    expect(await stored()).toMatchObject({ name: 'Two tabs, renamed', monthlyCapMicros: 10_000_000 });

    const [third, fourth] = await forms('keys', 'Change Two tabs, renamed');
    await field(third, 'Monthly cap (USD)').fill('20');
    await field(fourth, 'Monthly cap (USD)').fill('30');
    await save(third);
    await saveLate(fourth, '$20');
    expect(await fourth.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await press(fourth, 'Keep mine: Monthly cap (USD)');
    await save(fourth);
    expect(await stored()).toMatchObject({ monthlyCapMicros: 30_000_000 });
  });

  it('a person, the second keeps the role that the first has set', async () => {
    await invite(service.operator.people, account(), 'dev@tabs.test', 'developer');
    const other = await browser.newPage();
    await other.goto(service.machine.portalUrl);
    await other.getByRole('link', { name: 'Sign in' }).click();
    await other.getByRole('textbox').first().fill('dev@tabs.test');
    await other.getByRole('textbox').first().press('Enter');
    await other.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await other.close();
    const [first, second] = await forms('people', 'Change dev@tabs.test');
    await first.getByLabel('Role').selectOption('viewer');
    await field(second, 'Largest monthly cap of a key (USD)').fill('5');
    await save(first);
    await press(second, 'Save');
    await second.getByRole('alert').waitFor();
    await expect.poll(() => second.getByLabel('Role').inputValue()).toBe('viewer');
    expect(await second.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    const members = await service.operator.people.listMembers(account());
    expect(members.find(({ email }) => email === 'dev@tabs.test')?.role).toBe('viewer');
  });

  it('the notices, the second keeps the address that the first has set', async () => {
    const [first, second] = await forms('wallet');
    await field(first, 'Notices go to').fill(service.machine.inboxUrl);
    await field(second, 'Notify when less is available than (USD)').fill('3');
    await press(first, 'Save');
    await tabs[0].getByText('The notices are saved.').waitFor();
    await saveLate(second);
    await expect.poll(() => field(second, 'Notices go to').inputValue()).toBe(service.machine.inboxUrl);
    await press(second, 'Save');
    await tabs[1].getByText('The notices are saved.').waitFor();
    expect(await service.account(account())).toMatchObject({
      noticeUrl: service.machine.inboxUrl,
      lowBalanceMicros: asMicros(3_000_000),
    });
  });

  it('the limits of an account, the second keeps the name that the first has set', async () => {
    const [first, second] = await forms(`operator/accounts/${account()}`, 'Change limits');
    await field(first, 'Name').fill('Renamed');
    await field(first, 'Unused uploads').fill('50');
    await field(second, 'Unused uploads').fill('60');
    await save(first);
    await saveLate(second, '50');
    expect(await field(second, 'Name').inputValue()).toBe('Renamed');
    await press(second, 'Take it: Unused uploads');
    await field(second, 'Creations at the same time').fill('19');
    await save(second);
    expect(await service.account(account())).toMatchObject({
      name: 'Renamed',
      limits: { maxUnusedUploads: 50, maxConcurrent: 19 },
    });
  });

  it('the condition of an account, the second sees what the first has done before it acts', async () => {
    const path = `operator/accounts/${account()}`;
    const [first, second] = await forms(path, 'Suspend');
    await press(first, 'Suspend the account');
    await first.waitFor({ state: 'detached' });
    await press(second, 'Suspend the account');
    await second.getByRole('alert').waitFor();
    await second.getByText('The account is now suspended').waitFor();
    expect(await second.getByRole('button', { name: 'Suspend the account' }).isDisabled()).toBe(true);
    await service.operator.accounts.change(account(), { condition: 'active' });
  });
});
