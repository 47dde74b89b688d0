/**
 * What people do on the pages of the portal, in a real browser. The file is longer than 300 lines, because each
 * further file would start a browser of its own.
 */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { pngWith } from '../../lab/vendors/fakes/fake-vendor.ts';
import type { CreationRow } from '../../service/contract/portal-views.ts';
import { requestCodes } from '../../portal/src/words/request-codes.ts';
import { pngRows } from '../../service/render/thumbnails/png.ts';
import { readImageHeader } from '../../service/values/image-bytes.ts';
import { problemStatus } from '../../service/values/problem.ts';
import { keyboardOf } from './keyboard.ts';
import { startPortalPage } from './stub/portal-page.ts';
import type { Refused } from './stub/server.ts';

const portal = await startPortalPage();
afterAll(() => portal.end());
beforeEach(() => portal.reset());

const stale: Refused = {
  status: 403,
  code: 'ERR_FORBIDDEN',
  message: 'Sign in again to do this.',
  details: { reason: 'reauthenticate' },
};
const ended: Refused = { status: 401, code: 'ERR_SESSION_REQUIRED', message: 'Sign in.' };
const conflict: Refused = {
  status: 409,
  code: 'ERR_CONFLICT',
  message: 'Somebody changed it meanwhile.',
  details: { reason: 'changed_meanwhile' },
};

const sent = (operation: string) => portal.stub.received.filter((one) => one.operation === operation);
const button = (name: string | RegExp) =>
  portal.page.getByRole('button', { name, exact: typeof name === 'string' });
const dialog = () => portal.page.getByRole('dialog');
const storage = (): Promise<string> =>
  portal.page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');

describe('The first page', () => {
  it('takes three requests before the API, and the file of the operator comes after the API', async () => {
    const paths: string[] = [];
    const note = (request: { url(): string }): void => void paths.push(new URL(request.url()).pathname);
    portal.page.on('request', note);
    await portal.open('', 'Home');
    portal.page.off('request', note);
    // Some builds of Chromium ask for the icon, and some do not. Nothing waits for the icon.
    const others = /^\/stub\/|\/favicon\.svg$/;
    const own = paths.filter((path) => !others.test(path));
    expect(own.slice(0, 4).map((path) => path.replace(/-[0-9a-f]{10}/, ''))).toEqual([
      '/portal/',
      '/portal/app.css',
      '/portal/app.js',
      '/api/portal/v1/me',
    ]);
    expect(own.slice(4).filter((path) => !path.startsWith('/api/'))).toEqual([
      expect.stringMatching(/^\/portal\/operator-[0-9a-f]{10}\.js$/),
    ]);
  });
});

describe('A service that the operator has closed', () => {
  it('is shown on each page, with the message of the operator', async () => {
    const { me } = portal.stub.samples;
    const service = { ...me.service, closed_message: 'A restore runs until 14:00 UTC.' };
    portal.stub.answer('getMe', () => ({ ...me, service }));
    for (const [path, heading] of [
      ['', 'Home'],
      ['playground', 'Playground'],
    ] as const) {
      await portal.open(path, heading);
      expect(await portal.page.getByRole('note').textContent()).toBe(
        'The service takes no new creations at the moment: A restore runs until 14:00 UTC.',
      );
    }
  });
});

describe('Somebody who is not signed in', () => {
  it('sees one button, which leads back to the page that was asked for', async () => {
    portal.stub.refuse('getMe', ended);
    await portal.open('deliveries?outcome=failed', 'Darkroom');
    const links = portal.page.getByRole('link');
    await links.first().waitFor();
    expect(await links.count()).toBe(1);
    expect(await links.getAttribute('href')).toBe(
      `/auth/login?return=${encodeURIComponent('/portal/deliveries?outcome=failed')}`,
    );
    expect(await portal.violations()).toEqual([]);
  });

  it('reads in words why a sign-in failed, and never the word of the address itself', async () => {
    portal.stub.refuse('getMe', ended);
    await portal.open('?error=not_invited', 'Darkroom');
    expect(await portal.page.getByRole('alert').textContent()).toContain('Nobody has invited this address');
    await portal.open('?error=<b>hello</b>', 'Darkroom');
    expect(await portal.page.getByRole('alert').textContent()).toBe(
      'The sign-in did not succeed. Try again.',
    );
  });
});

describe('A session that ends while a page is open', () => {
  it('asks to sign in again, leads back to the same page, and keeps what was entered on screen', async () => {
    await portal.open('webhooks', 'Webhooks');
    const field = portal.page.getByLabel('Address of your receiver');
    await field.fill('https://mine.example.com/hooks');
    portal.stub.refuse('testWebhook', ended);
    await button('Send a test delivery').click();
    expect(await dialog().getByRole('heading').textContent()).toBe('Your session ended');
    expect(await dialog().getByRole('link', { name: 'Sign in' }).getAttribute('href')).toBe(
      '/auth/login?return=%2Fportal%2Fwebhooks',
    );
    await portal.page.keyboard.press('Escape');
    await portal.page.keyboard.press('Escape');
    expect(await dialog().isVisible()).toBe(true);
    expect(await field.inputValue()).toBe('https://mine.example.com/hooks');
  });
});

