/** The operator API over sockets, by the numbered statements of its design. */
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { DarkroomOperator } from '../../client/src/operator.ts';
import { resultsIn } from '../../service/accounts/version.ts';
import {
  operatorOperations,
  type OperatorOperation,
  operatorRoot,
} from '../../service/contract/operator-operations.ts';
import { operatorDocumentText } from '../../service/document/operator-document.ts';
import { changeAccount, openAccount } from '../../service/operator/accounts.ts';
import type { OperatorContext } from '../../service/operator/context.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { admin } from '../admin/admin-run.ts';
import { anAccount } from '../fixtures/records.ts';
import { refusalOf } from '../whole/refusal.ts';
import { settled, submit } from '../whole/workflow/creations.ts';
import { startReceiver } from '../whole/workflow/receiver.ts';
import { type AnyRow, everyScope, startOperatorService, type Told } from './operator-service.ts';

const api = await startOperatorService();
const { ask, insist, makeKey, open, books, run, service } = api;
afterAll(() => service.end());
afterEach(() => service.machine.faults.clear());

/** The functions of the example. */
interface BackEnd {
  openAccount(customer: { id: string; name: string }): Promise<{ account: string; key: string }>;
  credit(account: string, event: { id: string; amount: number }): Promise<{ already_applied: boolean }>;
  usage(account: string, from: string, to: string): Promise<readonly object[]>;
}

let references = 0;
const reference = (): string => `invoice ${(references += 1)}`;
const pay = (account: string, amount: number, more: object = {}): Promise<Told> =>
  ask(`/accounts/${account}/payments`, { body: { amount, reference: reference(), ...more } });
const reasonOf = ({ body }: Told): unknown => body.error.details['reason'];
const statusOf = ({ status }: Told): number => status;
const client = async (key: string, path = '/balance'): ReturnType<typeof service.send> =>
  service.send(path, { key });
const expectBooks = async (account: string, available: number): Promise<void> =>
  expect(await books(account)).toEqual({ available, ledger: available });

/** A request that each operation takes, for an account with a key and a payment. */
async function requests(): Promise<Record<string, { path: string; body?: object }>> {
  const account = await open();
  const made = await ask(`/accounts/${account}/keys`, { body: { name: 'first' } });
  const { body: payment } = await pay(account, 3);
  await ask(`/accounts/${account}/webhook-secret`, { body: {} });
  const of = `/accounts/${account}`;
  return {
    listAccounts: { path: '/accounts' },
    openAccount: { path: '/accounts', body: { name: 'Another' } },
    getAccount: { path: of },
    changeAccount: { path: of, body: { name: 'New' } },
    listKeys: { path: `${of}/keys` },
    getKey: { path: `${of}/keys/${made.body.id}` },
    createKey: { path: `${of}/keys`, body: { name: 'second' } },
    changeKey: { path: `${of}/keys/${made.body.id}`, body: { daily_cap: 1 } },
    rollKey: { path: `${of}/keys/${made.body.id}/roll`, body: { ends_in: '1h' } },
    revokeKey: { path: `${of}/keys/${made.body.id}/revoke`, body: {} },
    getWallet: { path: `${of}/wallet` },
    listLedger: { path: `${of}/ledger` },
    listPayments: { path: `${of}/payments` },
    getPayment: { path: `/payments/${payment.id}` },
    createPayment: { path: `${of}/payments`, body: { amount: 1, reference: reference() } },
    reversePayment: {
      path: `/payments/${payment.id}/reversals`,
      body: { reference: reference(), reason: 'refunded', amount: 1 },
    },
    adjustWallet: {
      path: `${of}/adjustments`,
      body: { amount: 0.5, reference: reference(), reason: 'goodwill' },
    },
    getWebhookSecret: { path: `${of}/webhook-secret` },
    issueWebhookSecret: { path: `${of}/webhook-secret`, body: {} },
    rotateWebhookSecret: { path: `${of}/webhook-secret/rotate`, body: { sign_from: '1h' } },
    getUsage: { path: `${of}/usage` },
    reportUsage: { path: '/reports/usage?from=2026-11-01&to=2026-11-02&by=model' },
    reportMargin: { path: '/reports/margin?from=2026-11-01&to=2026-11-02&by=account' },
    listModels: { path: '/models' },
    listProviders: { path: '/providers' },
    listActions: { path: '/actions' },
  };
}

/** Bodies whose form is wrong. The document has to refuse them, too. */
function wrongBodies(account: string, payment: string): (readonly [path: string, body: object])[] {
  const named = { reference: 'wrong', reason: 'wrong' };
  const of = (path: string, ...bodies: object[]) => bodies.map((body) => [path, body] as const);
  return [
    ...of('/accounts', {}, { name: '' }, { name: 'n'.repeat(101) }, { name: 'n', low_balance: 0 }),
    ...of('/accounts', { name: 'n', opening_balance: 2e9 }, { name: 'n', limits: { deadline: 721 } }),
    ...of('/accounts', { name: 'n', external_id: 'e'.repeat(65) }, { name: 'n', providers: 'none' }),
    ...of('/accounts', { name: 'n', results: 'secret' }, { name: 'n', results_minutes: 10_081 }),
    ...of(`/accounts/${account}/payments`, { amount: 0, reference: 'r' }, { amount: 1, reference: '' }),
    ...of(`/accounts/${account}/adjustments`, { ...named, amount: -2e9 }, { ...named, amount: '1' }),
    ...of(`/accounts/${account}/keys`, { name: 'k', models: [] }, { name: 'k', daily_cap: -1 }),
    ...of(`/payments/${payment}/reversals`, { ...named, amount: 0 }, { ...named, reason: 'r'.repeat(501) }),
  ];
}

