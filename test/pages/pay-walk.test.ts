/**
 * People pay on the wallet page, in a real browser against the whole service, with the fake of Stripe and each of its
 * ways to pay.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '../../admin/commands/accounts.ts';
import { runAdmin } from '../../admin/program.ts';
import type { CardName } from '../../local/stripe/cards.ts';
import { startBrowser } from '../fixtures/browser.ts';
import { startTestService } from '../fixtures/service.ts';

const email = 'payer@walk.test';

const [service, browser] = await Promise.all([startTestService({ takesPayments: true }), startBrowser()]);
const account = await createAccount(service.operator, { name: 'Payer', balance: '0' });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
const page = await context.newPage();
/** What the browser complained about: errors of scripts, and what the content security policy refused. */
const complaints: string[] = [];
context.on('page', (opened) => opened.on('pageerror', (error) => complaints.push(error.message)));
afterAll(async () => {
  await browser.close();
  await service.end();
});

const walletUrl = new URL('wallet', service.machine.portalUrl).href;
const main = (on: Page) => on.getByRole('main');
const sees = async (on: Page, text: string | RegExp): Promise<void> =>
  main(on).getByText(text).filter({ visible: true }).first().waitFor();
const available = async (): Promise<number> =>
  (await service.account(account.id)).availableMicros / 1_000_000;

async function openWallet(on: Page): Promise<void> {
  await on.goto(walletUrl);
  await on.getByRole('heading', { name: 'Notices by e-mail' }).waitFor();
}

/** Goes to the page of Stripe with this amount. */
async function begin(on: Page, amount: string, savesCard = false): Promise<void> {
  await main(on).getByRole('button', { name: 'Add money', exact: true }).click();
  const dialog = on.getByRole('dialog');
  await dialog.getByLabel('Amount (USD)').fill(amount);
  if (savesCard) await dialog.getByLabel('Save this card').check();
  await dialog.getByRole('button', { name: /^Pay / }).click();
  await on.getByText('This page stands in for Stripe.').waitFor();
}

const payWith = (on: Page, card: CardName): Promise<void> => on.locator(`button[value="${card}"]`).click();

/** An account begins ten payments an hour. A session without a request ends after an hour. */
async function passHour(): Promise<void> {
  service.jump(1_900);
  await openWallet(page);
  service.jump(1_900);
  await openWallet(page);
}

const newestRow = (on: Page) =>
  main(on).getByRole('table', { name: 'Payments, the newest first' }).getByRole('row').nth(1);

it('An operator invites an owner, who signs in and finds an empty wallet in test mode', async () => {
  const said = { print: () => undefined, complain: () => undefined };
  const invite = ['people', 'invite', account.id, '--email', email, '--role', 'owner'];
  expect(await runAdmin(['--data', service.folder, ...invite], said)).toBe(0);
  await page.goto(walletUrl);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: new RegExp(email) }).click();
  await sees(page, 'No payment yet');
  await sees(page, 'Test mode: no money is real');
});

describe('With each card of the fake', () => {
  beforeEach(() => openWallet(page));

  it.each([
    'pays',
    'authentication',
    'later_declined',
    'later_expired',
    'refund_pending',
    'refund_fails',
  ] as const)('that pays (%s) the page shows the money without a reload', async (card) => {
    const before = await available();
    await begin(page, '12.50');
    await payWith(page, card);
    await sees(page, 'Payment received: $12.50.');
    await sees(page, `$${(before + 12.5).toFixed(2)}`);
    expect(await available()).toBe(before + 12.5);
    expect(new URL(page.url()).search).toBe('');
    expect(await newestRow(page).innerText()).toMatch(/received\s+Receipt/);
  });

  it.each(['declined', 'insufficient_funds', 'expired'] as const)(
    'that does not pay (%s) Stripe says why, nothing moves, and the way back does no harm',
    async (card) => {
      const before = await available();
      await begin(page, '20');
      await payWith(page, card);
      await page.getByRole('alert').waitFor();
      await page.getByRole('link', { name: 'Cancel and go back' }).click();
      await newestRow(page).getByText('not paid yet').waitFor();
      expect(await available()).toBe(before);
    },
  );

  it('the receipt of a payment opens in a tab of its own', async () => {
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      main(page)
        .getByRole('link', { name: /^Receipt for/ })
        .first()
        .click(),
    ]);
    await tab.getByText('Stripe would show the receipt of').waitFor();
    await tab.close();
  });

  it.each([
    ['bank_succeeds', 'Payment received: $30.00.', 30],
    ['bank_fails', 'The payment of $30.00 failed, and the wallet got nothing. Try another card.', 0],
  ] as const)('that takes minutes (%s) the page waits for the end', async (card, words, gained) => {
    await passHour();
    const before = await available();
    await begin(page, '30');
    await payWith(page, card);
    await sees(page, 'Your payment of $30.00 is on its way.');
    await newestRow(page).getByText('on its way').waitFor();
    expect(await available()).toBe(before);
    await service.machine.advance(10 * 60);
    await sees(page, words);
    expect(await available()).toBe(before + gained);
  });
});

