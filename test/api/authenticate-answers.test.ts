/** Who asks: what the first read of a request asks for, the use of the key, and a refused authentication. */
import { describe, expect, it } from 'vitest';
import { userHash } from '../../service/accounts/end-user.ts';
import type { Handle } from '../../service/api/serve.ts';
import type { SubmitServices } from '../../service/generate/open.ts';
import { asMicros } from '../../service/values/money.ts';
import { Problem } from '../../service/values/problem.ts';
import {
  accountId,
  anApiKey,
  apiKeyText,
  creationId,
  keyId,
  namedRequest,
  now,
} from '../fixtures/records.ts';
import { requestIdOf } from '../../service/api/request-id.ts';
import { accepting, bearer, post, type Sending } from './serve-fixture.ts';

const answering: Handle<SubmitServices> = async () =>
  Promise.resolve({ status: 200, body: { well: true }, headers: { 'x-own': 'yes' } });

const refusing =
  (error: unknown): Handle<SubmitServices> =>
  async () => {
    await Promise.resolve();
    throw error;
  };

const get: Sending = { method: 'GET', handle: answering };

const notFound = new Problem('ERR_NOT_FOUND', 'There is nothing here.', { reason: 'none' }, { allow: 'GET' });

describe('the use of a key', () => {
  it.each<[string | undefined, number]>([
    [undefined, 1],
    ['2026-11-21T11:00:00.000Z', 1],
    ['2026-11-21T12:00:00.000Z', 0],
  ])(
    'A GET at 12:00:30, when the stored hour of use is %s, notes the use %i times',
    async (lastUsedAt, times) => {
      const stage = accepting({ apiKey: lastUsedAt === undefined ? {} : { lastUsedAt } });
      await post(stage, undefined, get);
      expect(stage.keyUses).toEqual(
        Array.from({ length: times }, () => [accountId, keyId, '2026-11-21T12:00:00.000Z']),
      );
    },
  );

  it('A POST does not note the use apart from its charge', async () => {
    const stage = accepting({});
    await post(stage, {}, { handle: answering });
    expect(stage.keyUses).toEqual([]);
  });

  it('A use that cannot be noted does not stop the answer', async () => {
    const noteKeyUse = async (): Promise<never> => Promise.reject(new TypeError('details'));
    const stage = accepting({ requests: { noteKeyUse } });
    expect((await post(stage, undefined, get)).status).toBe(200);
    expect(stage.log.entries).toEqual([
      ['info key_use_not_noted', { requestId: namedRequest, accountId, error: 'TypeError' }],
    ]);
  });
});

describe('the first read of a request', () => {
  const key = { accountId, keyId };
  const question = { clientAddress: '203.0.113.7', nowMillis: now };

  it.each<[string, Sending, object]>([
    ['a GET', get, { ...question, key, rate: 'get' }],
    ['a GET of a creation', { ...get, pathId: creationId }, { ...question, key, rate: 'get', creationId }],
    ['a GET of an id that is malformed', { ...get, pathId: 'x' }, { ...question, key, rate: 'get' }],
    ['a POST', { handle: answering }, { ...question, key, rate: 'post' }],
    [
      'a POST with an Idempotency-Key',
      { handle: answering, headers: { ...bearer, 'idempotency-key': 'k' } },
      {
        ...question,
        key,
        rate: 'post',
        idempotencyHash: '8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a',
      },
    ],
    [
      'a GET with an Idempotency-Key',
      { ...get, headers: { ...bearer, 'idempotency-key': 'k' } },
      { ...question, key, rate: 'get' },
    ],
    ['a request without a key', { ...get, headers: {} }, { ...question, rate: 'get' }],
  ])('The read asks for exactly these items for %s', async (_what, sending, asked) => {
    const stage = accepting({});
    await post(stage, undefined, sending);
    expect(stage.questions).toEqual([asked]);
  });
});