describe('keys', () => {
  it('A1: Each row of the table works with exactly its scope and answers 403 scope_missing without it', async () => {
    const all = await requests();
    const scopes = everyScope.split(',');
    const exact = new Map<string, string>();
    const without = new Map<string, string>();
    for (const scope of scopes) {
      exact.set(scope, (await makeKey(scope)).key);
      without.set(scope, (await makeKey(scopes.filter((one) => one !== scope).join(','))).key);
    }
    for (const [name, { method, scope }] of Object.entries<OperatorOperation>(operatorOperations)) {
      const request = all[name];
      if (!request) throw new Error(`there is no request of ${name}`);
      const { path, body } = request;
      const asked = { method, ...(body && { body }) };
      const refused = await ask(path, { ...asked, key: without.get(scope) ?? '' });
      expect([name, refused.status, reasonOf(refused), refused.body.error.details['scope']]).toEqual([
        ...[name, 403, 'scope_missing', scope],
      ]);
      const served = await ask(path, { ...asked, key: exact.get(scope) ?? '' });
      expect([name, served.status]).toEqual([name, expect.toBeOneOf([200, 201])]);
    }
    const opened = { body: { name: 'Rich', opening_balance: 1 } };
    expect(reasonOf(await ask('/accounts', { ...opened, key: exact.get('accounts:write') ?? '' }))).toBe(
      'scope_missing',
    );
  });

  it('A2: A revoked or expired key is 401 at its next request; from an address outside `from` 403', async () => {
    const { id, key } = await makeKey('accounts:read');
    expect((await ask('/accounts', { key })).status).toBe(200);
    await run('operator-keys', 'revoke', id);
    expect((await ask('/accounts', { key })).status).toBe(401);
    const far = await makeKey('accounts:read', '--from', '127.0.0.2/32');
    const refused = await ask('/accounts', { key: far.key });
    expect([refused.status, reasonOf(refused)]).toEqual([403, 'address_not_allowed']);
    expect((await ask('/accounts', { key: far.key, from: '127.0.0.2' })).status).toBe(200);
    const at = new Date(service.machine.clock.now() + 60_000).toISOString();
    const short = await makeKey('accounts:read', '--expires', at);
    expect((await ask('/accounts', { key: short.key })).status).toBe(200);
    service.jump(61);
    expect((await ask('/accounts', { key: short.key })).status).toBe(401);
  });

  it('A3: `dk_live_` here and `dk_op_` at the client API are 401', async () => {
    const { key } = await service.client();
    expect((await ask('/accounts', { key, from: '127.0.0.3' })).status).toBe(401);
    expect((await service.send('/balance', { key: api.main.key, from: '127.0.0.3' })).status).toBe(401);
  });

  it('A4: 20 wrong keys a minute block the address here and at the client API; 40 `scope_missing` do not', async () => {
    const { key } = await makeKey('accounts:read');
    const from = '127.0.0.4';
    for (let tried = 0; tried < 40; tried += 1)
      expect((await ask('/actions', { key, from })).status).toBe(403);
    expect((await ask('/accounts', { key, from })).status).toBe(200);
    const wrong = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
    for (let tried = 0; tried < 20; tried += 1)
      expect((await ask('/accounts', { key: wrong, from })).status).toBe(401);
    const blocked = await ask('/accounts', { key, from });
    expect([blocked.status, reasonOf(blocked)]).toEqual([429, 'burst_block']);
    const { key: live } = await service.client();
    expect((await service.send('/balance', { key: live, from })).status).toBe(429);
  });

  it('A22: The 121st POST of a minute is 429 with Retry-After', async () => {
    const { key } = await makeKey('accounts:write');
    const began = service.machine.clock.freeze();
    service.machine.clock.jumpTo(Math.ceil(began / 60_000) * 60_000 + 1_000);
    const statuses: number[] = [];
    for (let sent = 0; sent < 120; sent += 1)
      statuses.push((await ask('/accounts', { key, body: {} })).status);
    const last = await ask('/accounts', { key, body: {} });
    service.machine.clock.thaw();
    expect(new Set(statuses)).toEqual(new Set([400]));
    expect([last.status, reasonOf(last)]).toEqual([429, 'account_rate']);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(last.headers.get('ratelimit')).toMatch(/^"post";r=0;t=\d+$/);
  });
});

