import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Account } from '../../service/accounts/account.ts';
import { createRequestStore } from '../../service/api/request-store.ts';
import { putItem } from '../../service/aws/dynamodb/send.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import {
  type PortalOperation,
  type PortalOperationName,
  portalOperations,
  roles,
} from '../../service/contract/operations.ts';
import { type Browser, invite } from '../fixtures/portal.ts';
import { accountId } from '../fixtures/records.ts';
import { previousOriginSecret, startPortal } from './portal-fixture.ts';

const names = Object.keys(portalOperations) as PortalOperationName[];
const operationOf = (name: PortalOperationName): PortalOperation => portalOperations[name];

const signedIn = new Map<string, ReadonlyMap<string, string>>();

/** A browser with a session of its own sign-in, so that a test may spoil it. */
async function as(email: string): Promise<Browser> {
  const browser = stage.browser();
  const landed = await browser.signIn(email);
  if (landed.search !== '') throw new Error(landed.href);
  return browser;
}

/** A browser with the session that all tests share. */
function shared(email: string): Browser {
  const browser = stage.browser();
  for (const [name, value] of signedIn.get(email) ?? []) browser.cookies.set(name, value);
  return browser;
}

function call(browser: Browser, name: PortalOperationName, query = ''): ReturnType<Browser['send']> {
  const { method, path } = operationOf(name);
  const body = name === 'setEmails' ? { notices: [] } : {};
  return browser.send(method, path.replace('{id}', 'Target1') + query, method === 'GET' ? undefined : body);
}

const code = ({ body }: Awaited<ReturnType<Browser['send']>>): unknown => {
  const { error } = body as { error?: { code: string; details: { reason?: string } } };
  return error && [error.code, error.details.reason].filter((part) => part !== undefined).join(' ');
};

function sessionCookie(): string {
  return `darkroom-portal-${new URL(stage.portalUrl).port}`;
}

/** The ids with which showKey was asked. */
const pathIds: string[] = [];
const stage = await startPortal({
  handlers: {
    showKey: ({ pathId }) => {
      pathIds.push(pathId);
      return Promise.resolve({ status: 200, body: { ok: true } });
    },
  },
});
for (const role of roles) await invite(stage.people, accountId, `${role}@acme.test`, role);
await invite(stage.people, 'SERVICE', 'operator@host.test', 'operator');
for (const email of [...roles.map((role) => `${role}@acme.test`), 'operator@host.test'])
  signedIn.set(email, (await as(email)).cookies);
beforeEach(() => {
  stage.added.secret = 'secret of the origin';
  stage.added.viewer = '203.0.113.9:4711';
});
afterEach(() => vi.useRealTimers());
afterAll(() => stage.end());

describe('every operation of the contract', () => {
  it('is open to the distribution with the newest secret and with the one before it, and closed with any other', async () => {
    const browser = shared('owner@acme.test');
    const seen: unknown[] = [];
    for (const secret of ['secret of the origin', previousOriginSecret, 'secret of the origim']) {
      stage.added.secret = secret;
      seen.push(code(await browser.send('GET', '/me')));
    }
    expect(seen).toEqual([undefined, undefined, 'ERR_FORBIDDEN origin']);
  });

  it('is never kept by a cache', async () => {
    for (const name of names)
      expect((await call(shared('owner@acme.test'), name)).headers.get('cache-control')).toBe('no-store');
  });

  it('refuses a query parameter that it does not take', async () => {
    const browser = shared('owner@acme.test');
    for (const name of names.filter((one) => !['operator', 'person'].includes(operationOf(one).role)))
      expect([name, code(await call(browser, name, '?nonsense=1'))]).toEqual([name, 'ERR_INVALID_REQUEST']);
  });
});

