/** How people add money to the wallet, and what they see of their payments, in a real browser. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { AutoTopUpView, PaymentView } from '../../service/contract/portal-views.ts';
import { keyboardOf } from './keyboard.ts';
import { startPortalPage } from './stub/portal-page.ts';

const portal = await startPortalPage();
const { page, stub } = portal;
const keyboard = keyboardOf(page);
afterAll(() => portal.end());
beforeEach(() => portal.reset());

const sent = (operation: string) => stub.received.filter((one) => one.operation === operation);
const main = () => page.getByRole('main');
const dialog = () => page.getByRole('dialog');
const addMoney = () => main().getByRole('button', { name: 'Add money', exact: true });

/** A second of the page's clock, and a question to the stub, so that what was asked before is answered. */
async function passSecond(): Promise<void> {
  await page.clock.runFor(1_000);
  await page.evaluate("fetch('favicon.svg').then((answer) => answer.text())");
}

function as(role: 'owner' | 'viewer'): void {
  const { me } = stub.samples;
  const account = me.account && { ...me.account, role };
  stub.answer('getMe', () => ({ ...me, account, is_operator: false }));
}

const [sample] = stub.samples.payments;
if (sample === undefined) throw new Error('There is no sample of a payment.');
const paid = { state: 'succeeded', credited: sample.amount, has_receipt: true } as const;
const listing = (data: readonly PaymentView[], rest: object = {}) => ({
  ...{ data, next_cursor: null, test_mode: false, is_closed: false, least: 5, largest: 1000, ...rest },
});

describe('Adding money', () => {
  it('begins a payment by the keyboard alone, and goes to the page of Stripe', async () => {
    await portal.open('wallet', 'Wallet');
    await keyboard.press(/^Add money$/);
    await keyboard.press(/^\$50$/);
    await keyboard.reach(/^Pay \$50\.00$/);
    for (const wrong of ['4.99', '1000.01', '25.001', 'ten']) {
      await keyboard.write(/^Amount \(USD\)$/, wrong);
      await dialog().getByText('An amount in whole cents, from $5.00 to $1,000.00.').waitFor();
      expect(await dialog().getByRole('button', { name: 'Go to the payment' }).isDisabled()).toBe(true);
    }
    expect(await portal.violations('dialog')).toEqual([]);
    await keyboard.write(/^Amount \(USD\)$/, '42.50');
    await keyboard.tick(/^Save this card/);
    await keyboard.press(/^Pay \$42\.50$/);
    await expect.poll(() => stub.visited).toEqual(['GET /stub/stripe']);
    expect(sent('beginPayment').map(({ body }) => body)).toEqual([{ amount: 42.5, save_card: true }]);
    // Until the other page is there, a second press begins no second payment.
    await page.keyboard.press('Enter');
    expect(await dialog().getByRole('button', { name: 'Working…' }).isVisible()).toBe(true);
    expect(sent('beginPayment')).toHaveLength(1);
  });

  it('is as it was before when the person comes back by the button of the browser', async () => {
    await portal.open('wallet', 'Wallet');
    await addMoney().click();
    await dialog().getByRole('button', { name: 'Pay $25.00' }).click();
    await expect.poll(() => stub.visited).toHaveLength(1);
    // The browser shows the page as it was left.
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await dialog().waitFor({ state: 'detached' });
    await addMoney().click();
    await dialog().getByRole('button', { name: 'Pay $25.00' }).waitFor();
    expect(sent('beginPayment')).toHaveLength(1);
  });

  it.each([
    [
      {
        status: 409,
        code: 'ERR_CONFLICT',
        message: 'Payments are closed after a dispute: ask the operator.',
      },
      'Payments are closed after a dispute: ask the operator.',
    ],
    [
      {
        ...{ status: 429, code: 'ERR_RATE_LIMIT', message: 'An account begins at most 10 payments an hour.' },
        headers: { 'retry-after': '1790' },
      },
      'An account begins at most 10 payments an hour. Try again in 30 minutes.',
    ],
    [
      { status: 503, code: 'ERR_PROVIDER_UNAVAILABLE', message: 'Nothing was paid: try again in a minute.' },
      'Nothing was paid: try again in a minute.',
    ],
  ])('says in the dialog why the service refuses with $status', async (refusal, words) => {
    stub.refuse('beginPayment', refusal);
    await portal.show('wallet', 'Wallet');
    await addMoney().click();
    await dialog().getByRole('button', { name: 'Pay $25.00' }).click();
    const said = await dialog().getByRole('alert').innerText();
    expect(said.replaceAll(/\s+/g, ' ')).toMatch(new RegExp(`^${words}`));
    await page.keyboard.press('Escape');
  });

  it('stands beside the wrong field when the service refuses an amount', async () => {
    const errors = [{ field: 'amount', code: 'too_big', message: 'must be at most 100 USD' }];
    stub.refuse('beginPayment', {
      ...{ status: 400, code: 'ERR_VALIDATION', message: 'The body is not valid.', details: { errors } },
    });
    await portal.show('wallet', 'Wallet');
    await addMoney().click();
    await dialog().getByRole('button', { name: 'Pay $25.00' }).click();
    await dialog().locator('.field', { hasText: 'must be at most 100 USD' }).waitFor();
    await page.keyboard.press('Escape');
  });
});