describe('a refused authentication', () => {
  const missing =
    'An API key is required: send it as "Authorization: Bearer <API_KEY>" or as "X-API-Key: <API_KEY>".';
  const suspended = 'API access of this account is paused by its account manager. The portal still works.';
  const rejected = (status: number, headers: Record<string, string>): unknown[] => [
    ['203.0.113.7', headers === bearer ? String(status) : 'keyless', now],
  ];

  const error = (code: string, message: string, reason: string): object => ({
    code,
    message,
    details: { reason },
  });
  const noKey = error('ERR_API_KEY_INVALID', missing, 'api_key_missing');
  const keyThat = (why: string): object =>
    error('ERR_API_KEY_INVALID', `The API key ${why}.`, 'api_key_invalid');
  const unknownKey = keyThat('is not recognised');
  const before = new Date(now - 1_000).toISOString();
  // The stored hash is another one: the secret of the presented key is not that of the stored key.
  const otherSecret = { hash: '0'.repeat(64) };
  const isDisabled = error('ERR_ACCOUNT_DISABLED', 'This account is disabled.', 'account_disabled');
  const isSuspended = error('ERR_API_SUSPENDED', suspended, 'api_suspended');

  it.each<[string, Parameters<typeof accepting>[0], Record<string, string>, number, object, string]>([
    ['without a header', {}, {}, 401, noKey, 'authentication_required'],
    ['with an empty header', {}, { 'x-api-key': ' ' }, 401, noKey, 'api_key_missing'],
    ['with a key that nobody has', { apiKey: null }, bearer, 401, unknownKey, 'api_key_invalid'],
    [
      'with a revoked key',
      { apiKey: { revokedAt: before } },
      bearer,
      401,
      keyThat('was revoked'),
      'api_key_invalid',
    ],
    [
      'with an expired key',
      { apiKey: { expiresAt: before } },
      bearer,
      401,
      keyThat('has expired'),
      'api_key_invalid',
    ],
    [
      'with another secret than that of a revoked key',
      { apiKey: { ...otherSecret, revokedAt: before, expiresAt: before } },
      bearer,
      401,
      unknownKey,
      'api_key_invalid',
    ],
    [
      'of a disabled account',
      { account: { condition: 'disabled' } },
      bearer,
      403,
      isDisabled,
      'account_disabled',
    ],
    [
      'of a suspended account',
      { account: { condition: 'suspended' } },
      bearer,
      403,
      isSuspended,
      'api_suspended',
    ],
  ])(
    'A request %s is refused in the form of the deployment and counted',
    async (_what, setting, headers, status, error, detail) => {
      const asEnvelope = accepting({ ...setting, state: { rateCount: 7 } });
      const envelope = await post(asEnvelope, undefined, { ...get, headers });
      expect([envelope.status, envelope.body]).toEqual([status, { error }]);
      expect(asEnvelope.rejections).toEqual(rejected(status, headers));
      expect(envelope.headers).toEqual({
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-request-id': requestIdOf('request-1', headers, Date.UTC(2026, 10, 27, 12)),
        ...(status === 401
          ? { 'www-authenticate': 'Bearer' }
          : { 'ratelimit-policy': '"get";q=600;w=60', ratelimit: '"get";r=593;t=30' }),
      });
      const asPlain = accepting({
        ...setting,
        state: { rateCount: 7 },
        services: { authFailureForm: 'plain' },
      });
      const plain = await post(asPlain, undefined, { ...get, headers });
      expect(plain).toEqual({ ...envelope, body: { detail } });
    },
  );

  it('A 401 of an operation keeps the headers of its Problem', async () => {
    const problem = new Problem('ERR_API_KEY_INVALID', 'no', { reason: 'gone' }, { 'x-own': 'yes' });
    const { headers } = await post(accepting({}), undefined, { method: 'GET', handle: refusing(problem) });
    expect(headers).toMatchObject({ 'x-own': 'yes', 'www-authenticate': 'Bearer' });
  });

  it('A deployment with the plain form answers every other refusal in the envelope', async () => {
    const stage = accepting({ services: { authFailureForm: 'plain' } });
    const answer = await post(stage, undefined, { method: 'GET', handle: refusing(notFound) });
    expect(answer.body).toHaveProperty('error.code', 'ERR_NOT_FOUND');
    expect(answer.headers).not.toHaveProperty('www-authenticate');
  });

  it.each<[string, Record<string, string>, string]>([
    ['a scheme that ends in bearer', { authorization: `X-Bearer ${apiKeyText}` }, 'api_key_invalid'],
    ['text before the scheme', { authorization: `a bearer ${apiKeyText}` }, 'api_key_invalid'],
    ['a scheme that begins with bearer', { authorization: `Bearers ${apiKeyText}` }, 'api_key_invalid'],
  ])('A request with %s is refused as api_key_invalid', async (_what, headers, reason) => {
    const answer = await post(accepting({}), undefined, { ...get, headers });
    expect(answer.body).toHaveProperty('error.details.reason', reason);
  });

  it('White space around a key in X-API-Key is ignored', async () => {
    const headers = { 'x-api-key': `  ${apiKeyText} ` };
    expect((await post(accepting({}), undefined, { ...get, headers })).status).toBe(200);
  });

  it.each([
    [1, '1'],
    [90_000, '90'],
    [90_001, '91'],
  ])(
    'A request %i ms before the end of a block is answered 429 with Retry-After %s',
    async (millis, seconds) => {
      const stage = accepting({ state: { block: { untilMillis: now + millis, scope: 'all' } } });
      const answer = await post(stage, undefined, get);
      expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': seconds } });
      expect(answer.body).toEqual({
        error: {
          code: 'ERR_RATE_LIMIT',
          message: 'Too many rejected authentications came from this address.',
          details: { reason: 'burst_block' },
        },
      });
      expect(stage.rejections).toEqual([]);
    },
  );
});