describe('an operation without a route of its own', () => {
  it('gets the id of its path, decoded', async () => {
    const browser = shared('viewer@acme.test');
    for (const [path, id] of [
      ['/keys/Target1', 'Target1'],
      ['/keys/a%20b', 'a b'],
    ]) {
      pathIds.length = 0;
      expect((await browser.send('GET', path ?? '')).status).toBe(200);
      expect(pathIds).toEqual([id]);
    }
    expect((await browser.send('GET', '/keys/a%2Fb')).status).toBe(404);
  });
});

describe('a request that changes something', () => {
  // Node's fetch sends no Sec-Fetch-Site.
  it('of a browser without Sec-Fetch-Site is answered when it has the Origin of the portal', async () => {
    const headers = { 'sec-fetch-mode': 'cors', origin: new URL(stage.portalUrl).origin };
    const alerts = new URL('/api/portal/v1/alerts', stage.portalUrl);
    const answer = await shared('owner@acme.test').visit(alerts, { method: 'PUT', headers });
    expect(answer.status).toBe(200);
  });
});

describe('a session', () => {
  it.each([
    ['60 minutes without a request', 60 * 60_000, 401],
    ['59 minutes without a request', 59 * 60_000 - 1, 200],
  ])('after %s is answered as it has to be', async (_what, millis, status) => {
    // Later than the beginning of the owner's membership, which began with the stage.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const browser = await as('owner@acme.test');
    vi.setSystemTime(Date.now() + millis);
    expect((await browser.send('GET', '/home')).status).toBe(status);
  });

  it('ends for a person whose sessions were ended, and for one who was removed, at the next request', async () => {
    await invite(stage.people, accountId, 'guest@acme.test', 'viewer');
    const browser = await as('guest@acme.test');
    const guest = async () =>
      (await stage.people.listMembers(accountId)).find(({ email }) => /^guest/.test(email));
    const member = await guest();
    if (!member) throw new Error('the guest is gone');
    expect(await stage.people.endSessions(accountId, member.personId, Date.now())).toBe(true);
    expect(code(await browser.send('GET', '/home'))).toBe('ERR_SESSION_REQUIRED session_ended');
    const again = await as('guest@acme.test');
    expect((await again.send('GET', '/home')).status).toBe(200);
    const now = await guest();
    expect(now && (await stage.people.removeMember(now))).toBe('changed');
    // Ending the sessions of a removed person returns false, and stores no member.
    expect(await stage.people.endSessions(accountId, member.personId, Date.now())).toBe(false);
    expect(await guest()).toBeUndefined();
    const refused = await again.send('GET', '/home');
    expect(code(refused)).toBe('ERR_FORBIDDEN role');
    expect(refused.body).toMatchObject({ error: { details: { is_member: false } } });
    expect((await again.signIn('guest@acme.test')).search).toBe('?error=not_invited');
  });

  it('from before a removal stays dead when the person is invited again', async () => {
    await invite(stage.people, accountId, 'twice@acme.test', 'viewer');
    const before = await as('twice@acme.test');
    const member = (await stage.people.listMembers(accountId)).find(({ email }) => /^twice/.test(email));
    expect(member && (await stage.people.removeMember(member))).toBe('changed');
    await invite(stage.people, accountId, 'twice@acme.test', 'viewer');
    const after = await as('twice@acme.test');
    expect((await after.send('GET', '/home')).status).toBe(200);
    expect(code(await before.send('GET', '/home'))).toBe('ERR_SESSION_REQUIRED session_ended');
  });

  it('of an operator ends when the person is no operator any more', async () => {
    await invite(stage.people, 'SERVICE', 'second@host.test', 'operator');
    const browser = await as('second@host.test');
    expect((await browser.send('GET', '/operator/accounts')).status).toBe(200);
    const operator = (await stage.people.listOperators()).find(({ email }) => email === 'second@host.test');
    expect(operator && (await stage.people.removeOperator(operator.personId))).toBe('changed');
    expect(code(await browser.send('GET', '/operator/accounts'))).toBe('ERR_FORBIDDEN role');
  });

  it('belongs to the person and the account of its cookie alone', async () => {
    const browser = shared('viewer@acme.test');
    const [token = '', person = ''] = (browser.cookies.get(sessionCookie()) ?? '').split('.');
    const owner = (await stage.people.listMembers(accountId)).find(({ role }) => role === 'owner')?.personId;
    for (const value of [
      `${token}.${owner}.${accountId}`,
      `${token}.${person}.Acc0unt002`,
      `${token}.${person}.-`,
    ]) {
      browser.cookies.set(sessionCookie(), value);
      stage.added.viewer = '198.51.100.1:1';
      const answer = await browser.send('GET', '/me');
      expect(code(answer)).toBe('ERR_SESSION_REQUIRED unknown_session');
      expect(browser.cookies.has(sessionCookie())).toBe(false);
    }
  });
});