describe('A person who does not come back', () => {
  beforeEach(passHour);

  it('closes the page in the middle: what was paid is in the wallet, and what was not is not', async () => {
    const before = await available();
    const tab = await context.newPage();
    await openWallet(tab);
    await begin(tab, '15');
    const unpaid = await context.newPage();
    await openWallet(unpaid);
    await begin(unpaid, '16');
    await unpaid.close();
    // The way back never arrives.
    await tab.route('**/wallet?payment=*', (route) => route.abort());
    await payWith(tab, 'pays');
    await expect.poll(available).toBe(before + 15);
    await tab.close();
    await openWallet(page);
    await newestRow(page).getByText('$16.00').waitFor();
    await newestRow(page).getByText('not paid yet').waitFor();
    // A page of Stripe lives for half an hour.
    await service.machine.advance(40 * 60);
    await newestRow(page).getByText('not paid', { exact: true }).waitFor();
    expect(await available()).toBe(before + 15);
  });
});

describe('Two tabs', () => {
  beforeEach(passHour);

  it('pay at once, and each payment is in the wallet once', async () => {
    const before = await available();
    const tabs = [await context.newPage(), await context.newPage()];
    await Promise.all(tabs.map((tab) => openWallet(tab)));
    await Promise.all(tabs.map((tab, index) => begin(tab, String(40 + index))));
    await Promise.all(tabs.map((tab) => payWith(tab, 'pays')));
    await Promise.all(tabs.map((tab, index) => sees(tab, `Payment received: $${40 + index}.00.`)));
    expect(await available()).toBe(before + 81);
    // The same way back once more pays nothing twice.
    const { data } = (await (
      await context.request.get(new URL('/api/portal/v1/payments', walletUrl).href)
    ).json()) as {
      data: readonly { readonly id: string }[];
    };
    await page.goto(`${walletUrl}?payment=${data[0]?.id ?? ''}`);
    await sees(page, /^Payment received: \$4[01]\.00\.$/);
    expect(await available()).toBe(before + 81);
    expect(await service.audit()).toEqual([]);
    await Promise.all(tabs.map((tab) => tab.close()));
  });
});

describe('The automatic top-up', () => {
  beforeEach(passHour);

  it('is set up after a fresh sign-in, stops when the bank asks, and goes on with another saved card', async () => {
    await openWallet(page);
    await begin(page, '10', true);
    await payWith(page, 'authentication');
    await sees(page, 'Payment received: $10.00.');
    const before = await available();
    await main(page).getByRole('button', { name: 'Set it up' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('When less is available than').fill('900');
    await dialog.getByLabel('The card adds').fill('900');
    await dialog.getByLabel('In a month at most').fill('1000');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Sign in and continue' }).click();
    await page.getByRole('button', { name: new RegExp(email) }).click();
    await sees(page, '$0.00 of at most $1,000.00');
    await sees(page, 'Visa …3184');
    await service.machine.advance(120);
    await openWallet(page);
    await sees(page, 'The bank wants you to confirm the payment.');
    await newestRow(page).getByText('failed').waitFor();
    expect(await available()).toBe(before);
    await main(page).getByRole('button', { name: 'Add money and save the card' }).click();
    await dialog.getByRole('button', { name: 'Pay $25.00' }).click();
    await payWith(page, 'pays');
    await sees(page, 'Payment received: $25.00.');
    await sees(page, 'Visa …4242');
    await main(page).getByText('The bank wants you to confirm the payment.').waitFor({ state: 'detached' });
    await service.machine.advance(120);
    await expect.poll(available).toBe(before + 925);
    await openWallet(page);
    await newestRow(page).getByText('Automatic top-up').waitFor();
    await sees(page, 'Another $900.00 would exceed the monthly maximum');
    expect(await service.audit()).toEqual([]);
  });
});

it('No script failed on any page', () => {
  expect(complaints).toEqual([]);
});