describe('What was typed when the session ended', () => {
  /** Types a new key, finds the session ended, and signs in. */
  const typeAndSignIn = async (name: string): Promise<void> => {
    await portal.open('keys', 'Keys');
    await button('Create a key').click();
    await dialog().getByLabel('Name').fill(name);
    await dialog().getByLabel('Daily cap (USD)').fill('2.50');
    portal.stub.refuse('createKey', ended);
    await button('Create the key').click();
    await portal.page.getByRole('link', { name: 'Sign in' }).click();
    await portal.page.waitForLoadState('networkidle');
  };
  const other = (): void => {
    const { me } = portal.stub.samples;
    portal.stub.answer('getMe', () => ({ ...me, person: { ...me.person, id: 'per_other' } }));
  };

  it('is there again for the same person after the sign-in, once', async () => {
    await typeAndSignIn('Typed before');
    expect(await dialog().getByLabel('Name').inputValue()).toBe('Typed before');
    expect(await dialog().getByLabel('Daily cap (USD)').inputValue()).toBe('2.50');
    expect(await storage()).toBe('[{},{}]');
    await portal.page.keyboard.press('Escape');
    await button('Create a key').click();
    expect(await dialog().getByLabel('Name').inputValue()).toBe('');
  });

  it('is given to nobody else, and leaves the storage', async () => {
    await portal.page.route('**/auth/login**', async (route) => {
      other();
      await route.continue();
    });
    await typeAndSignIn('Not yours');
    await portal.page.unroute('**/auth/login**');
    await portal.page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    expect(await dialog().count()).toBe(0);
    expect(await storage()).toBe('[{},{}]');
  });

  it('never reaches the storage when it may hold a secret', async () => {
    await portal.open('webhooks', 'Webhooks');
    const field = portal.page.getByLabel('Address of your receiver');
    await field.fill('https://mine.example.com/hooks?token=s3cret');
    await portal.page.getByLabel('Notify when less is available than (USD)').fill('17');
    portal.stub.refuse('testWebhook', ended);
    await button('Send a test delivery').click();
    // The page stays, so that the storage can be read.
    await portal.page.evaluate(
      "addEventListener('click', (event) => event.preventDefault(), { capture: true, once: true })",
    );
    await portal.page.getByRole('link', { name: 'Sign in' }).click();
    const stored = await storage();
    expect(stored).toContain('17');
    expect(stored).not.toContain('s3cret');
    portal.stub.reset();
    await portal.open('webhooks', 'Webhooks');
    expect(await portal.page.getByLabel('Notify when less is available than (USD)').inputValue()).toBe('17');
  });
});

describe('What needs a fresh sign-in', () => {
  it('is finished after the sign-in with what was entered, and leaves nothing in the storage', async () => {
    await portal.open('keys', 'Keys');
    portal.stub.refuse('createKey', stale);
    await button('Create a key').click();
    await dialog().getByLabel('Name').fill('Laptop of Ada');
    await dialog().getByLabel('Monthly cap (USD)').fill('12.50');
    await button('Create the key').click();
    const confirm = portal.page.getByRole('dialog', { name: 'Confirm that it is you' });
    await confirm.waitFor();
    expect(await portal.violations('dialog')).toEqual([]);
    const asked = sent('createKey')[0]?.body;
    expect(asked).toEqual({ name: 'Laptop of Ada', monthly_cap: 12.5 });
    portal.stub.reset();
    await confirm.getByRole('button', { name: 'Sign in and continue' }).click();
    await portal.page.getByRole('dialog', { name: 'Your new key: Laptop of Ada' }).waitFor();
    expect(portal.stub.visited).toEqual([
      expect.stringMatching(
        /^GET \/auth\/login\?return=%2Fportal%2Fkeys%3Fcontinue%3D[0-9a-f-]{36}&fresh=1$/,
      ),
    ]);
    expect(sent('createKey').map(({ body }) => body)).toEqual([asked]);
    expect(await storage()).toBe('[{},{}]');
    expect(new URL(portal.page.url()).search).toBe('');
    await portal.page.reload();
    await portal.page.getByRole('heading', { level: 1 }).waitFor();
    expect(sent('createKey')).toHaveLength(1);
  });

  it('is not finished when the person comes back in another way', async () => {
    await portal.open('webhooks', 'Webhooks');
    portal.stub.refuse('rotateSecret', stale);
    await button('Rotate').click();
    await button('Rotate the secret').click();
    // The refused request has to arrive before the stub forgets all requests.
    await portal.page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
    // The sign-in is begun, and the person leaves it.
    await portal.page.evaluate(
      `sessionStorage.setItem('darkroom.begun', JSON.stringify({ id: 'x', operation: 'rotateSecret', input: {}, atMillis: Date.now() }))`,
    );
    portal.stub.reset();
    await portal.open('webhooks', 'Webhooks');
    await portal.page.locator('.loading').first().waitFor({ state: 'detached' });
    expect(sent('rotateSecret')).toHaveLength(0);
    expect(await storage()).toBe('[{},{}]');
  });
});

