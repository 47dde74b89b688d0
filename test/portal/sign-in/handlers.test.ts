import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { putItem } from '../../../service/aws/dynamodb/send.ts';
import { keys } from '../../../service/aws/dynamodb/table.ts';
import { type Browser, invite } from '../../fixtures/portal.ts';
import { accountId } from '../../fixtures/records.ts';
import { startPortal } from '../portal-fixture.ts';

const stage = await startPortal();
await invite(stage.people, accountId, 'Owner@Acme.test', 'owner');
afterEach(() => vi.useRealTimers());
afterAll(() => stage.end());

const sessionCookie = (): string => `darkroom-portal-${new URL(stage.portalUrl).port}`;
const signInCookie = (): string => `${sessionCookie()}-sign-in`;

async function errorOf(landing: Promise<URL>): Promise<string | null> {
  const url = await landing;
  expect(url.pathname).toBe('/portal/');
  return url.searchParams.get('error');
}

/** Where the callback leads. */
async function land(browser: Browser, callback: URL): Promise<URL> {
  const answer = await browser.visit(callback);
  return new URL(answer.headers.get('location') ?? '', callback);
}

describe('a sign-in', () => {
  it('ends at the page it was begun for, with a session in the account of the invitation', async () => {
    const browser = stage.browser();
    const landed = await browser.signIn('owner@acme.test', { returnTo: '/portal/keys?new=1' });
    expect(`${landed.pathname}${landed.search}`).toBe('/portal/keys?new=1');
    expect(await browser.send('GET', '/keys')).toMatchObject({ status: 200, body: { ok: true } });
    const [member] = await stage.people.listMembers(accountId);
    expect(member).toMatchObject({ email: 'owner@acme.test', role: 'owner' });
    expect(await stage.people.listInvitations(accountId)).toEqual([]);
  });

  it('gives a cookie that no script reads, and keeps only a hash of the cookie', async () => {
    const browser = stage.browser();
    const callback = await browser.signInUntilCallback('owner@acme.test');
    const answer = await browser.visit(callback);
    const [, kept = ''] = answer.headers.getSetCookie();
    expect(kept).toMatch(
      /^darkroom-portal-\d+=[\w-]{43}\.[\w-]{43}\.Acc0unt001; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const token = browser.cookies.get(sessionCookie())?.split('.')[0] ?? '';
    const code = callback.searchParams.get('code') ?? '';
    for (const text of [stage.stored(), stage.log.text()])
      for (const secret of [token, code, 'secret of the client']) expect(text).not.toContain(secret);
  });

  it('writes nothing before the person has proved who they are', async () => {
    const from = stage.calls().length;
    await stage.browser().signInUntilCallback('owner@acme.test');
    expect(
      stage
        .calls()
        .slice(from)
        .filter((call) => !/^(BatchGet|Query)/.test(call)),
    ).toEqual([]);
  });

  it('gives a new session each time, and ends the one before', async () => {
    const browser = stage.browser();
    await browser.signIn('owner@acme.test');
    const before = browser.cookies.get(sessionCookie()) ?? '';
    await browser.signIn('owner@acme.test');
    expect(browser.cookies.get(sessionCookie())).not.toBe(before);
    expect((await browser.send('GET', '/me')).status).toBe(200);
    browser.cookies.set(sessionCookie(), before);
    expect((await browser.send('GET', '/me')).body).toMatchObject({
      error: { code: 'ERR_SESSION_REQUIRED', details: { reason: 'session_ended' } },
    });
  });
});

describe('a callback', () => {
  it('that comes a second time signs nobody in', async () => {
    const browser = stage.browser();
    const callback = await browser.signInUntilCallback('owner@acme.test');
    const begun = browser.cookies.get(signInCookie()) ?? '';
    await browser.visit(callback);
    expect(await errorOf(land(browser, callback))).toBe('expired');
    browser.cookies.set(signInCookie(), begun);
    expect(await errorOf(land(browser, callback))).toBe('refused');
  });

  it('of another browser signs nobody in, whether a sign-in has begun here or not', async () => {
    const foreign = await stage.browser().signInUntilCallback('owner@acme.test');
    const browser = stage.browser();
    expect(await errorOf(land(browser, foreign))).toBe('expired');
    await browser.signInUntilCallback('owner@acme.test');
    expect(await errorOf(land(browser, foreign))).toBe('refused');
    expect(browser.cookies.has(sessionCookie())).toBe(false);
  });

  it('with the code of another browser signs nobody in', async () => {
    const stolen = await stage.browser().signInUntilCallback('owner@acme.test');
    const browser = stage.browser();
    const own = await browser.signInUntilCallback('owner@acme.test');
    own.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    expect(await errorOf(land(browser, own))).toBe('refused');
  });

  it('that names another issuer signs nobody in', async () => {
    const browser = stage.browser();
    const callback = await browser.signInUntilCallback('owner@acme.test');
    callback.searchParams.set('iss', 'https://other.test');
    expect(await errorOf(land(browser, callback))).toBe('refused');
  });

  it('more than ten minutes after the beginning, or with an altered cookie, signs nobody in', async () => {
    const browser = stage.browser();
    const callback = await browser.signInUntilCallback('owner@acme.test');
    const begun = browser.cookies.get(signInCookie()) ?? '';
    browser.cookies.set(signInCookie(), `${begun.slice(0, -2)}AA`);
    expect(await errorOf(land(browser, callback))).toBe('expired');
    browser.cookies.set(signInCookie(), begun);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_001 });
    expect(await errorOf(land(browser, callback))).toBe('expired');
  });

  it('of an address that is blocked signs nobody in, and opens no cookie', async () => {
    const browser = stage.browser();
    const callback = await browser.signInUntilCallback('owner@acme.test');
    const block = { untilMillis: Date.now() + 60_000, scope: 'all' };
    await putItem(stage.table, { ...keys.block('203.0.113.9'), ...block });
    expect(await errorOf(land(browser, callback))).toBe('blocked');
    await putItem(stage.table, { ...keys.block('203.0.113.9'), ...block, isKeyless: true });
    browser.cookies.delete(signInCookie());
    expect(await errorOf(land(browser, callback))).toBe('expired');
    await putItem(stage.table, { ...keys.block('203.0.113.9'), ...block, untilMillis: 0 });
  });

  it('blocks its address after twenty forged cookies, and not after callbacks without a cookie', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    stage.added.viewer = '198.51.100.7:1';
    const browser = stage.browser();
    const callback = new URL('/auth/callback?code=x&state=y', stage.portalUrl);
    const errors = async (cookie: string | undefined, times: number): Promise<unknown[]> => {
      const seen = new Set<unknown>();
      for (let one = 0; one < times; one += 1) {
        if (cookie === undefined) browser.cookies.delete(signInCookie());
        else browser.cookies.set(signInCookie(), cookie);
        seen.add(await errorOf(land(browser, callback)));
      }
      return [...seen];
    };
    expect(await errors(undefined, 21)).toEqual(['expired']);
    expect(await errors(`v1.v1.${'A'.repeat(16)}.${'A'.repeat(60)}`, 20)).toEqual(['expired']);
    expect(await errors(undefined, 1)).toEqual(['blocked']);
    stage.added.viewer = '203.0.113.9:4711';
  });

  it('blocks its address after twenty codes that the issuer refused, and not after callbacks of other sign-ins', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const browser = stage.browser();
    const callback = await browser.signInUntilCallback('owner@acme.test');
    stage.added.viewer = '198.51.100.9:1';
    const begun = browser.cookies.get(signInCookie()) ?? '';
    callback.searchParams.set('code', 'guessed');
    const errors = async (times: number, state: string): Promise<unknown[]> => {
      callback.searchParams.set('state', state);
      const seen = new Set<unknown>();
      for (let one = 0; one < times; one += 1) {
        browser.cookies.set(signInCookie(), begun);
        seen.add(await errorOf(land(browser, callback)));
      }
      return [...seen];
    };
    const own = callback.searchParams.get('state') ?? '';
    expect(await errors(21, 'of-another-sign-in')).toEqual(['refused']);
    expect(await errors(20, own)).toEqual(['refused']);
    expect(await errors(1, own)).toEqual(['blocked']);
    stage.added.viewer = '203.0.113.9:4711';
  });

  it('returns to the page that the person stopped', async () => {
    const browser = stage.browser();
    const callback = await browser.signInUntilCallback('owner@acme.test');
    callback.searchParams.delete('code');
    callback.searchParams.set('error', 'access_denied');
    expect(await errorOf(land(browser, callback))).toBe('cancelled');
  });
});