describe('accounts', () => {
  it('A5: Two equal POST /accounts with one Idempotency-Key, also at once, make one account; the second has `Idempotent-Replayed`', async () => {
    const asked = { body: { name: 'Once', opening_balance: 2 }, idempotencyKey: 'once' };
    const both = await Promise.all([insist('/accounts', asked), insist('/accounts', asked)]);
    const third = await ask('/accounts', asked);
    expect([...both, third].map(statusOf)).toEqual([201, 201, 201]);
    expect(new Set([...both, third].map(({ body }) => body.id)).size).toBe(1);
    expect([...both, third].map(({ headers }) => headers.get('idempotent-replayed')).sort()).toEqual([
      null,
      'true',
      'true',
    ]);
    const all = await service.operator.accounts.list();
    expect(all.filter(({ name }) => name === 'Once')).toHaveLength(1);
    await expectBooks(third.body.id, 2_000_000);
  });

  it('A6: Same key, other body: 400 `idempotency_key_mismatch`, nothing made', async () => {
    await ask('/accounts', { body: { name: 'Six' }, idempotencyKey: 'six' });
    const other = await ask('/accounts', { body: { name: 'Six B' }, idempotencyKey: 'six' });
    expect([other.status, reasonOf(other)]).toEqual([400, 'idempotency_key_mismatch']);
    expect((await service.operator.accounts.list()).some(({ name }) => name === 'Six B')).toBe(false);
  });

  it('A7: Same `external_id` with another Idempotency-Key: 409 with the first account’s id', async () => {
    const body = { name: 'Seven', external_id: 'customer 7' };
    const first = await ask('/accounts', { body, idempotencyKey: 'seven 1' });
    const second = await ask('/accounts', { body, idempotencyKey: 'seven 2' });
    expect([second.status, second.body.error.details]).toEqual([
      409,
      { reason: 'external_id_taken', account: first.body.id },
    ]);
    const found = await ask('/accounts?external_id=customer%207');
    expect(found.body.data.map(({ id }) => id)).toEqual([first.body.id]);
    const renamed = await ask(`/accounts/${first.body.id}`, {
      method: 'PATCH',
      body: { external_id: 'customer 7b' },
    });
    expect(renamed.body.external_id).toBe('customer 7b');
    expect((await ask('/accounts', { body })).status).toBe(201);
  });

  it('When an account gets two external ids at once, the id that it does not keep is free again', async () => {
    for (let round = 0; round < 5; round += 1) {
      const account = await open();
      const wanted = [`left ${round}`, `right ${round}`];
      const set = (id: string) => ask(`/accounts/${account}`, { method: 'PATCH', body: { external_id: id } });
      const answers = await Promise.all(wanted.map(set));
      expect(answers.map(statusOf)).toContain(200);
      const kept = (await ask(`/accounts/${account}`)).body.external_id;
      const others = wanted.filter((id) => id !== kept);
      expect(others).toHaveLength(1);
      expect((await ask('/accounts', { body: { name: 'Other', external_id: others[0] } })).status).toBe(201);
    }
  });

  it('A new external id is stored and answered with 200, although the answer to its first write was lost', async () => {
    const account = await open();
    const write = { call: 'dynamodb:TransactWriteItems', match: 'EXTERNAL#lost' };
    service.machine.faults.set({ ...write, error: 'Timeout', when: 'after' });
    service.machine.faults.set({ ...write, error: 'TransactionConflict' });
    const named = await ask(`/accounts/${account}`, { method: 'PATCH', body: { external_id: 'lost' } });
    expect([named.status, named.body.external_id]).toEqual([200, 'lost']);
  });

  it('A14: PATCH `condition: suspended`: the next client request is 403 `api_suspended`; active again: served', async () => {
    const account = await open({ opening_balance: 1 });
    const { body: key } = await ask(`/accounts/${account}/keys`, { body: { name: 'server' } });
    const set = (condition: string): Promise<Told> =>
      ask(`/accounts/${account}`, { method: 'PATCH', body: { condition } });
    expect((await set('suspended')).body.condition).toBe('suspended');
    const refused = await client(key.key);
    expect([refused.status, refusalOf(refused).details['reason']]).toEqual([403, 'api_suspended']);
    await set('active');
    expect((await client(key.key)).status).toBe(200);
  });

  it('A rate of user tokens that is set here holds for their next requests', async () => {
    const account = await open({ limits: { user_post_rate: 1, user_get_rate: 7 } });
    const { key } = (await ask(`/accounts/${account}/keys`, { body: { name: 'first' } })).body;
    const minted = await service.send('/user-tokens', { key, body: { user: 'ann', spend_limit: 1 } });
    const { token } = minted.body as { token: string };
    expect((await client(token, '/models')).headers.get('ratelimit-policy')).toBe('"get";q=7;w=60');
    const body = { model: 'sandbox-sketch', prompt: 'a pier' };
    const quote = async (): Promise<string | null> =>
      (await service.send('/images/quote', { key: token, body })).headers.get('ratelimit-policy');
    expect(await quote()).toBe('"post";q=1;w=60');
    const changed = await ask(`/accounts/${account}`, {
      method: 'PATCH',
      body: { limits: { user_post_rate: 3 } },
    });
    expect(changed.body).toMatchObject({ limits: { user_post_rate: 3, user_get_rate: 7 } });
    expect(await quote()).toBe('"post";q=3;w=60');
  });

  it('A15: PATCH with an old `version`: 409, nothing changed', async () => {
    const account = await open();
    const { version } = (await ask(`/accounts/${account}`)).body;
    const change = (body: object): Promise<Told> => ask(`/accounts/${account}`, { method: 'PATCH', body });
    const first = await change({ name: 'First', version });
    expect(first.status).toBe(200);
    const second = await change({ name: 'Second', condition: 'suspended', credit_line: 5, version });
    expect([second.status, second.body.error.details]).toEqual([
      409,
      { reason: 'changed_meanwhile', version: first.body.version },
    ]);
    const { name, condition, credit_line: line } = (await ask(`/accounts/${account}`)).body;
    expect([name, condition, line]).toEqual(['First', 'active', 0]);
    const many = { limits: { deadline: 60 }, low_balance: 2, hidden_models: ['sandbox-pro'], credit_line: 5 };
    const changed = await change({ ...many, version: first.body.version });
    expect(changed.body).toMatchObject({ ...many, available: 5, name: 'First' });
    expect(
      (await change({ providers: ['nobody'], hidden_models: ['no-model'] })).body.error.details.errors,
    ).toEqual([
      expect.objectContaining({ field: 'providers[0]' }),
      expect.objectContaining({ field: 'hidden_models[0]' }),
    ]);
  });

  it('Chooses who opens the pictures and for how long, against an old version too, and takes both back', async () => {
    const account = (await open({ results: 'signed', results_minutes: 10_080 })) as AccountId;
    const stored = () => service.account(account);
    expect(await stored()).toMatchObject({ results: 'signed', resultsMinutes: 10_080 });
    const before = (await ask(`/accounts/${account}`)).body;
    expect(before).toMatchObject({ results: 'signed', results_minutes: 10_080 });
    const change = (body: object): Promise<Told> => ask(`/accounts/${account}`, { method: 'PATCH', body });
    const changed = await change({ results: 'unguessable', results_minutes: 1, version: before.version });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { results: 'unguessable', results_minutes: 1 },
    ]);
    expect(await stored()).toMatchObject({ results: 'unguessable', resultsMinutes: 1 });
    expect((await change({ results: 'signed', version: before.version })).status).toBe(409);
    const back = await change({ results: null, results_minutes: null, version: changed.body.version });
    expect([back.status, back.body]).toMatchObject([200, { results: null, results_minutes: null }]);
    expect(await stored()).not.toHaveProperty('results');
    expect(await stored()).not.toHaveProperty('resultsMinutes');
    const atOnce = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        insist(`/accounts/${account}`, {
          method: 'PATCH',
          body: { results_minutes: index + 1, version: back.body.version },
        }),
      ),
    );
    expect(atOnce.map(statusOf).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    const { data } = (await ask(`/actions?account=${account}`)).body;
    expect(data.map(({ note }) => note)).toContain('results, results_minutes');
    const wrong = await change({ results: 'secret', results_minutes: 0 });
    expect([wrong.status, wrong.body.error.details.errors.map(({ field }) => field)]).toEqual([
      400,
      ['results', 'results_minutes'],
    ]);
  });

  it('The version of an account without a choice is that of older releases', () => {
    expect(resultsIn(anAccount())).toEqual([]);
    expect(resultsIn(anAccount({ resultsMinutes: 5 }))).toEqual([[undefined, 5]]);
  });

  it.each([
    ['signed', 'off', 'must be unguessable: '],
    ['unguessable', 'signed', 'must be signed: '],
  ] as const)('The choice "%s" is 400 where the service has "%s"', async (results, resultAccess, words) => {
    const context = {
      request: {
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ name: 'Studio', results })),
      },
      services: { resultAccess },
    } as unknown as OperatorContext;
    for (const { body } of [openAccount, changeAccount])
      await expect(body?.(context)).rejects.toThrow(`results: ${words}`);
  });

  it('An erased account gives its external id back, and its payments stay without their notes', async () => {
    const account = await open({ name: 'Gone', external_id: 'gone' });
    const { body: payment } = await pay(account, 1, { note: 'card of Mr Gone' });
    await run('accounts', 'erase', account, '--confirm', 'Gone');
    expect((await ask('/accounts?external_id=gone')).body.data).toEqual([]);
    expect((await ask('/accounts', { body: { name: 'Again', external_id: 'gone' } })).status).toBe(201);
    const kept = await ask(`/payments/${payment.id}`);
    expect(kept.text).toContain('"amount":1');
    expect(kept.text).not.toContain('Mr Gone');
    await expectBooks(account, 1_000_000);
  });

  it('An id that is malformed and one that is absent get the same 404, byte for byte', async () => {
    const texts = [
      await ask('/accounts/none'),
      await ask('/accounts/Absent0001'),
      await ask('/payments/pay_Absent0001_0190aaaa-aaaa-7aaa-8aaa-aaaaaaaaaaaa'),
      await ask(`/accounts/${await open()}/keys/abcdef`),
    ];
    expect(new Set(texts.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(texts[0]?.status).toBe(404);
  });
});

