import { afterAll, describe, expect, it } from 'vitest';
import { apiRoot, operations } from '../../service/contract/operations.ts';
import { type Answer, type Send, sharedTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { refusalOf } from './refusal.ts';

const service = await sharedTestService();
const client = await service.client();
afterAll(() => service.end());

/** Each test has an address of its own, so that their rejections do not add up to a block. */
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

describe('an API key', () => {
  it.each<[string, (key: string) => Record<string, string>]>([
    ['Authorization: Bearer', (key) => ({ authorization: `Bearer ${key}` })],
    ['Authorization: bearer, in whatever case', (key) => ({ authorization: `bEARER   ${key} ` })],
    ['X-API-Key', (key) => ({ 'x-api-key': key })],
  ])('A key is taken from %s', async (_where, headers) => {
    expect((await ask(headers(client.key))).status).toBe(200);
  });

  it('A key in Authorization wins over a key in X-API-Key, whatever Authorization holds', async () => {
    fromElsewhere();
    const good = client.key;
    expect((await ask({ authorization: `Bearer ${good}`, 'x-api-key': unknownKey })).status).toBe(200);
    expect(refusalOf(await ask({ authorization: `Bearer ${unknownKey}`, 'x-api-key': good }))).toEqual(
      invalid,
    );
    expect(refusalOf(await ask({ authorization: 'Bearer ', 'x-api-key': good }))).toEqual(missing);
  });

  it('Only the hash of a key is stored', async () => {
    const [stored] = await service.operator.accounts.listKeys(client.account.id);
    expect(JSON.stringify(stored)).not.toContain(client.key.slice('dk_live_'.length + 16));
    expect(stored?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(service.log.join('\n')).not.toContain(client.key);
  });

  it('An account may have several keys, and revoking one of them leaves the others valid', async () => {
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
    ['api_key_missing for Authorization without a key', { authorization: 'Bearer' }, missing],
    [
      'api_key_invalid for a text that is no key of this service',
      { authorization: 'Bearer sk-1234' },
      invalid,
    ],
    ['api_key_invalid for another scheme', { authorization: 'Basic dXNlcjpwYXNz' }, invalid],
  ])('The reason is %s', async (_case, headers, expected) => {
    fromElsewhere();
    const answer = await ask(headers);
    expect(refusalOf(answer)).toEqual(expected);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('A key with a bad checksum is answered api_key_invalid without a lookup of account or key', async () => {
    fromElsewhere();
    const read: string[] = [];
    service.machine.interceptAws((call, serve) => {
      if (call.operation === 'BatchGetItem') read.push(JSON.stringify(call.input));
      return serve();
    });
    const answer = await ask({ authorization: `Bearer ${mistyped(client.key)}` });
    service.machine.interceptAws((_call, serve) => serve());
    expect(refusalOf(answer)).toEqual(invalid);
    expect(read).toHaveLength(1);
    expect(read[0]).toContain('"IP#');
    expect(read[0]).not.toContain('ACCOUNT#');
  });

  it('An unknown key and a mistyped revoked key get the same answer, and the answer to the whole revoked key says that the key was revoked', async () => {
    fromElsewhere();
    const gone = await service.client();
    await service.operator.accounts.revokeKey(gone.account.id, gone.record.id, new Date().toISOString());
    const texts = await Promise.all(
      [unknownKey, mistyped(gone.key), gone.key].map(async (key) => (await ask({ 'x-api-key': key })).text),
    );
    const [unknown = '', likeUnknown, revoked] = texts;
    expect(likeUnknown).toBe(unknown);
    expect(revoked).toBe(unknown.replace('The API key is not recognised.', 'The API key was revoked.'));
  });
});

describe('a valid key of an account that may not use the API', () => {
  it.each([
    [
      'ERR_ACCOUNT_DISABLED, account_disabled, for a disabled account',
      'disabled',
      { status: 403, code: 'ERR_ACCOUNT_DISABLED', details: { reason: 'account_disabled' } },
    ],
    [
      'ERR_API_SUSPENDED, api_suspended, for a suspended account',
      'suspended',
      { status: 403, code: 'ERR_API_SUSPENDED', details: { reason: 'api_suspended' } },
    ],
  ] as const)(
    'The answer is 403 %s, and the key works again when the account is active again',
    async (_case, condition, expected) => {
      fromElsewhere();
      const { account, key } = await service.client();
      await service.operator.accounts.change(account.id, { condition });
      const answer = await ask({ 'x-api-key': key });
      expect(refusalOf(answer)).toEqual(expected);
      expect(answer.headers.has('www-authenticate')).toBe(false);
      await service.operator.accounts.change(account.id, { condition: 'active' });
      expect((await ask({ 'x-api-key': key })).status).toBe(200);
    },
  );
});

describe('every operation requires a key', () => {
  it.each(Object.values(operations))(
    '$method $path without a key is answered 401',
    async ({ method, path }) => {
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
    },
  );

  it.each(['/nothing', '/models/extra', ''])(
    'Authentication comes before 404 for the path "%s"',
    async (path) => {
      fromElsewhere();
      expect(refusalOf(await ask({}, { path }))).toEqual(missing);
    },
  );
});

it('The root path of the API has the segment v1', () => {
  expect(apiRoot).toBe('/api/public/v1');
  expect(service.machine.apiUrl.endsWith('/api/public/v1')).toBe(true);
});

everyAnswer(() => service);
