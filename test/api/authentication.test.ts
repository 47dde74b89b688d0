import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiRoot, operations } from '../../core/contract.ts';
import {
  startTestService,
  type Answer,
  type Client,
  type Send,
  type TestService,
} from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { refusalOf } from './refusal.ts';

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startTestService();
  client = await service.client();
});
afterAll(() => service.end());

/** Each test has an address of its own, so that no loop of rejections builds up behind them. */
let addresses = 10;
function ask(
  headers: Readonly<Record<string, string>>,
  options: Send & { readonly path?: string } = {},
): Promise<Answer> {
  return service.send(options.path ?? '/balance', {
    key: null,
    headers,
    from: `127.0.1.${addresses}`,
    ...options,
  });
}
function fromElsewhere(): void {
  addresses += 1;
}

const unknownKey = 'dk_live_AAAAAAAAAAKKKKKKRRRRRRRRRRRRRRRRRRCCCCCC';
const missing = { status: 401, code: 'ERR_API_KEY_INVALID', details: { reason: 'api_key_missing' } };
const invalid = { status: 401, code: 'ERR_API_KEY_INVALID', details: { reason: 'api_key_invalid' } };

function mistyped(key: string): string {
  const at = key.length - 10;
  return `${key.slice(0, at)}${key[at] === 'a' ? 'b' : 'a'}${key.slice(at + 1)}`;
}