describe('the wallet', () => {
  it('A8: 200 equal credits at once with one reference and different Idempotency-Keys move the wallet once', async () => {
    const account = await open();
    const told = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        insist(`/accounts/${account}/payments`, {
          body: { amount: 4, reference: 'one invoice' },
          idempotencyKey: `credit ${index}`,
        }),
      ),
    );
    expect(new Set(told.map(({ body }) => body.id)).size).toBe(1);
    const statuses = told.map(statusOf).sort();
    expect([
      statuses.filter((one) => one === 200).length,
      statuses.filter((one) => one === 201).length,
    ]).toEqual([199, 1]);
    await expectBooks(account, 4_000_000);
  });

  it('A9: Same reference, other amount: 409 `reference_taken` naming what stands, also when the command made it', async () => {
    const account = await open();
    const first = await pay(account, 2, { reference: 'nine' });
    const again = await pay(account, 2, { reference: 'nine' });
    expect([again.status, again.body.id, again.body.already_applied]).toEqual([200, first.body.id, true]);
    const other = await pay(account, 3, { reference: 'nine' });
    expect([other.status, other.body.error.details]).toEqual([
      409,
      { reason: 'reference_taken', kind: 'payment', amount: 2, at: expect.any(String) as string },
    ]);
    await run('wallet', 'top-up', account, '--amount', '7', '--reference', 'by hand');
    const taken = await pay(account, 7, { reference: 'by hand' });
    expect([taken.status, taken.body.error.details]).toMatchObject([
      409,
      { reason: 'reference_taken', kind: 'top_up', amount: 7 },
    ]);
    await expectBooks(account, 9_000_000);
  });

  it('A10: A credit by the API, then `wallet top-up` with its reference: the command refuses', async () => {
    const account = await open();
    await pay(account, 2, { reference: 'ten' });
    const said = await admin(
      service.folder,
      'wallet',
      'top-up',
      account,
      '--amount',
      '2',
      '--reference',
      'ten',
    );
    expect(said.code).toBe(1);
    expect(said.complaint).toContain('The reference "ten" stands for a payment of 2.00 USD');
    await expectBooks(account, 2_000_000);
  });

  it('A11: Σ ledger = available after any of these', async () => {
    const account = await open({ opening_balance: 5, credit_line: 2 });
    await expectBooks(account, 7_000_000);
    const payment = await pay(account, 10, { source: 'adyen', note: 'card' });
    expect(payment.body).toMatchObject({ amount: 10, reversed: 0, source: 'adyen', note: 'card' });
    const back = (body: object): Promise<Told> =>
      ask(`/payments/${payment.body.id}/reversals`, { body: { reason: 'refund', ...body } });
    expect((await back({ reference: 'half', amount: 4 })).status).toBe(201);
    expect((await back({ reference: 'half', amount: 4 })).body).toMatchObject({
      reversed: 4,
      already_applied: true,
    });
    expect((await back({ reference: 'more', amount: 7 })).body.error.details.errors[0]?.field).toBe('amount');
    expect((await back({ reference: 'rest' })).body).toMatchObject({ reversed: 10, already_applied: false });
    expect((await back({ reference: 'rest' })).status).toBe(200);
    expect((await back({ reference: 'beyond' })).status).toBe(400);
    await ask(`/accounts/${account}`, { method: 'PATCH', body: { credit_line: 1 } });
    await ask(`/accounts/${account}/adjustments`, { body: { amount: -1, reference: 'fee', reason: 'fee' } });
    await expectBooks(account, 5_000_000);
    expect((await ask(`/accounts/${account}/wallet`)).body).toEqual({
      available: 5,
      balance: 4,
      credit_line: 1,
    });
    expect(await service.audit()).toEqual([]);
  });

  it('Equal reversals at once give back once, and different ones never more than was credited', async () => {
    const account = await open();
    const { body: payment } = await pay(account, 10);
    const told = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        insist(`/payments/${payment.id}/reversals`, {
          body: { amount: 3, reference: `back ${index % 10}`, reason: 'refund' },
        }),
      ),
    );
    expect(told.map(statusOf).filter((status) => status === 201)).toHaveLength(3);
    await expectBooks(account, 1_000_000);
  });

  it('A12: A debit below zero is 409, with `allow_negative` 201', async () => {
    const account = await open({ opening_balance: 1, credit_line: 5 });
    const take = (more: object): Promise<Told> =>
      ask(`/accounts/${account}/adjustments`, {
        body: { amount: -2, reference: 'twelve', reason: 'a bill', ...more },
      });
    const refused = await take({});
    expect([refused.status, refused.body.error.details]).toEqual([
      409,
      { reason: 'below_zero', balance: 1, after: -1 },
    ]);
    expect((await take({ allow_negative: true })).status).toBe(201);
    await expectBooks(account, 4_000_000);
  });

  it('A13: 200 credits of 1 USD at once under `daily_credit_cap` 100, repeated after 503, move exactly 100', async () => {
    const { id, key } = await makeKey(everyScope, '--daily-credit-cap', '100', ...api.fast);
    const account = await open();
    const told = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        insist(`/accounts/${account}/payments`, { key, body: { amount: 1, reference: `thirteen ${index}` } }),
      ),
    );
    expect(told.filter(({ status }) => status === 201)).toHaveLength(100);
    const refused = told.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(100);
    expect(refused[0]?.body.error.details).toEqual({
      reason: 'credit_cap_exceeded',
      cap: 100,
      spent: 100,
      resets_at: expect.stringMatching(/T00:00:00/) as string,
    });
    await expectBooks(account, 100_000_000);
    const opening = await ask('/accounts', { key, body: { name: 'Cap', opening_balance: 0.01 } });
    const line = { method: 'PATCH', key, body: { credit_line: 1 } };
    expect([reasonOf(opening), reasonOf(await ask(`/accounts/${account}`, line))]).toEqual([
      'credit_cap_exceeded',
      'credit_cap_exceeded',
    ]);
    const first = { amount: 1, reference: `thirteen ${told.findIndex(({ status }) => status === 201)}` };
    expect((await ask(`/accounts/${account}/payments`, { key, body: first })).status).toBe(200);
    await run('operator-keys', 'set', id, '--daily-credit-cap', '101');
    expect(
      (await ask(`/accounts/${account}/payments`, { key, body: { amount: 1, reference: 'more' } })).status,
    ).toBe(201);
  });

  it('A20: GET …/ledger in pages equals `export ledger`, row for row, while credits arrive', async () => {
    const account = await open({ opening_balance: 1 });
    for (let paid = 0; paid < 7; paid += 1) await pay(account, 1);
    const rows: AnyRow[] = [];
    let path: string | undefined = `/accounts/${account}/ledger?limit=3`;
    while (path !== undefined) {
      const { body } = await ask(path);
      rows.push(...body.data);
      if (rows.length < 10) await pay(account, 1);
      path = body.has_more ? `/accounts/${account}/ledger?limit=3&cursor=${body.next_cursor}` : undefined;
    }
    const { out } = await admin(
      service.folder,
      'export',
      'ledger',
      '--account',
      account,
      '--format',
      'jsonl',
    );
    const exported = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as (typeof rows)[number]);
    const plain = ({ kind, amount, at, reference: named }: (typeof rows)[number]): unknown[] => [
      ...[kind, amount, at, named],
    ];
    expect(rows.map(plain)).toEqual(exported.map(plain));
    expect(rows.length).toBeGreaterThan(8);
  });
});

