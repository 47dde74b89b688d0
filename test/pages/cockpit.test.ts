/** The operator's pages in a real browser: tabs with addresses of their own, what fails now, and the pause. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { PortalOperationName } from '../../service/contract/operations.ts';
import { keyboardOf } from './keyboard.ts';
import { startPortalPage } from './stub/portal-page.ts';

const portal = await startPortalPage();
const { page, stub } = portal;
const keyboard = keyboardOf(page);
afterAll(() => portal.end());
beforeEach(() => portal.reset());

const account = 'operator/accounts/acc_7Yt2mQ9xZk';
const name = 'Nordlicht Prints';
const asked = (): PortalOperationName[] => [...new Set(stub.received.map(({ operation }) => operation))];

describe('The page of an account', () => {
  it('reads the list of a tab when the tab is opened, and no other list', async () => {
    await portal.open(account, name);
    await page.getByText('POST requests a minute', { exact: true }).waitFor();
    expect(asked()).toEqual(['getMe', 'showAccount']);
    const tabs = [
      ['Creations', 'listAccountCreations'],
      ['Ledger', 'listAccountLedger'],
      ['Keys', 'listAccountKeys'],
      ['People', 'listAccountPeople'],
      ['Deliveries', 'listAccountDeliveries'],
      ['Requests', 'listAccountRequests'],
    ] as const;
    for (const [tab, operation] of tabs) {
      stub.reset();
      await page.getByRole('navigation', { name: 'Parts of the account' }).getByText(tab).click();
      await page.getByRole('table').first().waitFor();
      await page.waitForLoadState('networkidle');
      expect(asked()).toEqual([operation]);
      expect(stub.received.map(({ id }) => id)).toEqual(['acc_7Yt2mQ9xZk']);
      expect(new URL(page.url()).pathname).toBe(`/portal/${account}/${tab.toLowerCase()}`);
    }
    expect(portal.complaints).toEqual([]);
  });

  it('goes back from tab to tab, by the keyboard, and keeps the focus on the tab', async () => {
    await portal.open(account, name);
    await keyboard.press(/^Ledger$/);
    await page.getByRole('columnheader', { name: 'Available after' }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Ledger');
    await keyboard.press(/^People$/);
    await page.getByRole('columnheader', { name: 'Last sign-in' }).waitFor();
    await page.goBack();
    await page.getByRole('columnheader', { name: 'Available after' }).waitFor();
    expect(await page.locator('.tab-links [aria-current=page]').textContent()).toBe('Ledger');
    await page.goBack();
    await page.getByText('POST requests a minute', { exact: true }).waitFor();
  });
});

describe('The addresses of the pictures of an account', () => {
  const shown = async (change: object): Promise<void> => {
    const [first] = stub.samples.operated.map((one) => ({ ...one, ...change }));
    if (first) stub.answer('showAccount', () => first);
    await portal.show(account, name);
  };
  const change = page.getByRole('button', { name: 'Change addresses' });
  const dialog = page.getByRole('dialog', { name: 'Addresses of pictures' });

  it.each([
    ['off', 'signed', 'Unguessable', 'Default of the service, Unguessable, Signed'],
    ['off', null, 'Unguessable', 'Default of the service, Unguessable'],
    ['signed', null, 'Signed', 'Default of the service, Signed'],
  ])(
    'of a service with "%s" and the choice %s are "%s", and only %s is offered',
    async (results_of_service, results, access, offered) => {
      await shown({ results_of_service, results });
      await page.getByText(`${access}, as the service has it`).waitFor();
      await change.click();
      await dialog.getByText(/^This service (has no keys that sign|signs the) addresses/).waitFor();
      expect((await dialog.getByRole('option').allTextContents()).join(', ')).toBe(offered);
    },
  );

  it('are chosen back to those of the service, for the usual time', async () => {
    await shown({});
    await change.click();
    await dialog.getByLabel('New pictures').selectOption('Default of the service');
    await dialog.getByLabel('Minutes of a signed address').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const sent = stub.received.find(({ operation }) => operation === 'changeAccount');
    expect(sent?.body).toEqual({ results: null, results_minutes: null, version: 'v1' });
  });

  it('stand under what was typed when somebody else chose meanwhile, and a refusal stands at its field', async () => {
    await shown({});
    await change.click();
    await dialog.getByLabel('Minutes of a signed address').fill('5');
    const refused = { status: 409, code: 'ERR_CONFLICT', message: 'Look again.' };
    stub.refuse('changeAccount', { ...refused, details: { reason: 'changed_meanwhile' } });
    const [theirs] = stub.samples.operated.map((one) => ({ ...one, results_minutes: null, version: 'v2' }));
    if (theirs) stub.answer('showAccount', () => theirs);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Somebody stored meanwhile: 60, as usual').waitFor();
    await dialog.getByRole('button', { name: 'Keep mine' }).click();
    const errors = [{ field: 'results', code: 'invalid_value', message: 'must be unguessable' }];
    stub.refuse('changeAccount', {
      status: 400,
      code: 'ERR_INVALID_REQUEST',
      message: '',
      details: { errors },
    });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('.field-error', { hasText: 'must be unguessable' }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.localName')).toBe('select');
  });
});

describe('The first page of the operator', () => {
  it('has what fails on top, and leads to the creations of an age', async () => {
    await portal.open('operator', 'Service');
    const first = page.locator('main .card').first();
    expect(await first.locator('li').allTextContents()).toEqual([
      expect.stringMatching(/^late One creation is open for longer/),
      expect.stringMatching(/^failing fal fal-ai\/flux-2-pro: other routes are asked first/),
      'held One payment waits for you',
      expect.stringMatching(/^webhooks 2 webhooks are failing/),
      expect.stringMatching(/^paused fal since .*answers with 500/),
    ]);
    await page.getByRole('link', { name: '1 to 5 minutes' }).click();
    await page.getByRole('heading', { name: 'Open for 1 to 5 minutes' }).waitFor();
    await expect.poll(() => stub.received.at(-1)?.query).toBe('?band=60');
    const oldest = page.getByRole('table', { name: 'Open creations, the oldest first' });
    await oldest.getByRole('link').first().click();
    await page.getByRole('heading', { level: 1, name: 'Creation' }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/portal\/operator\/creations\/[0-9a-f-]{36}$/);
  });

  it('leads from a held payment to the payments of its account, with their ids for the commands', async () => {
    await portal.open('operator', 'Service');
    const held = page.locator('.card', { has: page.getByRole('heading', { name: 'Held payments' }) });
    await held.getByText('npm run admin -- payments show ID').waitFor();
    const closed = { test_mode: true, is_closed: true, least: 5, largest: 1_000 };
    const { payments: data } = stub.samples;
    stub.answer('listAccountPayments', () => ({ data, next_cursor: null, ...closed }));
    await held.getByRole('link').click();
    await page.getByRole('cell', { name: 'held', exact: true }).waitFor();
    const account = stub.samples.heldPayments[0]?.account ?? '';
    await page.getByText(`npm run admin -- payments clear ${account}`).waitFor();
    await page.getByText('Test mode: no money is real.').waitFor();
    expect(await page.locator('code', { hasText: 'pay_1' }).count()).toBe(1);
    // A receipt is answered to the people of the account alone.
    expect(await page.getByRole('link', { name: /^Receipt/ }).count()).toBe(0);
    expect(await portal.violations()).toEqual([]);
  });

  it('asks for no payments where the service takes none', async () => {
    const { me } = stub.samples;
    stub.answer('getMe', () => ({ ...me, service: { ...me.service, takes_payments: false } }));
    await portal.open('operator', 'Service');
    await page.getByText('What fails now').waitFor();
    expect(await page.getByText('Held payments').count()).toBe(0);
    await portal.follow('operator/accounts/acc_7Yt2mQ9xZk', 'Nordlicht Prints');
    await page.getByRole('link', { name: 'Requests', exact: true }).last().waitFor();
    expect(await page.getByRole('link', { name: 'Payments', exact: true }).count()).toBe(0);
    const asked: readonly string[] = stub.received.map(({ operation }) => operation);
    expect(asked).not.toContain('listHeldPayments');
  });

  it('says that nothing fails, also while payments are not set up', async () => {
    const details = { reason: 'payments_not_set_up' };
    stub.refuse('listHeldPayments', {
      status: 409,
      code: 'ERR_CONFLICT',
      message: 'No.',
      details,
    });
    stub.answer('getService', () => ({
      ...stub.samples.service,
      ...{ open_circuits: [], pauses: [], failing_webhooks: 0 },
      open: { ...stub.samples.service.open, overdue: 0, oldest: [] },
    }));
    await portal.open('operator', 'Service');
    await page.getByText('Nothing fails. No provider is paused.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByText('No creation is open').waitFor();
  });
});

describe('The providers', () => {
  it('are paused and resumed by the keyboard alone, one of them or one route', async () => {
    await portal.open('operator/providers', 'Providers');
    await keyboard.press(/^Pause sandbox$/);
    await keyboard.write(/^Reason$/, 'slow today');
    expect(await portal.violations('dialog')).toEqual([]);
    await keyboard.press(/^Pause it for everybody$/);
    await page.getByText('It is paused. Running creations continue.').waitFor();
    await keyboard.press(/^2 routes$/);
    await keyboard.press(/^Resume sandbox standard$/);
    await page.getByText('New creations go there again.').waitFor();
    const sent = stub.received.filter(({ operation }) => operation === 'pauseRoute').map(({ body }) => body);
    expect(sent).toEqual([
      { provider: 'sandbox', model: null, quality: null, paused: true, reason: 'slow today' },
      { provider: 'sandbox', model: 'standard', quality: null, paused: false },
    ]);
  });

  it('show their course to screen readers in words, and those without a key take one line', async () => {
    await portal.open('operator/providers', 'Providers');
    const words = page.locator('.sparks .hidden').first();
    expect(await words.textContent()).toMatch(/^For each 5 minutes, the oldest first: 100 %, .*nothing, /);
    expect(await page.locator('main .card > header h2').allTextContents()).toEqual(['sandbox', 'fal']);
    const others = page.getByText('3 providers have no key');
    expect(await page.getByText('bedrock, openai, google').isVisible()).toBe(false);
    await others.click();
    await page.getByText('bedrock, openai, google').waitFor();
  });

  it('ask for a fresh sign-in before a pause', async () => {
    await portal.open('operator/providers', 'Providers');
    const details = { reason: 'reauthenticate' };
    stub.refuse('pauseRoute', { status: 403, code: 'ERR_FORBIDDEN', message: 'Sign in again.', details });
    await page.getByRole('button', { name: 'Pause sandbox' }).click();
    await page.getByRole('button', { name: 'Pause it for everybody' }).click();
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
  });
});

describe('The search', () => {
  const dialog = page.getByRole('dialog', { name: 'Search' });

  it('opens with Ctrl-K, finds while one types, and opens what the arrows chose, by the keyboard alone', async () => {
    await portal.open('keys', 'Keys');
    await page.getByRole('button', { name: 'Create a key' }).focus();
    await page.keyboard.press('Control+k');
    await dialog.waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('combobox');
    await page.keyboard.insertText('a');
    await dialog.getByRole('option').first().waitFor();
    expect(await dialog.getByRole('option').count()).toBe(4);
    expect(await portal.violations('dialog')).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await portal.violations('dialog')).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByText('4 found. Only the names of the oldest accounts were searched.').waitFor();
    await page.keyboard.press('ArrowUp');
    expect(await dialog.getByRole('option', { selected: true }).textContent()).toContain('person');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/portal/${account}/people`);
    await page.keyboard.press('Control+k');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('gives the focus back, and has a button', async () => {
    await portal.open('operator', 'Service');
    const button = page.getByRole('button', { name: 'Search' });
    await button.click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Search');
  });

  it('sends of a whole key the characters that name it, and asks once for what was typed', async () => {
    await portal.open('operator', 'Service');
    await page.keyboard.press('Control+k');
    await dialog.getByRole('combobox').fill('dk_live_7Yt2mQ9xZkAb12CdSECRETSECRETSECRET123456');
    await page.getByText('Nothing was found.').waitFor();
    const sent = stub.received.filter(({ operation }) => operation === 'findAnything');
    expect(sent.map(({ query }) => query)).toEqual(['?q=dk_live_7Yt2mQ9xZkAb12Cd']);
  });

  it('is nothing for a client: Ctrl-K stays what the browser makes of it', async () => {
    stub.answer('getMe', () => ({ ...stub.samples.me, is_operator: false }));
    await portal.open('keys', 'Keys');
    // True: nothing on the page took the key.
    const press = `document.body.dispatchEvent(new KeyboardEvent('keydown',
      { key: 'k', ctrlKey: true, bubbles: true, cancelable: true }))`;
    expect(await page.evaluate(press)).toBe(true);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Search' }).count()).toBe(0);
  });
});

describe('The file of the operator', () => {
  const scripts = async (): Promise<string[]> => {
    await portal.open('', 'Home');
    await page.waitForLoadState('networkidle');
    const names = await page.evaluate<string[]>(
      `performance.getEntriesByType('resource').map(({ name }) => name.split('/').pop())`,
    );
    return [
      ...new Set(names.filter((one) => one.endsWith('.js')).map((one) => one.split('-')[0] ?? '')),
    ].sort();
  };

  it('is loaded for a person of the operator alone', async () => {
    expect(await scripts()).toEqual(['app', 'operator']);
    stub.answer('getMe', () => ({ ...stub.samples.me, is_operator: false }));
    expect(await scripts()).toEqual(['app']);
  });

  it('that does not come leaves the menu and a way to load the page again', async () => {
    await page.route('**/operator-*.js', (route) => route.abort());
    await portal.page.goto(`${stub.url}operator/providers`);
    await page.getByText('This part of the portal could not be loaded. Reload the page.').waitFor();
    await page.unroute('**/operator-*.js');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor();
  });
});

