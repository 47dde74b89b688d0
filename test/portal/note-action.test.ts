import { afterEach, describe, expect, it } from 'vitest';
import type { Action } from '../../service/operated/action-store.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { Problem } from '../../service/values/problem.ts';
import { type Browser, invite } from '../fixtures/portal.ts';
import { accountId } from '../fixtures/records.ts';
import { type PortalStage, type PortalStageOptions, startPortal } from './portal-fixture.ts';

let stage: PortalStage;
afterEach(() => stage.end());

async function start(options: PortalStageOptions): Promise<Browser> {
  stage = await startPortal(options);
  await invite(stage.people, accountId, 'owner@acme.test', 'owner');
  await invite(stage.people, 'SERVICE', 'owner@acme.test', 'operator');
  const browser = stage.browser();
  await browser.signIn('owner@acme.test');
  return browser;
}

async function rows(scope: Action['scope'] = accountId): Promise<readonly Action[]> {
  return (await stage.actions.list(scope, 50)).actions;
}

describe('the log of actions', () => {
  it('names who did what to what, and how it ended, the newest first', async () => {
    const browser = await start({
      handlers: {
        createKey: () =>
          Promise.resolve({ status: 201, body: {}, logged: { target: 'Key009', note: 'server' } }),
        revokeKey: () => Promise.reject(new Problem('ERR_NOT_FOUND', 'There is no such key.')),
        rollKey: () => Promise.reject(new Error('died')),
        changeKey: () => Promise.reject(new Overloaded('busy')),
        testWebhook: () => Promise.reject(new Problem('ERR_PROVIDER_UNAVAILABLE', 'Nobody knows.')),
      },
    });
    await browser.send('POST', '/keys', {});
    await browser.send('DELETE', '/keys/Key001');
    await browser.send('POST', '/keys/Key002/roll', {});
    await browser.send('PATCH', '/keys/Key003', {});
    await browser.send('POST', '/webhooks/test', {});
    const [member] = await stage.people.listMembers(accountId);
    const who = { scope: accountId, personId: member?.personId, email: 'owner@acme.test' };
    expect(await rows()).toMatchObject([
      { ...who, action: 'testWebhook', outcome: 'begun' },
      { ...who, action: 'changeKey', target: 'Key003', outcome: 'begun' },
      { ...who, action: 'rollKey', target: 'Key002', outcome: 'begun' },
      { ...who, action: 'revokeKey', target: 'Key001', outcome: 'refused', note: 'ERR_NOT_FOUND' },
      { ...who, action: 'createKey', target: 'Key009', outcome: 'done', note: 'server' },
    ]);
  });

  it('holds the row before the action begins', async () => {
    const seen: unknown[] = [];
    const browser = await start({
      handlers: {
        revokeKey: async () => {
          seen.push(...(await rows()).map(({ outcome }) => outcome));
          return { status: 200, body: {} };
        },
      },
    });
    await browser.send('DELETE', '/keys/Key001');
    expect(seen).toEqual(['begun']);
    expect((await rows()).map(({ outcome }) => outcome)).toEqual(['done']);
  });

  it('stops an action that it cannot note', async () => {
    let ran = false;
    const browser = await start({
      breaks: (operation, input) => operation === 'PutItem' && JSON.stringify(input).includes('ACTION#'),
      handlers: {
        revokeKey: () => {
          ran = true;
          return Promise.resolve({ status: 200, body: {} });
        },
      },
    });
    expect((await browser.send('DELETE', '/keys/Key001')).status).toBe(500);
    expect(ran).toBe(false);
  });

  it('leaves out reads and what the contract leaves out, and refusals by role', async () => {
    const browser = await start({});
    await browser.send('GET', '/home');
    await browser.send('POST', '/quote', {});
    await browser.send('POST', '/account', { account: accountId });
    await browser.send('POST', '/keys?nonsense=1', {});
    expect(await rows()).toEqual([]);
  });

  it('lists what operators do with the service, in pages', async () => {
    const browser = await start({});
    for (let one = 0; one < 3; one += 1)
      await browser.send('POST', '/operator/accounts/Acc0unt001/top-up', {});
    expect(await rows()).toEqual([]);
    const first = await stage.actions.list('SERVICE', 2);
    expect(first.actions).toMatchObject([
      { action: 'topUpAccount', target: accountId, outcome: 'done' },
      { action: 'topUpAccount' },
    ]);
    const second = await stage.actions.list('SERVICE', 2, first.after);
    expect(second.actions).toHaveLength(1);
    expect(second.after).toBeUndefined();
  });
});

it('an answer of text keeps its type, and its cookies are set', async () => {
  const headers = { 'content-type': 'text/csv' };
  const browser = await start({
    handlers: {
      exportLedger: () =>
        Promise.resolve({
          status: 200,
          body: undefined,
          text: 'a,b\r\n',
          headers,
          cookies: ['one=1; Path=/'],
        }),
    },
  });
  const answer = await browser.send('GET', '/ledger.csv');
  expect([answer.text, answer.headers.get('content-type'), browser.cookies.get('one')]).toEqual([
    'a,b\r\n',
    'text/csv',
    '1',
  ]);
});