const body = { model: 'sandbox-standard', prompt: 'a pier', user: 'customer 7' };

/** The user of a request before its body is checked: one read holds what is spent for that user. */
describe('the user of a request', () => {
  it.each<[string, object, string | undefined]>([
    ['a user', body, userHash('customer 7')],
    ['no user', { ...body, user: undefined }, undefined],
    ['null', { ...body, user: null }, undefined],
    ['a user of a wrong form', { ...body, user: 'a\nb' }, undefined],
    ['the word in its prompt', { model: 'sandbox-standard', prompt: '"user"' }, undefined],
  ])('The first read of a body with %s asks for the counter of: %s', async (_what, sent, hash) => {
    const stage = accepting({});
    await post(stage, sent);
    expect(stage.questions.map((question) => question.userHash)).toEqual([hash]);
  });

  it('A body that cannot be read, and a request without a well-formed key, ask for no counter', async () => {
    const stage = accepting({});
    await post(stage, undefined, { bytes: Buffer.from('{"user":"customer 7",') });
    await post(stage, undefined, { bytes: Buffer.from(`["user"]`) });
    await post(stage, undefined, { bytes: Buffer.from(`{"user":"a"${' '.repeat(256 * 1024)}}`) });
    await post(stage, body, { headers: { ...bearer, authorization: 'Bearer dk_live_mistyped' } });
    expect(stage.questions.map((question) => question.userHash)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('A user whose budget is used up is refused before anything is fetched or charged', async () => {
    const stage = accepting({
      apiKey: { perUserMonthlyCapMicros: asMicros(50_000) },
      state: { userSpentMicros: asMicros(10_001) },
    });
    const answer = await post(stage, { ...body, image_urls: ['https://images.test/1.png'] });
    expect(answer).toMatchObject({
      status: 402,
      body: { error: { details: { reason: 'user_budget_exceeded', spent: 0.010001, user: 'customer 7' } } },
    });
    expect([stage.fetched, stage.orders]).toEqual([[], []]);
  });

  it('A charge of a key with a cap for each user says that it counts for the user', async () => {
    const stage = accepting({ apiKey: { perUserMonthlyCapMicros: asMicros(50_000) } });
    expect((await post(stage, body)).status).toBe(202);
    expect(stage.orders[0]?.creations[0]).toMatchObject({ user: 'customer 7', countedForUser: true });
  });

  it('A cap for each user that is set during the request requires the user then', async () => {
    const changed = anApiKey({ perUserMonthlyCapMicros: asMicros(50_000) });
    const stage = accepting({ outcome: { kind: 'key_changed', apiKey: changed } });
    const answer = await post(stage, { ...body, user: null });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { details: { errors: [{ field: 'user', code: 'required' }] } } },
    });
  });
});