describe('the account', () => {
  const change = (condition: Account['condition']): Promise<void> =>
    stage.accounts.change(accountId, { condition });
  afterEach(() => change('active'));

  it('keeps its portal when it is suspended, apart from the playground', async () => {
    await change('suspended');
    const browser = shared('owner@acme.test');
    for (const name of names.filter((one) => !['operator', 'person'].includes(operationOf(one).role))) {
      const wanted =
        operationOf(name).function === 'generate' ? 'ERR_API_SUSPENDED api_suspended' : undefined;
      expect([name, code(await call(browser, name))]).toEqual([name, wanted]);
    }
  });

  it('shows a person only who is signed in when it is disabled', async () => {
    await change('disabled');
    const browser = shared('owner@acme.test');
    expect(code(await browser.send('GET', '/me'))).toBeUndefined();
    expect(code(await browser.send('GET', '/home'))).toBe('ERR_ACCOUNT_DISABLED account_disabled');
    expect(code(await browser.send('DELETE', '/keys/x'))).toBe('ERR_ACCOUNT_DISABLED account_disabled');
  });
});

describe('the way to the portal', () => {
  it.each([[undefined], [''], ['secret of the orbit'], ['secret of the origin!']])(
    'is closed with the secret %j, before anything is read',
    async (secret) => {
      stage.added.secret = secret;
      const from = stage.calls().length;
      const browser = shared('owner@acme.test');
      expect(code(await browser.send('GET', '/home'))).toBe('ERR_FORBIDDEN origin');
      expect((await browser.visit(new URL('/auth/login', stage.portalUrl))).status).toBe(403);
      expect(stage.calls().slice(from)).toEqual([]);
    },
  );
});

describe('a path or method that the portal does not know', () => {
  const unknown = [
    ['GET', '/api/portal/v1/nothing'],
    ['POST', '/api/portal/v1/me'],
    ['OPTIONS', '/api/portal/v1/keys'],
    ['GET', '/auth/logout'],
    // The paths that one route leads to the function that reads.
    ['GET', '/api/portal/v1/keys/'],
    ['GET', '/api/portal/v1/keys/a/b'],
    ['GET', '/api/portal/v1/home/more'],
    ['GET', '/auth/home'],
    ['DELETE', '/auth/nothing/more'],
  ] as const;

  it('is answered 404 by the portal, kept by no cache, and counted nowhere', async () => {
    const from = stage.calls().length;
    for (const [method, path] of unknown) {
      const answer = await stage.browser().visit(new URL(path, stage.portalUrl), { method });
      expect([method, path, answer.status]).toEqual([method, path, 404]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.json()).toMatchObject({
        error: { code: 'ERR_NOT_FOUND', message: 'The portal has no such operation.' },
      });
    }
    expect(stage.calls().slice(from)).toEqual([]);
  });

  it('is refused like everything else that did not come through the distribution', async () => {
    stage.added.secret = undefined;
    for (const [method, path] of unknown)
      expect((await stage.browser().visit(new URL(path, stage.portalUrl), { method })).status).toBe(403);
  });
});