describe('a key', () => {
  it('is the live prefix and 40 characters', () => {
    expect(client.key).toMatch(/^dk_live_[0-9A-Za-z]{40}$/);
  });

  it.each<[string, (key: string) => Record<string, string>]>([
    ['Authorization: Bearer', (key) => ({ authorization: `Bearer ${key}` })],
    ['Authorization: bearer, in whatever case', (key) => ({ authorization: `bEARER   ${key} ` })],
    ['X-API-Key', (key) => ({ 'x-api-key': key })],
  ])('is taken from %s', async (_where, headers) => {
    expect((await ask(headers(client.key))).status).toBe(200);
  });

  it('in Authorization wins over one in X-API-Key, whatever it holds', async () => {
    fromElsewhere();
    const good = client.key;
    expect((await ask({ authorization: `Bearer ${good}`, 'x-api-key': unknownKey })).status).toBe(200);
    expect(refusalOf(await ask({ authorization: `Bearer ${unknownKey}`, 'x-api-key': good }))).toEqual(
      invalid,
    );
    expect(refusalOf(await ask({ authorization: 'Bearer ', 'x-api-key': good }))).toEqual(missing);
  });

  it('is kept as its hash only', async () => {
    const [stored] = await service.operator.accounts.listKeys(client.account.id);
    expect(JSON.stringify(stored)).not.toContain(client.key.slice('dk_live_'.length + 16));
    expect(stored?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(service.log.join('\n')).not.toContain(client.key);
  });

  it('is one of several of an account, and revoking one leaves the others', async () => {
    fromElsewhere();
    const { issueKey } = await import('../../admin/commands/keys.ts');
    const second = await issueKey(service.operator, client.account, { name: 'second' });
    expect((await ask({ 'x-api-key': second.key })).status).toBe(200);
    await service.operator.accounts.revokeKey(client.account.id, second.record.id, new Date().toISOString());
    expect(refusalOf(await ask({ 'x-api-key': second.key }))).toEqual(invalid);
    expect((await ask({ 'x-api-key': client.key })).status).toBe(200);
  });
});

describe('401 ERR_API_KEY_INVALID with WWW-Authenticate: Bearer', () => {
  it.each<[string, Record<string, string>, object]>([
    ['api_key_missing: neither header', {}, missing],
    ['api_key_missing: Authorization without a key', { authorization: 'Bearer' }, missing],
    ['api_key_missing: an empty X-API-Key', { 'x-api-key': ' ' }, missing],
    ['api_key_invalid: a key that is not recognised', { 'x-api-key': unknownKey }, invalid],
    ['api_key_invalid: no key of ours at all', { authorization: 'Bearer sk-1234' }, invalid],
    ['api_key_invalid: another scheme', { authorization: 'Basic dXNlcjpwYXNz' }, invalid],
  ])('%s', async (_case, headers, expected) => {
    fromElsewhere();
    const answer = await ask(headers);
    expect(refusalOf(answer)).toEqual(expected);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('api_key_invalid: a bad checksum, which costs no look-up of account or key', async () => {
    fromElsewhere();
    const read: string[] = [];
    service.machine.watchAws((call, serve) => {
      if (call.operation === 'BatchGetItem') read.push(JSON.stringify(call.input));
      return serve();
    });
    const answer = await ask({ authorization: `Bearer ${mistyped(client.key)}` });
    service.machine.watchAws((_call, serve) => serve());
    expect(refusalOf(answer)).toEqual(invalid);
    expect(read).toHaveLength(1);
    expect(read[0]).toContain('"IP#');
    expect(read[0]).not.toContain('ACCOUNT#');
  });

  it('api_key_invalid: a revoked key, from the very next request on', async () => {
    fromElsewhere();
    const leaver = await service.client();
    expect((await ask({ 'x-api-key': leaver.key })).status).toBe(200);
    await service.operator.accounts.revokeKey(leaver.account.id, leaver.record.id, new Date().toISOString());
    expect(refusalOf(await ask({ 'x-api-key': leaver.key }))).toEqual(invalid);
  });

  it('an unknown, a mistyped and a revoked key are answered alike, but for the request id', async () => {
    fromElsewhere();
    const gone = await service.client();
    await service.operator.accounts.revokeKey(gone.account.id, gone.record.id, new Date().toISOString());
    const texts = await Promise.all(
      [unknownKey, mistyped(gone.key), gone.key].map(async (key) => (await ask({ 'x-api-key': key })).text),
    );
    expect(new Set(texts).size).toBe(1);
  });
});

describe('403 of a valid key', () => {
  it.each([
    [
      'ERR_ACCOUNT_DISABLED, account_disabled: its account is disabled',
      'disabled',
      { status: 403, code: 'ERR_ACCOUNT_DISABLED', details: { reason: 'account_disabled' } },
    ],
    [
      'ERR_API_SUSPENDED, api_suspended: its API access is paused',
      'suspended',
      { status: 403, code: 'ERR_API_SUSPENDED', details: { reason: 'api_suspended' } },
    ],
  ] as const)('%s, and works again when it is active again', async (_case, condition, expected) => {
    fromElsewhere();
    const { account, key } = await service.client();
    await service.operator.accounts.change(account.id, { condition });
    const answer = await ask({ 'x-api-key': key });
    expect(refusalOf(answer)).toEqual(expected);
    expect(answer.headers.has('www-authenticate')).toBe(false);
    await service.operator.accounts.change(account.id, { condition: 'active' });
    expect((await ask({ 'x-api-key': key })).status).toBe(200);
  });
});

describe('every operation requires a key', () => {
  it.each(Object.values(operations))('$method $path', async ({ method, path }) => {
    fromElsewhere();
    const answer = await ask(
      {},
      {
        path: path.replace('{id}', '01939f4e-0000-7000-8000-000000000000'),
        method,
        ...(method === 'POST' && { body: {} }),
      },
    );
    expect(refusalOf(answer)).toEqual(missing);
  });

  it.each(['/nothing', '/models/extra', ''])('authentication comes before 404: %s', async (path) => {
    fromElsewhere();
    expect(refusalOf(await ask({}, { path }))).toEqual(missing);
  });
});

it('the API root carries the version v1', () => {
  expect(apiRoot).toBe('/api/public/v1');
  expect(service.machine.apiUrl.endsWith('/api/public/v1')).toBe(true);
});

everyAnswer(() => service);

describe('a deployment with the plain form', () => {
  let plain: TestService;
  let customer: Client;
  beforeAll(async () => {
    plain = await startTestService({ environment: { AUTH_FAILURE_FORM: 'plain' } });
    customer = await plain.client();
  });
  afterAll(() => plain.end());

  it.each<[string, number, Record<string, string>]>([
    ['authentication_required', 401, {}],
    ['api_key_missing', 401, { authorization: 'Bearer' }],
    ['api_key_invalid', 401, { 'x-api-key': unknownKey }],
  ])('answers {detail: %s}, %i', async (detail, status, headers) => {
    const answer = await plain.send('/models', { key: null, headers });
    expect([answer.status, answer.text]).toEqual([status, JSON.stringify({ detail })]);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each([
    ['account_disabled', 'disabled'],
    ['api_suspended', 'suspended'],
  ] as const)('answers {detail: %s}, 403', async (detail, condition) => {
    await plain.operator.accounts.change(customer.account.id, { condition });
    const answer = await plain.send('/models', { key: customer.key });
    expect([answer.status, answer.text]).toEqual([403, JSON.stringify({ detail })]);
    await plain.operator.accounts.change(customer.account.id, { condition: 'active' });
  });

  it('answers everything else in the envelope', async () => {
    expect(refusalOf(await plain.send('/nothing', { key: customer.key }))).toMatchObject({
      status: 404,
      code: 'ERR_NOT_FOUND',
    });
  });

  everyAnswer(() => plain, 'plain');
});