describe('a stranger', () => {
  it('who is not invited leaves nothing behind', async () => {
    const before = stage.stored();
    expect(await errorOf(stage.browser().signIn('stranger@acme.test'))).toBe('not_invited');
    expect(stage.stored()).toBe(before);
  });

  it('with an unverified address takes up no invitation to that address', async () => {
    await invite(stage.people, accountId, 'invited@acme.test', 'viewer');
    const before = stage.stored();
    expect(await errorOf(stage.browser().signIn('invited@acme.test', { isVerified: false }))).toBe(
      'unverified',
    );
    expect(stage.stored()).toBe(before);
  });

  it('with an address that a member has is not that member', async () => {
    expect(await errorOf(stage.browser().signIn('owner@acme.test', { isVerified: false }))).toBe(
      'unverified',
    );
  });
});

describe('an invited address', () => {
  it.each([
    ['a Kelvin sign', '\u212aate@acme.test', 'kate@acme.test'],
    ['a letter A with a ring that is a sign of its own', '\u212bsa@acme.test', '\u00e5sa@acme.test'],
    ['a capital letter I with a dot', '\u0130da@acme.test', 'i\u0307da@acme.test'],
  ])('that only looks like another address, with %s, takes up no invitation', async (_name, own, invited) => {
    await invite(stage.people, accountId, invited, 'owner');
    expect(await errorOf(stage.browser().signIn(own))).toBe('not_invited');
    expect((await stage.browser().signIn(invited)).search).toBe('');
  });
});