describe('keys of accounts', () => {
  it('A16: An issued key works at once and shows its text once; the replay has `key: null`', async () => {
    const account = await open({ opening_balance: 1 });
    const asked = { body: { name: 'server' }, idempotencyKey: 'sixteen' };
    const made = await ask(`/accounts/${account}/keys`, asked);
    expect((await client(made.body.key)).status).toBe(200);
    const again = await ask(`/accounts/${account}/keys`, asked);
    expect([again.status, again.body.key, again.body.id]).toEqual([201, null, made.body.id]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const listed = await ask(`/accounts/${account}/keys`);
    expect(listed.body.data).toHaveLength(1);
    expect(listed.text).not.toContain(made.body.key);
    const rolled = await ask(`/accounts/${account}/keys/${made.body.id}/roll`, { body: { ends_in: '1h' } });
    expect([rolled.status, (await client(rolled.body.key)).status]).toEqual([201, 200]);
  });

  it('A17: Revoke, then the key’s next request is 401', async () => {
    const account = await open();
    const { body: made } = await ask(`/accounts/${account}/keys`, { body: { name: 'server' } });
    const revoke = (): Promise<Told> => ask(`/accounts/${account}/keys/${made.id}/revoke`, { body: {} });
    const first = await revoke();
    expect([first.status, (await client(made.key)).status]).toEqual([200, 401]);
    expect([(await revoke()).status, (await revoke()).body.revoked_at]).toEqual([200, first.body.revoked_at]);
    const changed = await ask(`/accounts/${account}/keys/${made.id}`, {
      method: 'PATCH',
      body: { name: 'x' },
    });
    expect(reasonOf(changed)).toBe('key_revoked');
  });

  it('A18: Caps set here refuse as those set by the command', async () => {
    const account = await open({ opening_balance: 5 });
    const { body: made } = await ask(`/accounts/${account}/keys`, {
      body: { name: 'server', daily_cap: 0.01 },
    });
    await service.operator.accounts.change(account as AccountId, { sandbox: true });
    const render = (): ReturnType<typeof service.send> =>
      service.send('/images/generate', {
        key: made.key,
        body: { model: 'sandbox-sketch', prompt: 'a pier' },
      });
    expect((await render()).status).toBe(202);
    const refused = refusalOf(await render());
    const client = await service.client({ dailyCap: '0.01' });
    const order = { key: client.key, body: { model: 'sandbox-sketch', prompt: 'a pier' } };
    await service.send('/images/generate', order);
    expect(refused).toEqual(refusalOf(await service.send('/images/generate', order)));
    expect([refused.status, refused.details['cap']]).toEqual([402, 0.01]);
    await ask(`/accounts/${account}/keys/${made.id}`, { method: 'PATCH', body: { daily_cap: null } });
    expect((await render()).status).toBe(202);
  });
});

describe('the webhook secret', () => {
  it('A21: A rotated webhook secret signs as `sign_from` says', async () => {
    const receiver = await startReceiver();
    const account = await open({ opening_balance: 5 });
    const { body: made } = await ask(`/accounts/${account}/keys`, { body: { name: 'server' } });
    expect((await ask(`/accounts/${account}/webhook-secret`)).status).toBe(404);
    const issued = await ask(`/accounts/${account}/webhook-secret`, { body: {} });
    const again = await ask(`/accounts/${account}/webhook-secret`, { body: {} });
    expect([issued.status, again.status, again.body.secret]).toEqual([201, 200, issued.body.secret]);
    const rotate = { body: { sign_from: '1h' }, idempotencyKey: 'twenty-one' };
    const rotated = await ask(`/accounts/${account}/webhook-secret/rotate`, rotate);
    expect([rotated.status, rotated.body.signing_until_then]).toEqual([201, issued.body.secret]);
    const repeated = await ask(`/accounts/${account}/webhook-secret/rotate`, rotate);
    expect([repeated.body.secret, repeated.headers.get('idempotent-replayed')]).toEqual([
      rotated.body.secret,
      'true',
    ]);
    await service.operator.accounts.change(account as AccountId, { sandbox: true });
    const expectSigned = async (name: string, secret: string): Promise<void> => {
      const body = { prompt: 'a pier', webhook_url: receiver.hook(name, 200) };
      await settled(service, await submit(service, made.key, body));
      const [{ headers, raw } = { headers: {}, raw: Buffer.from('') }] = receiver.arrivals(name);
      const signed = `${(headers as Record<string, string>)['x-timestamp'] ?? ''}.`;
      const signature = createHmac('sha256', secret).update(signed).update(raw).digest('hex');
      expect((headers as Record<string, string>)['x-webhook-signature-256']).toBe(`sha256=${signature}`);
    };
    await expectSigned('before', issued.body.secret);
    service.jump(3_600);
    await expectSigned('after', rotated.body.secret);
    await receiver.close();
  });
});

describe('figures', () => {
  it('Usage and reports count what was ordered, and the catalog has prices and costs', async () => {
    const account = await open({ opening_balance: 5 });
    const { body: made } = await ask(`/accounts/${account}/keys`, { body: { name: 'server' } });
    await service.operator.accounts.change(account as AccountId, { sandbox: true });
    await settled(service, await submit(service, made.key, { model: 'sandbox-sketch', prompt: 'a pier' }));
    const used = await ask(`/accounts/${account}/usage?by=key`);
    expect(used.body.data).toEqual([expect.objectContaining({ group: made.id, creations: 1, spent: 0.01 })]);
    const day = new Date(service.machine.clock.now()).toISOString().slice(0, 10);
    const report = await ask(`/reports/margin?by=account&from=${day}&to=${day}`);
    expect(report.body.data).toContainEqual(
      expect.objectContaining({ group: account, name: 'Studio', creations: 1, revenue: 0.01 }),
    );
    expect((await ask(`/reports/usage?from=${day}&to=${day}`)).body.total['creations']).toBeGreaterThan(0);
    expect((await ask('/reports/usage?from=2026-01-01&to=2026-02-01')).status).toBe(400);
    const { data: models } = (await ask('/models')).body;
    expect(models.map(({ id }) => id)).toContain('sandbox-sketch');
    expect(models.find(({ id }) => id === 'sandbox-sketch')?.routes[0]?.costs).toEqual(priced(0));
    expect((await ask('/providers')).text).toContain('{"name":"sandbox","enabled":true,"paused_since":null}');
  });
});

const priced = (usd: number): object[] => [{ resolution: '1K', usd, usd_per_input_image: 0 }];

describe('costs of the operator', () => {
  it('GET /models shows the costs that the operator has set, and the margin counts the same', async () => {
    const file = join(service.folder, 'costs.json');
    const route = { provider: 'sandbox', provider_model: 'sketch', quality: null };
    const cost = { ...route, images: priced(0.003), source: null, checked_at: '2026-11-21' };
    writeFileSync(file, JSON.stringify({ costs: [cost] }));
    await run('catalog', 'set', file);
    const { data } = (await ask('/models')).body;
    expect(data.find(({ id }) => id === 'sandbox-sketch')?.routes[0]?.costs).toEqual(priced(0.003));
    // The renderers keep what they have read for ten seconds.
    service.jump(11);
    const account = await open({ opening_balance: 5 });
    const { key } = (await ask(`/accounts/${account}/keys`, { body: { name: 'server' } })).body;
    await settled(service, await submit(service, key, { model: 'sandbox-sketch', prompt: 'a pier' }));
    const day = new Date(service.machine.clock.now()).toISOString().slice(0, 10);
    const margin = await ask(`/reports/margin?by=account&from=${day}&to=${day}`);
    const line = margin.body.data.find((row) => (row as { group?: string }).group === account);
    expect(line).toMatchObject({ provider_cost: 0.003, margin: 0.007 });
  });
});

describe('client/examples/back-end.mjs', () => {
  it('The back end opens an account, credits a payment once, and shows usage, as it is', async () => {
    const file = resolve('client/examples/back-end.mjs');
    const { key } = await makeKey('accounts:read,accounts:write,keys:write,wallet:credit');
    vi.stubEnv('DARKROOM_BASE_URL', new URL(service.machine.apiUrl).origin);
    vi.stubEnv('DARKROOM_OPERATOR_KEY', key);
    const backEnd = (await import(pathToFileURL(file).href)) as BackEnd;
    vi.unstubAllEnvs();
    const customer = { id: 'customer 4711', name: 'Pasted' };
    const { account, key: live } = await backEnd.openAccount(customer);
    expect((await backEnd.openAccount(customer)).account).toBe(account);
    const event = { id: 'event 1', amount: 3 };
    expect((await backEnd.credit(account, event)).already_applied).toBe(false);
    expect((await backEnd.credit(account, event)).already_applied).toBe(true);
    await expectBooks(account, 3_000_000);
    await service.operator.accounts.change(account as AccountId, { sandbox: true });
    await settled(service, await submit(service, live, { model: 'sandbox-sketch', prompt: 'a pier' }));
    const day = new Date(service.machine.clock.now()).toISOString().slice(0, 10);
    expect(await backEnd.usage(account, day, day)).toMatchObject([{ group: day, creations: 1, spent: 0.01 }]);
    await expect(backEnd.usage('none', day, day)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' });
  });
});

describe('darkroom-client/operator', () => {
  it('Each method is answered as its operation', async () => {
    const asked = new Set<string>();
    const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const answer = await globalThis.fetch(url, init);
      const path = new URL(url instanceof Request ? url.url : url).pathname.slice(operatorRoot.length);
      const operation = Object.entries<OperatorOperation>(operatorOperations).find(
        (one) =>
          one[1].method === init?.method &&
          new RegExp(`^${one[1].path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
      );
      if (answer.ok) asked.add(operation?.[0] ?? path);
      return answer;
    };
    const operator = new DarkroomOperator({ apiKey: api.main.key, baseUrl: api.root, fetch });
    const { id, limits } = await operator.accounts.create({ name: 'Typed', low_balance: 1 });
    await operator.accounts.change(id, { limits: { deadline: limits.deadline - 1 }, low_balance: null });
    expect(await operator.accounts.get(id)).toMatchObject({ low_balance: null });
    const { id: key } = await operator.keys.create(id, { name: 'first' });
    await operator.keys.change(id, key, { daily_cap: 1 });
    const rolled = await operator.keys.roll(id, key, { ends_in: '1h' });
    expect((await operator.keys.revoke(id, rolled.id)).revoked_at).not.toBeNull();
    expect((await operator.keys.get(id, key)).daily_cap).toBe(1);
    const order = { amount: 3, reference: reference() };
    const payment = await operator.payments.create(id, order);
    expect(await operator.payments.create(id, order)).toEqual({ ...payment, already_applied: true });
    await operator.payments.reverse(payment.id, { reference: reference(), reason: 'returned', amount: 1 });
    expect((await operator.payments.get(payment.id)).reversed).toBe(1);
    await operator.adjustments.create(id, { amount: -0.5, reference: reference(), reason: 'a mistake' });
    expect((await operator.wallet.get(id)).balance).toBe(1.5);
    const { secret } = await operator.webhookSecrets.issue(id);
    expect((await operator.webhookSecrets.get(id)).secret).toBe(secret);
    expect((await operator.webhookSecrets.rotate(id)).secret).not.toBe(secret);
    const amounts: number[] = [];
    for await (const { amount } of operator.wallet.ledger(id, { limit: 1 })) amounts.push(amount);
    expect(amounts).toEqual([3, -1, -0.5]);
    const pages = [operator.accounts.list(), operator.keys.list(id), operator.payments.list(id)];
    for (const list of [...pages, operator.actions.list({ account: id })])
      expect((await list.page()).data.length).toBeGreaterThan(0);
    const days = { from: '2026-11-01', to: '2026-11-02' };
    expect((await operator.usage.get(id, days)).account).toBe(id);
    await operator.reports.usage({ ...days, by: 'model' });
    await operator.reports.margin({ ...days, by: 'provider' });
    expect((await operator.models.list())[0]?.routes.length).toBeGreaterThan(0);
    expect((await operator.providers.list()).map(({ name }) => name)).toContain('sandbox');
    expect([...asked].toSorted()).toEqual(Object.keys(operatorOperations).toSorted());
  });
});

describe('the log', () => {
  it('A19: Every non-GET is in GET /actions with key id and outcome, refused ones too', async () => {
    const { id, key } = await makeKey('accounts:write,wallet:credit');
    const account = (await ask('/accounts', { key, body: { name: 'Logged' } })).body.id;
    await ask(`/accounts/${account}/payments`, { key, body: { amount: 1, reference: 'logged' } });
    await ask(`/accounts/${account}/payments`, { key, body: { amount: 2, reference: 'logged' } });
    await ask(`/accounts/${account}/keys`, { key, body: { name: 'no scope' } });
    await ask('/accounts', { key, body: {} });
    await ask('/nothing', { key, body: {} });
    await ask('/accounts', { key });
    const bound = await makeKey('accounts:write', '--from', '203.0.113.0/24', '--post-rate', '1');
    await ask('/accounts', { key: bound.key, body: { name: 'From elsewhere' } });
    const slow = await makeKey('accounts:write', '--post-rate', '1');
    for (const name of ['in time', 'too soon']) await ask('/accounts', { key: slow.key, body: { name } });
    const { body } = await ask('/actions?limit=100');
    const ofKey = (one: string) => body.data.filter((row) => row.operator_key?.id === one);
    expect(ofKey(bound.id).map(({ action, outcome, note }) => [action, outcome, note])).toEqual([
      ['openAccount', 'refused', 'address_not_allowed'],
    ]);
    expect(ofKey(slow.id).map(({ outcome, note }) => [outcome, note])).toEqual([
      ['refused', 'account_rate'],
      ['done', null],
    ]);
    const own = ofKey(id);
    expect(own.map(({ action, outcome, note }) => [action, outcome, note]).reverse()).toEqual([
      ['openAccount', 'done', null],
      ['createPayment', 'done', null],
      ['createPayment', 'refused', 'reference_taken'],
      ['createKey', 'refused', 'scope_missing'],
      ['openAccount', 'refused', 'ERR_INVALID_REQUEST'],
      ['unknownOperation', 'refused', 'ERR_NOT_FOUND'],
    ]);
    const ofAccount = await ask(`/actions?account=${account}`);
    expect(ofAccount.body.data.map(({ action, person }) => [action, person])).toEqual([
      ['createPayment', 'the operator'],
      ['createPayment', 'the operator'],
      ['openAccount', 'the operator'],
    ]);
  });

  it('A23: Each answer, error and header is in operator-openapi.json', async () => {
    expect((await ask('/nothing')).status).toBe(404);
    expect((await ask('/accounts', { key: null, from: '127.0.0.9' })).status).toBe(401);
    expect((await ask('/accounts?offset=1')).status).toBe(400);
    const account = await open();
    const payment = (await pay(account, 1)).body.id;
    for (const [path, body] of wrongBodies(account, payment))
      expect([path, body, (await ask(path, { body })).status]).toEqual([path, body, 400]);
    expect(operatorDocumentText()).toBe(readFileSync('docs/operator-openapi.json', 'utf8'));
    expect(api.findings).toEqual([]);
    // A busy table may also have answered 503.
    const statuses = new Set(api.answers.map(statusOf).filter((status) => status !== 503));
    expect(statuses).toEqual(new Set([200, 201, 400, 401, 403, 404, 409, 429]));
  });

  it('A24: No answer of this API holds a prompt, an image address or a provider’s key', () => {
    expect(api.answers.length).toBeGreaterThan(300);
    for (const { text } of api.answers) expect(text).not.toMatch(/a pier|\.png|result_urls|sk-|prompt"/);
  });
});
