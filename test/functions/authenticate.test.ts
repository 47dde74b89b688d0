import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../core/api-key.ts';
import { handler } from '../../functions/operations/list-models.ts';
import { accountId, apiKeyText, keyId } from '../fixtures/records.ts';
import {
  bearer,
  call,
  dynamo,
  keysRead,
  keysUpdated,
  mockAws,
  tableHolds,
  type Answer,
} from './api-fixture.ts';

const otherKey = createKey(accountId, keyId, (count) => new Uint8Array(count).fill(9));
const mistyped = `${apiKeyText.slice(0, -1)}${apiKeyText.endsWith('0') ? '1' : '0'}`;
const reason = ({ body }: Answer): unknown => body.error?.details['reason'];

mockAws();
beforeEach(() => {
  tableHolds();
});

describe('the key of a request', () => {
  it.each<[string, Record<string, string>]>([
    ['Authorization: Bearer', bearer],
    ['Authorization: bearer', { authorization: `bearer ${apiKeyText}` }],
    ['Authorization with spaces', { authorization: `  Bearer   ${apiKeyText}  ` }],
    ['X-API-Key', { 'x-api-key': apiKeyText }],
  ])('The key is taken from %s', async (_header, headers) => {
    expect((await call(handler, { headers })).status).toBe(200);
  });

  it('The key in Authorization wins over X-API-Key, whatever Authorization holds', async () => {
    expect((await call(handler, { headers: { ...bearer, 'x-api-key': 'nonsense' } })).status).toBe(200);
    expect(
      reason(await call(handler, { headers: { authorization: 'Bearer nonsense', 'x-api-key': apiKeyText } })),
    ).toBe('api_key_invalid');
    expect(
      reason(await call(handler, { headers: { authorization: 'Bearer ', 'x-api-key': apiKeyText } })),
    ).toBe('api_key_missing');
  });

  it('One consistent call reads the key, its account, the rate window, the block of the address and the enabled providers', async () => {
    await call(handler, { headers: bearer });
    expect(keysRead()).toEqual([
      'IP#203.0.113.7 BLOCK',
      'ACCOUNT#Acc0unt001 ACCOUNT',
      'ACCOUNT#Acc0unt001 KEY#Key001',
      expect.stringMatching(/^ACCOUNT#Acc0unt001 RATE#GET#\d+$/),
      'SERVICE SERVICE',
    ]);
    expect(dynamo.call(0).args[0].input).toMatchObject({ RequestItems: { table: { ConsistentRead: true } } });
  });
});

describe('a failed authentication', () => {
  it.each<[string, Record<string, string>, Parameters<typeof tableHolds>[0], number, string, string]>([
    ['without a header', {}, {}, 401, 'ERR_API_KEY_INVALID', 'api_key_missing'],
    ['with an empty header', { 'x-api-key': ' ' }, {}, 401, 'ERR_API_KEY_INVALID', 'api_key_missing'],
    [
      'with another scheme',
      { authorization: 'Basic dXNlcjpwYXNz' },
      {},
      401,
      'ERR_API_KEY_INVALID',
      'api_key_invalid',
    ],
    [
      'with a key in Authorization without Bearer before it',
      { authorization: apiKeyText },
      {},
      401,
      'ERR_API_KEY_INVALID',
      'api_key_invalid',
    ],
    [
      'with a key behind another scheme',
      { authorization: `Token ${apiKeyText}` },
      {},
      401,
      'ERR_API_KEY_INVALID',
      'api_key_invalid',
    ],
    [
      'with a key that stands next to its scheme',
      { authorization: `Bearer${apiKeyText}` },
      {},
      401,
      'ERR_API_KEY_INVALID',
      'api_key_invalid',
    ],
    ['with the scheme alone', { authorization: 'Bearer' }, {}, 401, 'ERR_API_KEY_INVALID', 'api_key_missing'],
    [
      'with an empty Authorization beside a key',
      { authorization: ' ', 'x-api-key': apiKeyText },
      {},
      401,
      'ERR_API_KEY_INVALID',
      'api_key_missing',
    ],
    [
      'with a key of the same id and another hash',
      { 'x-api-key': otherKey },
      {},
      401,
      'ERR_API_KEY_INVALID',
      'api_key_invalid',
    ],
    ['with a key that is not there', bearer, { apiKey: null }, 401, 'ERR_API_KEY_INVALID', 'api_key_invalid'],
    [
      'with a key whose account is not there',
      bearer,
      { account: null },
      401,
      'ERR_API_KEY_INVALID',
      'api_key_invalid',
    ],
    [
      'with a revoked key',
      bearer,
      { apiKey: { revokedAt: '2026-11-21T00:00:00.000Z' } },
      401,
      'ERR_API_KEY_INVALID',
      'api_key_invalid',
    ],
    [
      'for a disabled account',
      bearer,
      { account: { condition: 'disabled' } },
      403,
      'ERR_ACCOUNT_DISABLED',
      'account_disabled',
    ],
    [
      'for a suspended account',
      bearer,
      { account: { condition: 'suspended' } },
      403,
      'ERR_API_SUSPENDED',
      'api_suspended',
    ],
    [
      'with a revoked key of a disabled account',
      bearer,
      { apiKey: { revokedAt: '2026-11-21T00:00:00.000Z' }, account: { condition: 'disabled' } },
      401,
      'ERR_API_KEY_INVALID',
      'api_key_invalid',
    ],
  ])(
    'A request %s is refused and counted against its address',
    async (_what, headers, stored, status, code, why) => {
      tableHolds(stored);
      const answer = await call(handler, { headers });
      expect(answer).toMatchObject({
        status,
        body: { error: { code, details: { reason: why } } },
        headers: { 'x-request-id': 'request-1' },
      });
      expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
      expect(keysUpdated()).toEqual([
        expect.stringMatching(new RegExp(`^IP#203\\.0\\.113\\.7 REJECTED#${status}#\\d+$`)),
      ]);
    },
  );

  it('A mistyped key costs no look-up: only the block of the address is read', async () => {
    expect(reason(await call(handler, { headers: { 'x-api-key': mistyped } }))).toBe('api_key_invalid');
    expect(keysRead()).toEqual(['IP#203.0.113.7 BLOCK']);
  });

  it('A key without a scheme costs no look-up either, and wins over X-API-Key', async () => {
    expect(
      reason(await call(handler, { headers: { authorization: apiKeyText, 'x-api-key': apiKeyText } })),
    ).toBe('api_key_invalid');
    expect(keysRead()).toEqual(['IP#203.0.113.7 BLOCK']);
  });

  it('A failure from an IPv6 address is counted against its /64', async () => {
    await call(handler, { headers: {}, sourceIp: '2001:db8:1:2:3:4:5:6' });
    expect(keysRead()).toEqual(['IP#2001:db8:1:2::/64 BLOCK']);
    expect(keysUpdated()).toEqual([expect.stringContaining('IP#2001:db8:1:2::/64 REJECTED#401')]);
  });

  it('A failure is not counted against an address that a header claims', async () => {
    await call(handler, { headers: { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.1' } });
    expect(keysRead()).toEqual(['IP#203.0.113.7 BLOCK']);
  });
});

describe('the block of an address', () => {
  it('The twentieth 401 in a minute blocks all traffic of the address', async () => {
    dynamo.on(UpdateCommand).resolves({ Attributes: { count: 20 } });
    await call(handler, { headers: {} });
    const [, block] = dynamo.commandCalls(UpdateCommand).map(({ args }) => args[0].input);
    expect(block).toMatchObject({
      Key: { pk: 'IP#203.0.113.7', sk: 'BLOCK' },
      ExpressionAttributeValues: { ':scope': 'all' },
    });
    expect(block).not.toHaveProperty('ConditionExpression');
  });

  it('The twentieth 403 in a minute blocks the public API only, and never narrows a wider block', async () => {
    tableHolds({ account: { condition: 'suspended' } });
    dynamo
      .on(UpdateCommand)
      .resolvesOnce({ Attributes: { count: 20 } })
      .rejects(new ConditionalCheckFailedException({ message: '', $metadata: {} }));
    expect((await call(handler)).status).toBe(403);
    const [, block] = dynamo.commandCalls(UpdateCommand).map(({ args }) => args[0].input);
    expect(block).toMatchObject({
      ConditionExpression: 'attribute_not_exists(pk) OR #scope <> :all OR untilMillis <= :now',
      ExpressionAttributeValues: { ':scope': 'public', ':all': 'all' },
    });
  });

  it('Nineteen failures in a minute block nothing', async () => {
    dynamo.on(UpdateCommand).resolves({ Attributes: { count: 19 } });
    await call(handler, { headers: {} });
    expect(keysUpdated()).toHaveLength(1);
  });

  it('A block stops a valid key too, and the answer says for how long', async () => {
    tableHolds({
      others: [{ pk: 'IP#203.0.113.7', sk: 'BLOCK', untilMillis: Date.now() + 90_000, scope: 'all' }],
    });
    const answer = await call(handler);
    expect(answer).toMatchObject({
      status: 429,
      body: { error: { code: 'ERR_RATE_LIMIT', details: { reason: 'burst_block' } } },
    });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(85);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(90);
    expect(keysUpdated()).toEqual([]);
  });

  it('An expired block no longer blocks', async () => {
    tableHolds({
      others: [{ pk: 'IP#203.0.113.7', sk: 'BLOCK', untilMillis: Date.now() - 1, scope: 'all' }],
    });
    expect((await call(handler)).status).toBe(200);
  });
});