describe('A key', () => {
  it('is created, shown once and put away by the keyboard alone', async () => {
    const { page } = portal;
    await portal.open('keys', 'Keys');
    await page.getByRole('row').nth(1).waitFor();
    // The skip link comes first, then the menu.
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Create a key');
    await page.keyboard.press('Enter');
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    const shown = page.getByRole('dialog', { name: 'Your new key: By keyboard' });
    await shown.waitFor();
    expect(sent('createKey')[0]?.body).toEqual({ name: 'By keyboard' });
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await shown.isVisible()).toBe(true);
    expect(await shown.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
    expect(await portal.violations('dialog')).toEqual([]);
    expect(await shown.getByRole('region', { name: 'the request in curl' }).textContent()).toContain(
      "Authorization: Bearer dk_live_Qm9vU2tlLmV4YW1wbGUuc2VjcmV0'",
    );
    await shown.getByRole('tab', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await shown.getByRole('tabpanel').textContent()).toContain('dk_live_Qm9vU2tlLmV4YW1wbGUuc2VjcmV0');
    await shown.getByLabel('I have stored it').focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await shown.waitFor({ state: 'detached' });
    // The key is nowhere any more: not on the page, and never in the storage.
    expect(await page.content()).not.toContain('dk_live_Qm9vU2tlLmV4YW1wbGUuc2VjcmV0');
    expect(await storage()).toBe('[{},{}]');
  });

  it('is revoked only when its name was typed, and the focus comes back', async () => {
    await portal.show('keys', 'Keys');
    await button('Revoke Night batch').click();
    const revoke = button('Revoke the key');
    expect(await revoke.isDisabled()).toBe(true);
    await portal.page.getByLabel('Type “Night batch” to confirm').fill('Night batch');
    await revoke.click();
    await dialog().waitFor({ state: 'detached' });
    expect(sent('revokeKey').map(({ id }) => id)).toEqual(['key_night']);
    await portal.page.getByText('The key is revoked.').waitFor();
    await button('Rotate Night batch').click();
    await portal.page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await expect
      .poll(() => portal.page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Rotate Night batch');
  });

  it('that somebody else changed meanwhile shows what is stored, and sends nothing of it back', async () => {
    await portal.show('keys', 'Keys');
    await button('Change Night batch').click();
    const cap = dialog().getByRole('textbox', { name: 'Monthly cap (USD)' });
    expect(await cap.inputValue()).toBe('60');
    expect(await button('Save').isDisabled()).toBe(true);
    await cap.fill('80');
    await dialog().getByLabel('Name').fill('Nightly batch');
    portal.stub.answer('listKeys', () => ({
      data: portal.stub.samples.keys.map((key) => ({
        ...key,
        ...{ version: 'v2', monthly_cap: 10, daily_cap: 3, models: null },
      })),
      next_cursor: null,
    }));
    portal.stub.refuse('changeKey', conflict);
    await button('Save').click();
    await dialog().getByText('Somebody stored meanwhile: $10').waitFor();
    expect(sent('changeKey')[0]?.body).toEqual({ name: 'Nightly batch', monthly_cap: 80, version: 'v1' });
    // A field that nobody touched here shows what is stored.
    expect(await dialog().getByLabel('Daily cap (USD)').inputValue()).toBe('3');
    expect(await cap.inputValue()).toBe('80');
    expect(await button('Save').isDisabled()).toBe(true);
    expect(await portal.violations('dialog')).toEqual([]);
    await button('Take it: Monthly cap (USD)').click();
    expect(await cap.inputValue()).toBe('10');
    portal.stub.reset();
    await button('Save').click();
    await dialog().waitFor({ state: 'detached' });
    expect(sent('changeKey').map(({ body }) => body)).toEqual([{ name: 'Nightly batch', version: 'v2' }]);
  });

  it('that was revoked meanwhile says so instead of showing the form', async () => {
    await portal.show('keys', 'Keys');
    await button('Change Night batch').click();
    await dialog().getByLabel('Name').fill('Nightly batch');
    const revoked_at = new Date().toISOString();
    portal.stub.answer('listKeys', () => ({
      data: portal.stub.samples.keys.map((key) => ({ ...key, revoked_at })),
      next_cursor: null,
    }));
    portal.stub.refuse('changeKey', conflict);
    await button('Save').click();
    await dialog().getByText('This key was revoked or has expired meanwhile').waitFor();
    await portal.page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  it('with a wrong field says so at the field', async () => {
    await portal.show('keys', 'Keys');
    await button('Create a key').click();
    await dialog().getByLabel('Name').fill('x');
    await dialog().getByLabel('Daily cap (USD)').fill('many');
    expect(await button('Create the key').isDisabled()).toBe(true);
    await dialog().getByLabel('Daily cap (USD)').fill('5');
    portal.stub.refuse('createKey', {
      status: 400,
      code: 'ERR_INVALID_REQUEST',
      message: 'daily_cap: must be at most 1',
      details: { errors: [{ field: 'daily_cap', code: 'too_big', message: 'must be at most 1' }] },
    });
    await button('Create the key').click();
    const field = dialog().getByRole('textbox', {
      name: 'Daily cap (USD)',
      description: 'must be at most 1',
    });
    await field.waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await expect
      .poll(() => portal.page.evaluate('document.activeElement.getAttribute("aria-invalid")'))
      .toBe('true');
  });

  it('shows which of its tokens are active, have expired and are revoked', async () => {
    await portal.show('keys/key_production', 'Web shop, production');
    const rows = portal.page.getByRole('table', { name: /^Tokens of the last day/ }).getByRole('row');
    await rows.filter({ hasText: 'visitor-8841' }).getByText('active', { exact: true }).waitFor();
    await rows.filter({ hasText: 'jjrnGTlb02' }).getByText('expired', { exact: true }).waitFor();
    await rows.filter({ hasText: 'visitor-17' }).getByText('revoked', { exact: true }).waitFor();
  });
});

describe('A table', () => {
  /** Pixels of the first table that a scroll to the side would show. */
  const beyondItsWidth = async (): Promise<unknown> =>
    portal.page.evaluate(
      "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table'))",
    );

  it('of the margin shows the margin on a phone, without a scroll to the side', async () => {
    const { page } = portal;
    await page.setViewportSize({ width: 390, height: 844 });
    await portal.show('operator/margin', 'Margin');
    await page.getByRole('row').nth(2).waitFor();
    const heads = page.getByRole('columnheader').filter({ visible: true });
    expect(await heads.allTextContents()).toEqual(['model', 'Revenue', 'Margin', 'Margin %']);
    expect(await beyondItsWidth()).toBe(0);
  });

  it('of the margin offers no range that is longer than a month', async () => {
    await portal.show('operator/margin', 'Margin');
    const options = portal.page.getByLabel('Days (UTC)').locator('option');
    expect(await options.allInnerTexts()).toEqual(['Last 7 days', 'Last 30 days', 'Custom range']);
  });

  it.each([
    ['creations?form=table', 'Creations'],
    ['wallet', 'Wallet'],
    ['usage?by=user', 'Usage'],
  ])('of %s keeps its last columns in sight beside a user of 64 characters', async (path, heading) => {
    const { page } = portal;
    await portal.show(path, heading);
    const user = page.getByTitle('customer-118'.padEnd(64, '0')).first();
    await user.waitFor();
    expect((await user.boundingBox())?.width).toBeLessThan(360);
    expect(await beyondItsWidth()).toBe(0);
  });
});

describe('A refusal', () => {
  const refusedWith = async (
    details: NonNullable<Refused['details']>,
    code = 'ERR_CONFLICT',
  ): Promise<string> => {
    portal.stub.refuse('changePerson', { status: 409, code, message: 'It cannot be done.', details });
    await portal.show('people', 'People');
    await button('Change developer@nordlicht.example').click();
    await dialog().getByLabel('Role').selectOption('viewer');
    await button('Save').click();
    return (await dialog().getByRole('alert').textContent()) ?? '';
  };

  it('of the last owner offers no newest state, because that would not help', async () => {
    const text = await refusedWith({ reason: 'last_owner' });
    expect(text).toContain('It cannot be done.');
    expect(text).not.toMatch(/newest|stored now/);
    expect(await refusedWith({ reason: 'changed_meanwhile' })).toContain(
      'The page shows what is stored now.',
    );
  });

  it('of a removed person says who can invite again, and of a low role who can change it', async () => {
    const removed = await refusedWith({ reason: 'role', is_member: false }, 'ERR_FORBIDDEN');
    expect(removed).toContain('can invite you again');
    expect(removed).not.toContain('another role');
    expect(await refusedWith({ reason: 'role' }, 'ERR_FORBIDDEN')).toContain('can give you another role');
  });
});

describe('A suspended account', () => {
  it('says to a client whom to ask, and shows an operator the command', async () => {
    const { me } = portal.stub.samples;
    const account = me.account && { ...me.account, condition: 'suspended' as const };
    portal.stub.answer('getMe', () => ({ ...me, account, is_operator: false }));
    await portal.open('', 'Home');
    const banner = portal.page.getByRole('note');
    expect(await banner.textContent()).toContain('Write to support@example.com.');
    expect(await banner.textContent()).not.toContain('npm run');
    portal.stub.answer('getMe', () => ({ ...me, account, is_operator: true }));
    await portal.open('', 'Home');
    expect(await banner.getByRole('code').textContent()).toBe(
      `npm run admin -- accounts set ${account?.id} --condition active`,
    );
  });
});

describe('A page that fails', () => {
  it('shows the reason, the request id and a way on', async () => {
    portal.stub.refuse('listLedger', { status: 500, code: 'ERR_INTERNAL', message: 'Something broke.' });
    await portal.show('wallet', 'Wallet');
    const alert = portal.page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('Something broke.');
    expect(await alert.textContent()).toContain('req_5f0b7c1e');
    portal.stub.reset();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
    await portal.page.getByRole('columnheader', { name: 'Available after' }).waitFor();
  });

  it('says when the service cannot be reached, and what that means for a change', async () => {
    await portal.show('webhooks', 'Webhooks');
    portal.stub.breakOff('getAlerts');
    portal.stub.breakOff('testWebhook');
    await button('Send a test delivery').click();
    await portal.page.getByText('your request may or may not have arrived').waitFor();
    await portal.show('wallet', 'Wallet');
    await portal.page.getByText('Your browser cannot reach the service.').waitFor();
  });
});

describe('A viewer', () => {
  it('reads, and is offered nothing that would be refused', async () => {
    const { me } = portal.stub.samples;
    const account = me.account && { ...me.account, role: 'viewer' as const };
    portal.stub.answer('getMe', () => ({ ...me, account, is_operator: false }));
    await portal.open('keys', 'Keys');
    await portal.page.getByRole('row').nth(1).waitFor();
    expect(await button(/Create|Revoke|Roll|Change/).count()).toBe(0);
    const names = await portal.page.getByRole('navigation').getByRole('link').allTextContents();
    expect(names).toEqual([
      'Home',
      'Creations',
      'Keys',
      'Requests',
      'Webhooks',
      'Deliveries',
      'API reference',
      'Wallet',
      'Statement',
      'Usage',
      'Account',
    ]);
    await portal.open('people', 'Not for your role');
    expect(sent('listPeople')).toHaveLength(0);
    expect(await portal.violations()).toEqual([]);
  });

  it('without an account reads whom to ask', async () => {
    const { me } = portal.stub.samples;
    portal.stub.answer('getMe', () => ({ ...me, account: null, accounts: [], is_operator: false }));
    await portal.open('', 'You belong to no account yet');
    expect(await portal.page.getByRole('main').textContent()).toContain('support@example.com');
  });
});

describe('The audit', () => {
  it('says in words what was done, and what was only tried', async () => {
    await portal.show('audit', 'Audit');
    const rows = portal.page.getByRole('row');
    await rows.nth(5).waitFor();
    const cells = async (row: number): Promise<string[]> => rows.nth(row).getByRole('cell').allTextContents();
    expect(await cells(1)).toEqual([
      'owner@nordlicht.example',
      'Create a key Night batch',
      'done',
      'key_night',
      '–',
    ]);
    const texts = await rows.allTextContents();
    expect(texts[2]).toContain('Change a key');
    expect(texts[2]).toContain('name, monthly_cap');
    expect(texts[5]).toContain('Invite a personrefused');
    expect(texts[6]).toContain('Rotate the webhook secretoutcome unknown');
  });
});

describe('The first steps of an account', () => {
  it('lead from a key over a request to a webhook', async () => {
    const { home } = portal.stub.samples;
    let steps = { has_key: false, has_creation: false, has_webhook_secret: false, has_delivery: false };
    portal.stub.answer('getHome', () => ({ ...home, steps, creations: [], keys_near_cap: [] }));
    await portal.show('', 'Home');
    await button('Create a key').click();
    await portal.page.getByText('dk_live_Qm9vU2tlLmV4YW1wbGUuc2VjcmV0', { exact: true }).waitFor();
    expect(await portal.violations('main')).toEqual([]);
    steps = { ...steps, has_key: true };
    await portal.page.getByLabel('I have stored it').check();
    await button('Done').click();
    await portal.page.getByText('Waiting for the first request…').waitFor();
    steps = { ...steps, has_creation: true };
    await portal.page.getByRole('link', { name: 'Open the signing secret' }).click();
    await portal.page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  });
});

describe('Endpoints', () => {
  const row = () => portal.page.getByRole('row').filter({ hasText: 'hooks.example.com/darkroom/1' });

  it('are added with address and events, and a refused address is said beside its field', async () => {
    await portal.show('webhooks', 'Webhooks');
    await button('Add an endpoint').click();
    await dialog().getByLabel('Address').fill('https://new.example.com/hook');
    await dialog().getByLabel('wallet.low').check();
    await dialog().getByLabel('creation.failed').uncheck();
    expect(await portal.violations('dialog')).toEqual([]);
    portal.stub.refuse('addEndpoint', {
      status: 400,
      code: 'ERR_INVALID_REQUEST',
      message: 'One field is wrong.',
      details: { errors: [{ field: 'url', code: 'refused_target', message: 'leads to a private address' }] },
    });
    await dialog().getByRole('button', { name: 'Add an endpoint' }).click();
    await dialog().getByText('leads to a private address').waitFor();
    portal.stub.reset();
    await dialog().getByRole('button', { name: 'Add an endpoint' }).click();
    await portal.page.getByText('The endpoint is added.').waitFor();
    expect(sent('addEndpoint').map(({ body }) => body)).toEqual([
      {
        url: 'https://new.example.com/hook',
        description: '',
        events: ['creation.completed', 'wallet.low'],
        enabled: true,
      },
    ]);
  });

  it('are changed by what was touched alone, switched off and deleted', async () => {
    await portal.show('webhooks', 'Webhooks');
    await row()
      .getByRole('button', { name: /^Change/ })
      .click();
    expect(await dialog().getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await dialog().getByLabel('Description').fill('bills');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    await row()
      .getByRole('button', { name: /^Switch off/ })
      .click();
    await expect
      .poll(() => sent('changePortalEndpoint').map(({ body }) => body))
      .toEqual([{ description: 'bills' }, { enabled: false }]);
    await row()
      .getByRole('button', { name: /^Delete/ })
      .click();
    await dialog().getByRole('button', { name: 'Delete the endpoint' }).click();
    await dialog().waitFor({ state: 'detached' });
    const [{ id } = { id: '' }] = portal.stub.samples.endpoints.data;
    expect(sent('removeEndpoint').map((one) => one.id)).toEqual([id]);
  });

  it('show a viewer no button', async () => {
    const { me } = portal.stub.samples;
    const account = me.account && { ...me.account, role: 'viewer' as const };
    portal.stub.answer('getMe', () => ({ ...me, account, is_operator: false }));
    await portal.open('webhooks', 'Webhooks');
    await row().waitFor();
    expect(await button(/endpoint|^Switch|^Change|^Delete/).count()).toBe(0);
  });
});

describe('A test delivery', () => {
  it('shows what was sent and counts down to the next one', async () => {
    const { webhooks } = portal.stub.samples;
    const afterSeconds = (): number => 30 * sent('testWebhook').length;
    portal.stub.answer('getWebhooks', () => ({ ...webhooks, test_after_seconds: afterSeconds() }));
    await portal.show('webhooks', 'Webhooks');
    await button('Send a test delivery').click();
    await portal.page.getByRole('region', { name: 'the headers of the request' }).waitFor();
    const waiting = button(/^Next test in \d+ s$/);
    const seconds = async (): Promise<number> => Number(/\d+/.exec((await waiting.textContent()) ?? '')?.[0]);
    expect(await waiting.isDisabled()).toBe(true);
    const first = await seconds();
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(30);
    await expect.poll(seconds).toBeLessThan(first);
  });

  it('that comes too early says when the next one is possible', async () => {
    portal.stub.refuse('testWebhook', {
      status: 429,
      code: 'ERR_RATE_LIMIT',
      message: 'One test in 30 seconds.',
      headers: { 'retry-after': '12' },
    });
    await portal.show('webhooks', 'Webhooks');
    await button('Send a test delivery').click();
    await button(/^Next test in ([1-9]|1[0-2]) s$/).waitFor();
    expect(await portal.page.getByRole('alert').textContent()).toContain('One test in 30 seconds.');
  });
});

describe('A sample', () => {
  it('of each event can be read, and is sent to an endpoint', async () => {
    const { samples, data } = portal.stub.samples.endpoints;
    await portal.show('webhooks', 'Webhooks');
    const exact = portal.page.getByRole('region', { name: 'the exact body of the request' });
    await portal.page.getByText('Exactly as it is sent and signed').click();
    const event = portal.page.getByRole('combobox', { name: 'Event' });
    for (const [name, body] of Object.entries(samples)) {
      await event.selectOption(name);
      expect(await exact.textContent()).toBe(body);
    }
    await portal.page.getByLabel('Send it to').selectOption({ label: data[0]?.url ?? '' });
    await button('Send a test delivery').click();
    await expect
      .poll(() => sent('testWebhook').map(({ body }) => body))
      .toEqual([{ endpoint: data[0]?.id, event: Object.keys(samples).at(-1) }]);
  });
});

describe('Redelivery of all that failed', () => {
  it('sends requests until the service has taken every webhook that failed since the moment', async () => {
    let left = 3;
    portal.stub.answer('redeliverFailed', () => ({ redelivered: 25, has_more: (left -= 1) > 0 }));
    await portal.show('deliveries', 'Deliveries');
    await button('Redeliver all failed…').click();
    await button('Redeliver').click();
    await portal.page.getByText('Redelivering 75 webhooks.').waitFor();
    const moments = sent('redeliverFailed').map(({ body }) => (body as { since: string }).since);
    expect(moments).toHaveLength(3);
    expect(new Set(moments).size).toBe(1);
  });
});

describe('The deliveries of an endpoint', () => {
  it('are filtered from their host on, and all that failed are redelivered to the endpoint alone', async () => {
    await portal.show('deliveries', 'Deliveries');
    await portal.page.getByRole('row').nth(4).getByRole('link', { name: 'hooks' }).click();
    await portal.page.getByText('To the endpoint').waitFor();
    await button('Redeliver all failed…').click();
    await button('Redeliver').click();
    await portal.page.getByText('Redelivering 3 webhooks.').waitFor();
    const endpoint = 'we_4nUc0Za7BpQ3x1';
    expect(sent('listDeliveries').at(-1)?.query).toContain(`endpoint=${endpoint}`);
    expect(sent('redeliverFailed').map(({ body }) => body)).toMatchObject([{ endpoint }]);
    await button('Show all').click();
    await expect.poll(() => sent('listDeliveries').at(-1)?.query).not.toContain('endpoint');
  });
});

describe('A delivery', () => {
  it('shows a next attempt only while it is still to come', async () => {
    const { deliveries } = portal.stub.samples;
    const at = (millis: number): string => new Date(Date.now() + millis).toISOString();
    const [past, ahead] = [at(-60_000), at(630_000)];
    const data = deliveries
      .slice(0, 2)
      .map((row, index) => ({ ...row, next_attempt_at: index === 0 ? past : ahead }));
    portal.stub.answer('listDeliveries', () => ({ data, next_cursor: null }));
    await portal.show('deliveries', 'Deliveries');
    // The rows that were seen before stand there until the answer comes.
    const next = portal.page.locator('tbody td:last-child');
    await expect.poll(() => next.allTextContents()).toEqual(['–', 'in 10 minutes']);
  });
});

describe('Requests', () => {
  it('are asked for by result, code, key and way in, and the filters are in the address', async () => {
    await portal.show('requests', 'Requests');
    const { page } = portal;
    for (const [label, option] of [
      ['Result', 'Refused with 4xx'],
      ['Code', 'ERR_RATE_LIMIT'],
      ['Key', 'Playground'],
      ['Way in', 'API'],
    ] as const)
      await page.getByLabel(label, { exact: true }).selectOption(option);
    const asked = '?status=4xx&code=ERR_RATE_LIMIT&key=portal&door=api';
    const queryOf = (): URLSearchParams =>
      new URLSearchParams(sent('listPortalRequests').at(-1)?.query as string);
    await expect.poll(() => [...queryOf()].sort()).toEqual([...new URLSearchParams(asked)].sort());
    expect(new URL(page.url()).search).toBe('?result=4xx&code=ERR_RATE_LIMIT&key=portal&door=api');
    await page.getByLabel('Result', { exact: true }).selectOption('Accepted');
    await expect.poll(() => queryOf().get('outcome')).toBe('accepted');
    await button('Clear the filters').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(11);
  });

  it('open by keyboard alone, with reason, body and curl, without a violation of axe, and close again', async () => {
    const { page } = portal;
    await portal.show('requests', 'Requests');
    const keyboard = keyboardOf(page);
    await keyboard.press(/^\d+ \w+, \d+:\d+:\d+/);
    const shown = dialog();
    await shown.waitFor();
    for (const text of ['account_rate', 'at least 4213', '203.0.113.0/24'])
      await shown.getByText(text).first().waitFor();
    const curl = await shown.getByRole('region', { name: 'the request as curl' }).innerText();
    expect(curl).toContain("-X POST 'https://api.example.com/api/public/v1/images/generate'");
    expect(curl).toContain('"Authorization: Bearer $DARKROOM_API_KEY"');
    expect(curl).toContain(String.raw`"it'\''s `);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await portal.violations(), colorScheme).toEqual([]);
    }
    await page.keyboard.press('Escape');
    await shown.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('A');
    expect(await page.evaluate('window.struck')).toBeUndefined();
  });

  it('can be filtered by every code that a client gets, and by no other', () => {
    const never = ['ERR_CONTENT_POLICY', 'ERR_ACCOUNT_DISABLED'];
    const codes = Object.keys(problemStatus).filter((code) => !never.includes(code));
    expect([...requestCodes].sort()).toEqual(codes.sort());
  });
});

describe('The ledger', () => {
  it('shows more rows with the running balance, and saves a month as one file of all parts', async () => {
    portal.stub.answer('exportLedger', ({ query, headers }) => {
      if (query.get('cursor') === null) headers['x-next-cursor'] = 'two';
      return query.get('cursor') === null ? 'time,amount\n1,-0.04\n' : '2,25\n';
    });
    await portal.show('wallet', 'Wallet');
    const { page } = portal;
    const ledger = page.locator('section', {
      has: page.getByRole('heading', { name: 'Ledger', exact: true }),
    });
    await ledger.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => ledger.getByRole('row').count()).toBe(21);
    const saved = portal.page.waitForEvent('download');
    await button('Download CSV').click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe('darkroom-ledger-2026-11.csv');
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe('time,amount\n1,-0.04\n2,25\n');
    expect(sent('exportLedger').map(({ query }) => query)).toEqual([
      '?month=2026-11',
      '?month=2026-11&cursor=two',
    ]);
  });
});

describe('The playground', () => {
  it('shows the price first, and a press that is repeated after a broken connection has the same key', async () => {
    const { page, stub } = portal;
    await portal.show('playground', 'Playground');
    await page.getByText('$0.045 of').waitFor();
    await page.getByLabel('Prompt', { exact: true }).fill('a lake');
    stub.breakOff('createCreation');
    await button('Generate').click();
    await page.getByRole('alert').waitFor();
    const [broken] = sent('createCreation').map(({ headers }) => headers['idempotency-key']);
    stub.reset();
    await button('Generate').click();
    await page.getByRole('img', { name: 'The image that was generated' }).waitFor();
    await button('Generate').click();
    await expect.poll(() => sent('createCreation').length).toBe(2);
    const [first, second] = sent('createCreation').map(({ headers }) => headers['idempotency-key']);
    expect(broken).toMatch(/^[0-9a-f-]{36}$/);
    expect(first).toBe(broken);
    expect(second).not.toBe(first);
    expect(sent('createCreation')[0]?.body).toEqual({
      model: 'sandbox-standard',
      prompt: 'a lake',
      resolution: '1K',
      aspect_ratio: '1:1',
      output_format: 'png',
    });
  });

  it('keeps what is asked for in the address, where no server sees the prompt', async () => {
    const { page } = portal;
    await portal.open('playground', 'Playground');
    await page.getByLabel('Prompt', { exact: true }).fill('a pier & a lamp');
    await page.getByLabel('Seed', { exact: true }).fill('7');
    await expect.poll(() => new URL(page.url()).hash).toBe('#prompt=a+pier+%26+a+lamp&seed=7');
    await page.reload();
    expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('a pier & a lamp');
    expect(await page.getByLabel('Seed', { exact: true }).inputValue()).toBe('7');
    await page.getByText('"seed":7').waitFor();
    await page.getByRole('tab', { name: 'OpenAI SDK' }).click();
    await page.getByText('do not know resolution, aspect_ratio, seed.').waitFor();
  });

  it('shows what was made before, as the start of settings, of a source image and of a comparison', async () => {
    const { page, stub } = portal;
    const data = stub.samples.models.map((one) => ({
      ...one,
      // One is enough for the button.
      max_source_images: Math.min(1, one.max_source_images),
    }));
    stub.answer('listPortalModels', () => ({ data, next_cursor: null }));
    await portal.open('playground', 'Playground');
    const strip = page.getByRole('region', { name: 'Made here before' });
    await strip.waitFor();
    expect(await strip.getByRole('button', { name: /^(?!Compare|More)/ }).count()).toBe(10);
    await strip
      .getByRole('button', { name: stub.samples.creations[2]?.prompt ?? '', exact: true })
      .first()
      .click();
    await button('Use these settings').click();
    expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe(
      stub.samples.creations[2]?.prompt,
    );
    await page.route('**/stub/upload', (route) => route.fulfill({ status: 200 }));
    await button('Use as a source').click();
    await page.getByText(/^\d{4}-\d\d-\d\d-a-fox-asleep-in-fresh-snow-\w{6}\.png$/).waitFor();
    expect(sent('createPortalUpload')[0]?.body).toMatchObject({ content_type: 'image/png' });
    await page.unroute('**/stub/upload');
    await button(/^Compare with/)
      .first()
      .click();
    expect(await dialog().getByRole('img').count()).toBe(2);
    expect(await portal.violations('dialog')).toEqual([]);
  });

  it('orders variants: the same request with the next seeds, each once', async () => {
    const { page, stub } = portal;
    stub.answer('getPortalCreation', ({ id }) => ({
      ...stub.samples.creationDetail(stub.samples.creations[3] as CreationRow),
      ...{
        id,
        seed: 10,
        source_images: 0,
        request: { model: 'sandbox-sketch', prompt: 'a pier', seed: 10 },
      },
    }));
    await portal.open('playground', 'Playground');
    await page.locator('.strip .tile').nth(3).click();
    await button(/^4 variants, \$0\.0?4/).click();
    await expect.poll(() => sent('createCreation').length).toBe(4);
    expect(sent('createCreation').map(({ body }) => body)).toEqual(
      [11, 12, 13, 14].map((seed) => ({ model: 'sandbox-sketch', prompt: 'a pier', seed })),
    );
    expect(new Set(sent('createCreation').map(({ headers }) => headers['idempotency-key'])).size).toBe(4);
    // A press whose answers are lost goes on with the same order.
    const keys = (): unknown[] => sent('createCreation').map(({ headers }) => headers['idempotency-key']);
    stub.breakOff('createCreation');
    await button(/^4 variants/).click();
    await page.getByText('The connection broke').waitFor();
    stub.answer('createCreation', () => ({ id: 'x' }));
    await button(/^4 variants/).click();
    // The browser itself may send a request again whose connection broke.
    await expect.poll(() => new Set(keys()).size).toBe(8);
    expect(sent('createCreation').at(-1)?.body).toMatchObject({ seed: 18 });
  });

  it('sends a painted mask as a black and white PNG of the size of the first source image', async () => {
    const { page } = portal;
    await portal.open('playground', 'Playground');
    const masks: Buffer[] = [];
    await page.route('**/stub/upload', async (route) => {
      masks.push(route.request().postDataBuffer() ?? Buffer.alloc(0));
      await route.fulfill({ status: 200 });
    });
    const buffer = pngWith(320, 200, 0, Buffer.alloc(321 * 200, 0x9c));
    await page.getByLabel('Source images').setInputFiles({ name: 'hut.png', mimeType: 'image/png', buffer });
    const canvas = page.getByRole('img', { name: 'The mask of hut.png' });
    await expect.poll(() => canvas.getAttribute('width')).toBe('320');
    expect(await button('Use as the mask').isDisabled()).toBe(true);
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    const [left = 0, top = 0, width = 0, height = 0] = [box?.x, box?.y, box?.width, box?.height];
    await page.mouse.move(left + width * 0.25, top + height / 2);
    await page.mouse.down();
    await page.mouse.move(left + width * 0.75, top + height / 2, { steps: 5 });
    await page.mouse.up();
    await button('Use as the mask').click();
    await button('The mask is used').waitFor();
    const [, mask = Buffer.alloc(0)] = masks;
    expect(readImageHeader(mask)).toEqual({ contentType: 'image/png', width: 320, height: 200 });
    const levels = new Set<number>();
    for await (const row of pngRows(mask, { width: 320, height: 200 }).rows)
      for (let i = 0; i < row.length; i += 4) levels.add(row[i] ?? 0);
    expect([levels.has(0), levels.has(255)]).toEqual([true, true]);
    expect(await portal.violations('main')).toEqual([]);
    await button('Generate').click();
    await expect.poll(() => sent('createCreation').length).toBe(1);
    expect(sent('createCreation')[0]?.body).toMatchObject({ mask_url: 'upload:upl_1' });
    expect(sent('createCreation')[0]?.body).not.toHaveProperty('aspect_ratio');
    await page.unroute('**/stub/upload');
  });

  it('takes a picture of the clipboard as a source image', async () => {
    const { page } = portal;
    await portal.open('playground', 'Playground');
    await page.route('**/stub/upload', (route) => route.fulfill({ status: 200 }));
    await page.getByText('choose, drop or paste').waitFor();
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([new Uint8Array([1])], 'pasted.png', { type: 'image/png' }));
      document.dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
    }`);
    await page.getByText('pasted.png').waitFor();
    await page.unroute('**/stub/upload');
  });
});

describe('Moving between pages', () => {
  it('gives the focus to the new heading, and the way back works', async () => {
    const { page } = portal;
    await portal.show('', 'Home');
    await page.getByRole('navigation').getByRole('link', { name: 'Wallet' }).click();
    await page.getByRole('heading', { level: 1, name: 'Wallet' }).waitFor();
    await expect
      .poll(() => page.evaluate('document.activeElement.outerHTML'))
      .toBe('<h1 tabindex="-1" dir="auto">Wallet</h1>');
    expect(await page.getByRole('link', { name: 'Wallet', exact: true }).getAttribute('aria-current')).toBe(
      'page',
    );
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    expect(await page.title()).toBe('Home · Darkroom');
  });

  it('restores the loaded rows and the scroll position', async () => {
    const { page } = portal;
    await portal.open('creations?form=table', 'Creations');
    const rows = page.getByRole('row');
    await button('Show more').click();
    await expect.poll(() => rows.count()).toBe(21);
    const link = page.locator('a.creation-link').nth(17);
    await link.scrollIntoViewIfNeeded();
    const place = await page.evaluate('scrollY');
    expect(place).toBeGreaterThan(100);
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Creation', exact: true }).waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Creations' }).waitFor();
    expect(await rows.count()).toBe(21);
    expect(await page.evaluate('scrollY')).toBe(place);
    // The rows are read again, as many as there were.
    await expect.poll(() => sent('listPortalCreations').length).toBe(4);
    expect(await rows.count()).toBe(21);
    expect(await page.evaluate('scrollY')).toBe(place);
  });

  it('keeps a chosen theme in this browser', async () => {
    const { page } = portal;
    await portal.open('', 'Home');
    await page.getByLabel('Theme').selectOption('light');
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light');
    expect(await storage()).toBe('[{"darkroom.theme":"light"},{}]');
    await page.getByLabel('Theme').selectOption('system');
    expect(await storage()).toBe('[{},{}]');
  });
});