describe('Coming back from the page of Stripe', () => {
  it('asks until the payment has ended, shows the new balance without a reload, and clears the address', async () => {
    const payment: { now: PaymentView } = { now: { ...sample, state: 'open' } };
    stub.answer('getPayment', () => payment.now);
    stub.answer('listPayments', () => listing([payment.now]));
    await page.clock.install();
    await portal.open('wallet?payment=pay_1', 'Wallet');
    const notice = main().getByRole('status').filter({ hasText: '$250.00' });
    await notice.filter({ hasText: 'Not paid yet' }).waitFor();
    const load = await page.evaluate('performance.timeOrigin');
    payment.now = { ...sample, state: 'processing' };
    await page.clock.fastForward(1_000);
    await notice.filter({ hasText: 'is on its way' }).waitFor();
    expect(new URL(page.url()).search).toBe('?payment=pay_1');
    const asksIn = async (seconds: number): Promise<number> => {
      const before = sent('getPayment').length;
      for (let second = 0; second < seconds; second += 1) await passSecond();
      return sent('getPayment').length - before;
    };
    expect(await asksIn(10)).toBeGreaterThan(6);
    expect(await asksIn(50)).toBeLessThan(7);
    payment.now = { ...sample, ...paid };
    const ledger = { data: stub.samples.ledger, next_cursor: null, months: [], credit_line: 50 };
    stub.answer('listLedger', () => ({ ...ledger, available: 512.615, balance: 462.615 }));
    await page.clock.fastForward(60_000);
    await notice.filter({ hasText: 'Payment received: $250.00.' }).waitFor();
    await main().getByText('$512.615').waitFor();
    await main().getByRole('cell', { name: 'received' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    expect(await page.evaluate('performance.timeOrigin')).toBe(load);
    const last = sent('getPayment').length;
    await page.clock.fastForward(120_000);
    await passSecond();
    expect(sent('getPayment')).toHaveLength(last);
    expect(portal.complaints).toEqual([]);
  });

  it.each([
    ['failed', 'The payment of $250.00 failed, and the wallet got nothing. Try another card.'],
    ['expired', 'The payment of $250.00 was not made in time, and nothing was taken.'],
    ['held', 'Your payment of $250.00 is held: the operator checks it before the wallet gets it.'],
    ['unknown', 'Stripe does not report the outcome of your payment of $250.00. The operator checks it.'],
  ] as const)('says it when the payment is %s', async (state, words) => {
    stub.answer('getPayment', () => ({ ...sample, state }));
    await portal.show('wallet?payment=pay_1', 'Wallet');
    await main().getByText(words).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  it('in another account says that this one has no such payment', async () => {
    stub.refuse('getPayment', { status: 404, code: 'ERR_NOT_FOUND', message: 'There is no such payment.' });
    await portal.show('wallet?payment=pay_9', 'Wallet');
    await main().getByText('This account has no such payment.').waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  it('goes on asking while the service does not answer', async () => {
    stub.refuse('getPayment', { status: 503, code: 'ERR_PROVIDER_UNAVAILABLE', message: 'No answer.' });
    await portal.open('wallet?payment=pay_1', 'Wallet');
    await main().getByText('Checking your payment…').waitFor();
    await expect.poll(() => sent('getPayment').length).toBeGreaterThan(1);
    stub.answer('getPayment', () => ({ ...sample, ...paid }));
    await main().getByText('Payment received: $250.00.').waitFor();
  });
});

describe('The payments', () => {
  it('come in pages, with what was reversed and a receipt that opens in a new tab', async () => {
    await portal.open('wallet', 'Wallet');
    const card = main().locator('section', { has: page.getByRole('heading', { name: 'Payments' }) });
    const rows = card.getByRole('rowheader');
    await rows.first().waitFor();
    expect(await rows.count()).toBe(5);
    await card.getByText('$40.00 reversed').waitFor();
    const receipt = card.getByRole('link', { name: 'Receipt for $100.00 (opens in a new tab)' });
    expect(await receipt.getAttribute('href')).toBe('/api/portal/v1/payments/pay_3/receipt');
    expect(await receipt.getAttribute('target')).toBe('_blank');
    await card.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => rows.count()).toBe(stub.samples.payments.length);
    await card.getByText('all of it reversed').waitFor();
    await card.getByText('held: the operator checks it').waitFor();
  });

  it('show an end that came while the page was open, and the new balance with it', async () => {
    await page.clock.install();
    await portal.open('wallet', 'Wallet');
    await main().getByRole('cell', { name: 'on its way' }).waitFor();
    const reads = sent('listLedger').length;
    stub.answer('getPayment', () => ({ ...sample, ...paid }));
    await page.clock.runFor(5_000);
    await main().getByRole('cell', { name: 'on its way' }).waitFor({ state: 'detached' });
    await expect.poll(() => sent('listLedger').length).toBe(reads + 1);
  });

  it('of a new account are none, and only an owner adds money', async () => {
    as('viewer');
    stub.answer('listPayments', () => listing([], { test_mode: true }));
    await portal.open('wallet', 'Wallet');
    await main().getByText('An owner of the account can add money.').waitFor();
    await main().getByText('Test mode: no money is real').waitFor();
    expect(await addMoney().count()).toBe(0);
  });

  it('that the operator has not set up yet leave the wallet as it is without them', async () => {
    as('owner');
    const refused = { code: 'ERR_CONFLICT', details: { reason: 'payments_not_set_up' } };
    for (const name of ['listPayments', 'getAutoTopUp'] as const)
      stub.refuse(name, { ...refused, status: 409, message: 'The operator has not set up payments yet.' });
    await portal.open('wallet', 'Wallet');
    await main().getByText('The operator of this service tops the wallet up.').waitFor();
    await main().getByRole('columnheader', { name: 'Available after' }).waitFor();
    expect(await addMoney().count()).toBe(0);
    expect(await main().getByRole('alert').count()).toBe(0);
  });

  it('are closed after a dispute, in both themes, on a phone and at 200 %', async () => {
    as('owner');
    stub.answer('listPayments', () => listing(stub.samples.payments, { test_mode: true, is_closed: true }));
    stub.answer('getAutoTopUp', () => ({ ...stub.samples.autoTopUp, paused: 'dispute' }));
    for (const [colorScheme, width] of [
      ['dark', 390],
      ['light', 640],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await portal.open('wallet', 'Wallet');
      await main().getByText('Payments are closed after a dispute. Write to support@example.com.').waitFor();
      expect(await addMoney().isDisabled()).toBe(true);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await portal.violations(), colorScheme).toEqual([]);
    }
  });
});

describe('The automatic top-up', () => {
  const card = () =>
    main().locator('section', { has: page.getByRole('heading', { name: 'Automatic top-up' }) });
  const press = (name: string) => card().getByRole('button', { name, exact: true }).click();
  const stored = (rest: Partial<AutoTopUpView>): void =>
    stub.answer('getAutoTopUp', () => ({ ...stub.samples.autoTopUp, ...rest }));
  const none = { is_on: false, threshold: null, amount: null, monthly_cap: null, used: 0, version: 0 };
  const refusal = (details: object, message: string) =>
    ({ status: 409, code: 'ERR_CONFLICT', message, details: { ...details } }) as const;

  it('is set up by the keyboard alone, and saved after a fresh sign-in', async () => {
    stored(none);
    await portal.open('wallet', 'Wallet');
    await keyboard.press(/^Set it up$/);
    await keyboard.write(/^When less is available than/, '20');
    await keyboard.write(/^The card adds/, '15');
    await dialog().getByText('An amount in whole cents, from $20.00 to $1,000.00.').waitFor();
    await keyboard.write(/^The card adds/, '50');
    await keyboard.write(/^In a month at most/, '49.99');
    await dialog().getByText('An amount in whole cents, at least $50.00.').waitFor();
    expect(await portal.violations('dialog')).toEqual([]);
    await keyboard.write(/^In a month at most/, '200');
    const details = { reason: 'reauthenticate' };
    stub.refuse('setAutoTopUp', { status: 403, code: 'ERR_FORBIDDEN', message: 'Sign in again.', details });
    await keyboard.press(/^Save$/);
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
    const [asked] = sent('setAutoTopUp');
    expect(asked?.body).toEqual({ is_on: true, threshold: 20, amount: 50, monthly_cap: 200, version: 0 });
    stub.reset();
    await keyboard.press(/^Sign in and continue$/);
    await page.getByText('The automatic top-up is saved.').waitFor();
    expect(sent('setAutoTopUp').map(({ body }) => body)).toEqual([asked?.body]);
    await card().getByText('$150.00 of at most $200.00').waitFor();
    await card().getByText('Visa …4242').waitFor();
    expect(await card().getByRole('button', { name: 'Change', exact: true }).isVisible()).toBe(true);
  });

  it('of two people at once shows both figures, and saves nothing before one is chosen', async () => {
    await portal.open('wallet', 'Wallet');
    await press('Change');
    await dialog().getByLabel('In a month at most (USD)').fill('300');
    stored({ monthly_cap: 150, version: 4 });
    stub.refuse('setAutoTopUp', refusal({ reason: 'changed_meanwhile' }, 'Somebody changed it.'));
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('Somebody stored meanwhile: $150.00').waitFor();
    expect(await dialog().getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await dialog()
      .getByRole('button', { name: /^Keep mine/ })
      .click();
    stub.answer('setAutoTopUp', () => stub.samples.autoTopUp);
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByText('The automatic top-up is saved.').waitFor();
    const [before, after] = sent('setAutoTopUp').map(({ body }) => body);
    expect(after).toEqual({ ...(before as object), version: 4 });
    expect(after).toMatchObject({ is_on: true, threshold: 20, amount: 50, monthly_cap: 300 });
  });

  it('says in its dialog why the service refuses, and which field is wrong', async () => {
    await portal.show('wallet', 'Wallet');
    await press('Change');
    await dialog().getByLabel('The card adds (USD)').fill('60');
    stub.refuse('setAutoTopUp', refusal({ reason: 'automatic_tax' }, 'The operator adds tax to payments.'));
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByRole('alert').getByText('The operator adds tax to payments.').waitFor();
    const errors = [{ field: 'amount', code: 'too_big', message: 'must be at most 55 USD' }];
    stub.refuse('setAutoTopUp', { status: 400, code: 'ERR_VALIDATION', message: 'No.', details: { errors } });
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().locator('.field', { hasText: 'must be at most 55 USD' }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('without a card cannot be on, and leads to a payment that saves one', async () => {
    stored({ ...none, card: null });
    await portal.open('wallet', 'Wallet');
    await press('Set it up');
    expect(await dialog().getByLabel('Add money automatically').isDisabled()).toBe(true);
    expect(await dialog().getByLabel('Add money automatically').isChecked()).toBe(false);
    await dialog().getByText('No card is saved. Add money once and save the card').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await press('Add money and save the card');
    expect(await dialog().getByLabel('Save this card for automatic top-up').isChecked()).toBe(true);
    await dialog().getByRole('button', { name: 'Pay $25.00' }).click();
    // Without this wait, the next test could open a page while this page still leaves for Stripe.
    await expect.poll(() => stub.visited).toEqual(['GET /stub/stripe']);
    expect(sent('beginPayment')[0]?.body).toEqual({ amount: 25, save_card: true });
  });

  it.each([
    ['authentication_required', 'The bank wants you to confirm the payment.'],
    ['declined', 'The card was declined.'],
    ['card_expired', 'The card has expired.'],
    ['unknown', 'The outcome of the last payment has been unknown for a day.'],
  ] as const)(
    'that is paused (%s) says why, what to do, and goes on when a person resumes',
    async (paused, words) => {
      stored({ paused });
      await portal.show('wallet', 'Wallet');
      await card().getByText(words).waitFor();
      await card().getByText('paused', { exact: true }).waitFor();
      await press('Resume');
      await card().getByText(words).waitFor({ state: 'detached' });
      expect(sent('resumeAutoTopUp')).toHaveLength(1);
      await card().getByText('on', { exact: true }).waitFor();
    },
  );

  it('that the operator paused is not resumed by the account', async () => {
    as('owner');
    stored({ paused: 'operator' });
    await portal.open('wallet', 'Wallet');
    await card().getByText('The operator stopped it. Write to support@example.com.').waitFor();
    expect(await card().getByRole('button', { name: 'Resume' }).count()).toBe(0);
  });

  it('that was resumed at the same time by another person shows what is stored', async () => {
    stored({ paused: 'declined' });
    await portal.open('wallet', 'Wallet');
    stub.refuse('resumeAutoTopUp', refusal({ reason: 'changed_meanwhile' }, 'Somebody changed it.'));
    await press('Resume');
    await card().getByRole('alert').getByText('Somebody changed it.').waitFor();
    stored({});
    await press('Load the newest state');
    await card().getByText('on', { exact: true }).waitFor();
  });

  it('is switched off with one press, keeps its figures, and says when the month has no room', async () => {
    stored({ used: 160 });
    await portal.show('wallet', 'Wallet');
    await card().getByText('Another $50.00 would exceed the monthly maximum').waitFor();
    stub.answer('setAutoTopUp', () => ({ ...stub.samples.autoTopUp, used: 160, is_on: false }));
    await press('Switch off');
    await card().getByText('off', { exact: true }).waitFor();
    expect(sent('setAutoTopUp').map(({ body }) => body)).toEqual([
      { is_on: false, threshold: 20, amount: 50, monthly_cap: 200, version: 3 },
    ]);
    expect(await card().getByText('Another $50.00').count()).toBe(0);
  });

  it('loses its card after a question', async () => {
    await portal.show('wallet', 'Wallet');
    await press('Remove the card');
    await dialog().getByText('Stripe forgets Visa …4242').waitFor();
    expect(await portal.violations('dialog')).toEqual([]);
    expect(sent('removeCard')).toHaveLength(0);
    await dialog().getByRole('button', { name: 'Remove the card' }).click();
    await card().getByText('No card is saved.').waitFor();
    await card().getByText('waits for a card').waitFor();
  });

  it('is seen by a viewer, who changes nothing', async () => {
    as('viewer');
    stored({ paused: 'declined', open_payment: 'pay_1' });
    await portal.open('wallet', 'Wallet');
    await card().getByText('$150.00 of at most $200.00').waitFor();
    expect(await card().getByRole('button').count()).toBe(0);
  });

  it('fits a phone and 200 %, in both themes, while it is paused and while its dialog is open', async () => {
    stored({ paused: 'authentication_required', used: 200 });
    for (const [colorScheme, width] of [
      ['light', 390],
      ['dark', 640],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await portal.open('wallet', 'Wallet');
      await card().getByText('The bank wants you to confirm').waitFor();
      expect(await portal.violations(), colorScheme).toEqual([]);
      await press('Change');
      expect(await portal.violations('dialog'), colorScheme).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });
});