describe('With long data, on a phone and at twice the size', () => {
  it.each(['operator', 'operator/providers', account, `${account}/keys`])(
    '%s stays in its width',
    async (path) => {
      const long = 'Ein sehr langer Name ohne Ende und '.repeat(4);
      const { service, providers, operated, keys } = stub.samples;
      const oldest = service.open.oldest.map((one) => ({ ...one, account_name: long }));
      stub.answer('getService', () => ({ ...service, open: { ...service.open, oldest } }));
      stub.answer('listProviders', () => ({
        ...providers,
        data: providers.data.map((one) => ({ ...one, pause_reason: one.pause_reason && long.repeat(2) })),
      }));
      const [first] = operated.map((one) => ({ ...one, name: long.trim() }));
      if (first) stub.answer('showAccount', () => first);
      stub.answer('listAccountKeys', () => ({
        data: keys.map((key) => ({ ...key, name: long })),
        next_cursor: null,
      }));
      const heading =
        path === 'operator' ? 'Service' : path.endsWith('providers') ? 'Providers' : long.trim();
      // A screen of 1280 pixels at 200 % has 640.
      for (const width of [390, 640]) {
        await page.setViewportSize({ width, height: 844 });
        await portal.open(path, heading);
        await page.waitForLoadState('networkidle');
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    },
  );
});