describe('a sign-out', () => {
  it('ends the session here and at the issuer, and leads back', async () => {
    const browser = stage.browser();
    await browser.signIn('owner@acme.test');
    const kept = browser.cookies.get(sessionCookie()) ?? '';
    const issuer = await browser.signOut();
    expect(browser.cookies.get(sessionCookie()) ?? '').toBe('');
    expect(issuer.pathname).toBe('/_local/issuer/session/end');
    const page = await (await browser.visit(issuer)).text();
    expect(page).toContain('Sign out of the local sign-in service, too');
    const secret = /name="xsrf" value="(\w+)"/.exec(page)?.[1] ?? '';
    const form = new URLSearchParams({ xsrf: secret, logout: 'yes' });
    const back = await browser.visit(`${issuer.origin}${issuer.pathname}/confirm`, {
      method: 'POST',
      body: form,
    });
    expect(back.headers.get('location')).toBe(stage.portalUrl);
    browser.cookies.set(sessionCookie(), kept);
    expect((await browser.send('GET', '/me')).status).toBe(401);
  });

  it('that a foreign page asks for is refused', async () => {
    const browser = stage.browser();
    await browser.signIn('owner@acme.test');
    const address = new URL('/auth/logout', stage.portalUrl);
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await browser.visit(address, { method: 'POST', headers })).status).toBe(403);
    expect((await browser.visit(address)).status).toBe(404);
    expect((await browser.send('GET', '/me')).status).toBe(200);
  });
});
