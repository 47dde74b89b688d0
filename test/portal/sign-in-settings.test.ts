import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AccountId } from '../../service/values/ids.ts';
import { invite } from '../fixtures/portal.ts';
import { accountId, anAccount } from '../fixtures/records.ts';
import { type PortalStage, type PortalStageOptions, startPortal } from './portal-fixture.ts';
import { returnPath } from '../../service/portal/sign-in/login.ts';

let stage: PortalStage;
afterEach(async () => {
  vi.useRealTimers();
  await stage.end();
});

async function start(options: PortalStageOptions = {}): Promise<void> {
  stage = await startPortal(options);
  await invite(stage.people, accountId, 'owner@acme.test', 'owner');
}

function pass(millis: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + millis });
}

/** The claims of the issuer, without the time of the proof. */
const claims = { issuer: 'https://issuer.test', subject: 'u', email: 'owner@acme.test', emailVerified: true };

describe('the settings of the sign-in', () => {
  it('may count every address of the issuer as verified', async () => {
    await start({ settings: { emailsAreVerified: true } });
    const browser = stage.browser();
    expect((await browser.signIn('owner@acme.test', { isVerified: false })).search).toBe('');
    expect(await stage.people.listMembers(accountId)).toHaveLength(1);
  });

  it('may name an issuer that does not answer, and the page says so', async () => {
    await start({ issuer: 'http://127.0.0.1:9/nobody' });
    const landed = await stage.browser().signIn('owner@acme.test');
    expect(landed.href).toBe(`${stage.portalUrl}?error=unavailable`);
    expect(stage.log.lines).toContain('info issuer_unavailable');
  });

  it('may say that the issuer never states when the person proved who they are', async () => {
    await start({ settings: { hasAuthTime: false }, identity: { redeem: () => Promise.resolve(claims) } });
    const browser = stage.browser();
    await browser.signIn('owner@acme.test');
    expect((await browser.send('POST', '/keys')).status).toBe(200);
  });
});

describe('a fresh sign-in', () => {
  it('is asked for after 15 minutes, and opens what is dangerous again', async () => {
    await start();
    const browser = stage.browser();
    await browser.signIn('owner@acme.test');
    expect((await browser.send('POST', '/keys')).status).toBe(200);
    pass(15 * 60_000);
    expect((await browser.send('POST', '/keys')).body).toMatchObject({
      error: { code: 'ERR_FORBIDDEN', details: { reason: 'reauthenticate' } },
    });
    expect((await browser.send('PATCH', '/keys/Key001')).status).toBe(200);
    // A sign-in without a new proof at the issuer changes nothing.
    await browser.signIn('owner@acme.test');
    expect((await browser.send('POST', '/keys')).status).toBe(403);
    expect((await browser.signIn('owner@acme.test', { isFresh: true })).search).toBe('');
    expect((await browser.send('POST', '/keys')).status).toBe(200);
  });

  it.each([
    ['an old proof', { authTime: 1_700_000_000 }],
    ['no time of the proof', {}],
  ])('fails when the issuer answers with %s', async (_what, authTime) => {
    await start({ identity: { redeem: () => Promise.resolve({ ...claims, ...authTime }) } });
    const browser = stage.browser();
    expect((await browser.signIn('owner@acme.test', { isFresh: true })).search).toBe('?error=stale');
    await browser.signIn('owner@acme.test');
    expect((await browser.send('POST', '/keys')).body).toMatchObject({
      error: { details: { reason: 'reauthenticate' } },
    });
  });
});

describe('a person of two accounts', () => {
  const other = 'Acc0unt002' as AccountId;

  it('switches to the other account with a new session of the same age', async () => {
    await start();
    await stage.accounts.create(anAccount({ id: other, name: 'Other' }));
    await invite(stage.people, other, 'owner@acme.test', 'viewer');
    const browser = stage.browser();
    await browser.signIn('owner@acme.test');
    const [name = '', before = ''] = [...browser.cookies].find(([one]) => /portal-\d+$/.test(one)) ?? [];
    const [from, to] = before.endsWith(other) ? [other, accountId] : [accountId, other];
    pass(30 * 60_000);
    expect(await browser.send('POST', '/account', { account: to })).toMatchObject({
      status: 200,
      body: { account: to },
    });
    expect(browser.cookies.get(name)?.endsWith(`.${to}`)).toBe(true);
    expect((await browser.send('GET', '/home')).status).toBe(200);
    const after = browser.cookies.get(name) ?? '';
    browser.cookies.set(name, before);
    expect((await browser.send('GET', '/home')).status).toBe(401);
    browser.cookies.set(name, after);
    // Twelve hours after the sign-in the session ends, though it is in use.
    for (let minutes = 30; minutes < 690; minutes += 55) {
      pass(55 * 60_000);
      expect((await browser.send('GET', '/home')).status).toBe(200);
    }
    pass(30 * 60_000);
    expect((await browser.send('GET', '/home')).status).toBe(401);
    expect(from).not.toBe(to);
  });

  it('switches to no account of somebody else, and to none where the sessions were ended', async () => {
    await start();
    await stage.accounts.create(anAccount({ id: other }));
    const browser = stage.browser();
    await browser.signIn('owner@acme.test');
    for (const account of [other, 'nonsense', 'Acc0unt009'])
      expect((await browser.send('POST', '/account', { account })).body).toMatchObject({
        error: { code: 'ERR_NOT_FOUND', message: 'You belong to no account with this id.' },
      });
    const [member] = await stage.people.listMembers(accountId);
    expect(member && (await stage.people.endSessions(accountId, member.personId, Date.now()))).toBe(true);
    expect((await browser.send('POST', '/account', { account: accountId })).status).toBe(401);
    expect((await browser.send('POST', '/account', 'nonsense')).status).toBe(401);
  });
});

/** The parts of paths that URL parsers treat in a special way, and some that they do not. */
const parts = [
  '/',
  '//',
  '..',
  '.',
  '%2e%2e',
  '%2f',
  '\\',
  '\t',
  '\n',
  'evil.test',
  'portal',
  '@',
  ':',
  '?',
  '#',
];

/** Every path of up to five parts. */
function* paths(length: number): Generator<string> {
  yield '/';
  if (length === 0) return;
  for (const rest of paths(length - 1)) for (const part of parts) yield `${rest}${part}`;
}

describe.each(['https://portal.test/', 'https://portal.test/portal/'])('a portal at %s', (address) => {
  const portalUrl = new URL(address);

  it('A sign-in returns to the page that it was begun for', () => {
    const page = `${portalUrl.pathname}creations?status=failed&user=a%2Fb`;
    expect(returnPath(page, portalUrl)).toBe(page);
  });

  it.each([
    '/..//evil.test',
    '/%2e%2e//evil.test',
    '/.//evil.test',
    '//evil.test',
    '/\\evil.test',
    '/portal/..//evil.test',
  ])('A sign-in that is to return to %s returns to the first page', (wanted) => {
    expect(returnPath(wanted, portalUrl)).toBe(portalUrl.pathname);
  });

  it('Whatever a sign-in is to return to, a browser reads the result as the same path of the portal', () => {
    const foreign = [...new Set(paths(4))].filter((wanted) => {
      const path = returnPath(wanted, portalUrl);
      const read = new URL(path, portalUrl);
      const isSame = read.href === `${portalUrl.origin}${path}`;
      return !isSame || read.origin !== portalUrl.origin || !read.pathname.startsWith(portalUrl.pathname);
    });
    expect(foreign).toEqual([]);
  });
});