describe('the address of a browser', () => {
  // Rejections count by the minute, and no test begins shortly before the end of one.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  });
  const guess = (letter: string): string => `${letter.repeat(43)}.${'p'.repeat(43)}.-`;
  const tries = async (count: number, browser: Browser, prepare: () => void): Promise<string[]> => {
    const seen = new Set<string>();
    for (let one = 0; one < count; one += 1) {
      prepare();
      seen.add(String(code(await browser.send('GET', '/home'))));
    }
    return [...seen];
  };

  it('is blocked everywhere after 20 cookies that nobody was given, and the sign-in says so', async () => {
    stage.added.viewer = '2001:db8:1:2:3:4:5:6:4711';
    const browser = stage.browser();
    let turn = 0;
    const prepare = (): void => {
      turn += 1;
      browser.cookies.set(sessionCookie(), turn % 2 === 0 ? 'nonsense' : guess(String(turn % 10)));
    };
    expect(await tries(20, browser, prepare)).toEqual(['ERR_SESSION_REQUIRED unknown_session']);
    // The whole /64 network of an IPv6 address is one host.
    stage.added.viewer = '2001:db8:1:2::9:1';
    expect(code(await shared('owner@acme.test').send('GET', '/home'))).toBe('ERR_RATE_LIMIT burst_block');
    expect((await browser.signIn('owner@acme.test')).search).toBe('?error=blocked');
    stage.added.viewer = '203.0.113.9:4711';
    expect((await shared('owner@acme.test').send('GET', '/home')).status).toBe(200);
  });

  it('is not blocked by requests without a cookie, with a session that ended, or that are forbidden', async () => {
    stage.added.viewer = '198.51.100.2:1';
    const ended = await as('owner@acme.test');
    const kept = ended.cookies.get(sessionCookie()) ?? '';
    await ended.signOut();
    const prepare = (): void => void ended.cookies.set(sessionCookie(), kept);
    expect(await tries(21, ended, prepare)).toEqual(['ERR_SESSION_REQUIRED session_ended']);
    expect(await tries(21, stage.browser(), () => undefined)).toEqual(['ERR_SESSION_REQUIRED no_session']);
    const viewer = shared('viewer@acme.test');
    for (let one = 0; one < 21; one += 1)
      expect(code(await viewer.send('GET', '/people'))).toBe('ERR_FORBIDDEN role');
    expect((await viewer.send('GET', '/home')).status).toBe(200);
  });

  it('that is blocked only from the public API still reaches the portal', async () => {
    stage.added.viewer = '198.51.100.3:1';
    const block = { untilMillis: Date.now() + 60_000, scope: 'public' };
    await putItem(stage.table, { ...keys.block('198.51.100.3'), ...block });
    expect((await shared('owner@acme.test').send('GET', '/home')).status).toBe(200);
    await putItem(stage.table, { ...keys.block('198.51.100.3'), ...block, scope: 'all' });
    expect((await shared('owner@acme.test').send('GET', '/home')).status).toBe(429);
  });

  it('that is blocked because of requests without a key still has its sessions and the sign-in', async () => {
    stage.added.viewer = '198.51.100.8:1';
    const requests = createRequestStore(stage.table);
    for (let one = 0; one < 25; one += 1)
      await requests.countRejection('198.51.100.8', 'keyless', Date.now());
    const browser = await as('owner@acme.test');
    expect((await browser.send('GET', '/home')).status).toBe(200);
    expect(code(await stage.browser().send('GET', '/home'))).toBe('ERR_RATE_LIMIT burst_block');
    browser.cookies.set(sessionCookie(), guess('x'));
    expect(code(await browser.send('GET', '/home'))).toBe('ERR_RATE_LIMIT burst_block');
    // Twenty wrong keys beside them block everything.
    for (let one = 0; one < 20; one += 1) await requests.countRejection('198.51.100.8', '401', Date.now());
    await requests.countRejection('198.51.100.8', 'keyless', Date.now());
    expect(code(await shared('owner@acme.test').send('GET', '/home'))).toBe('ERR_RATE_LIMIT burst_block');
  });
});
