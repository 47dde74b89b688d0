/** The frame around every operation of the API: counting, headers, the forms of a refusal, and the log. */
import { describe, expect, it } from 'vitest';
import { requestMillis } from '../../core/limits.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { Problem } from '../../core/problem.ts';
import type { Handle } from '../../functions/http/serve.ts';
import type { SubmitServices } from '../../functions/services.ts';
import { accountId, apiKeyText, creationId, keyId, now } from '../fixtures/records.ts';
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

describe('an answer of the API', () => {
  it('has exactly the headers of its frame and of its operation', async () => {
    expect(await post(accepting({ state: { rateCount: 7 } }), undefined, get)).toEqual({
      status: 200,
      headers: {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-request-id': 'request-1',
        'ratelimit-policy': '"get";q=600;w=60',
        ratelimit: '"get";r=592;t=30',
        'x-own': 'yes',
      },
      body: { well: true },
    });
  });

  it('counts a POST against the rate of POST requests', async () => {
    const { headers } = await post(accepting({ state: { rateCount: 7 } }), {}, { handle: answering });
    expect(headers).toMatchObject({ 'ratelimit-policy': '"post";q=60;w=60', ratelimit: '"post";r=52;t=30' });
  });

  it.each([
    [0, 60],
    [999, 60],
    [1_000, 59],
    [59_000, 1],
    [59_999, 1],
  ])('says %i ms after the begin of a minute that the window ends in %i s', async (millis, seconds) => {
    const startAt = Date.UTC(2026, 10, 21, 12, 0) + millis;
    const { headers } = await post(accepting({ startAt }), undefined, get);
    expect(headers?.['ratelimit']).toBe(`"get";r=599;t=${seconds}`);
  });

  it('that refuses has the headers and the body of its Problem', async () => {
    const answer = await post(accepting({}), undefined, { method: 'GET', handle: refusing(notFound) });
    expect(answer).toMatchObject({
      status: 404,
      headers: { allow: 'GET', ratelimit: '"get";r=599;t=30' },
    });
    expect(answer.body).toEqual({
      error: { code: 'ERR_NOT_FOUND', message: 'There is nothing here.', details: { reason: 'none' } },
    });
  });

  it('of an overloaded table is 503, to be tried again after 2 s, and the log names the path', async () => {
    const stage = accepting({});
    const answer = await post(stage, {}, { handle: refusing(new Overloaded('busy')) });
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    expect(answer.body).toEqual({
      error: {
        code: 'ERR_PROVIDER_UNAVAILABLE',
        message: 'The service is busy. Nothing was charged: send the request again.',
        details: { reason: 'overloaded' },
      },
    });
    expect(stage.log.entries).toEqual([
      ['info request_shed', { requestId: 'request-1', accountId, path: '/api/public/v1/images/generate' }],
    ]);
  });

  it.each<[string, unknown, string]>([
    ['an error', new TypeError('details'), 'TypeError'],
    ['a text', 'details', 'Error'],
  ])('of an operation that throws %s is 500, and an alarm has the cause', async (_what, error, name) => {
    const stage = accepting({});
    const answer = await post(stage, undefined, { method: 'GET', handle: refusing(error) });
    expect(answer).toMatchObject({
      status: 500,
      headers: { 'x-request-id': 'request-1', ratelimit: '"get";r=599;t=30' },
    });
    expect(answer.body).toEqual({
      error: {
        code: 'ERR_INTERNAL',
        message: 'An unexpected error occurred. Nothing is known to be wrong with the request.',
        details: {},
      },
    });
    const stack = expect.stringContaining('details') as string;
    expect(stage.log.entries).toEqual([
      ['alarm request_failed', { requestId: 'request-1', accountId, error: name, stack }],
    ]);
  });

  it('of a read that breaks is 500, and the alarm names the request', async () => {
    const stage = accepting({ requests: { read: async () => Promise.reject(new TypeError('details')) } });
    expect((await post(stage, undefined, get)).status).toBe(500);
    const stack = expect.stringContaining('details') as string;
    expect(stage.log.entries).toEqual([
      ['alarm request_failed', { requestId: 'request-1', error: 'TypeError', stack }],
    ]);
  });
});

describe('the end of a request', () => {
  it.each<[string, Parameters<typeof accepting>[0], Sending]>([
    ['an answer', {}, get],
    ['a refusal', {}, { method: 'GET', handle: refusing(notFound) }],
    ['a failed authentication', { account: null }, get],
    ['a read that breaks', { requests: { read: async () => Promise.reject(new Error('broken')) } }, get],
  ])('after %s ends its time and releases every limit of the clock', async (_what, setting, sending) => {
    const stage = accepting(setting);
    let signal: AbortSignal | undefined;
    const open = stage.open;
    await post(
      {
        ...stage,
        open: () => {
          const services = open();
          signal = services.budget.signal;
          return services;
        },
      },
      undefined,
      sending,
    );
    expect({ aborted: signal?.aborted, held: stage.clock.held }).toEqual({ aborted: true, held: 0 });
  });

  it('is not decided by the time that Lambda says is left', async () => {
    const slow: Handle<SubmitServices> = async (...given) => {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      return answering(...given);
    };
    const context = { getRemainingTimeInMillis: () => 2 };
    expect((await post(accepting({}), {}, { handle: slow, context })).status).toBe(200);
  });

  it.each([
    [1_499, 200],
    [1_500, 500],
  ])('leaves an operation behind that goes on for %i ms more than its time: %i', async (over, status) => {
    const stage = accepting({});
    const slow: Handle<SubmitServices> = async (...given) => {
      await new Promise(setImmediate);
      stage.clock.set(now + requestMillis + over);
      await new Promise(setImmediate);
      return answering(...given);
    };
    expect((await post(stage, {}, { handle: slow })).status).toBe(status);
  });
});

describe('the place of a request in the rate', () => {
  it.each<[string, Parameters<typeof accepting>[0], Sending, number]>([
    ['a GET that answers', {}, get, 1],
    ['a GET that refuses', {}, { method: 'GET', handle: refusing(notFound) }, 1],
    ['a POST that answers', {}, { handle: answering }, 1],
    ['a POST that refuses', {}, { handle: refusing(notFound) }, 1],
    ['a POST that meets a busy table', {}, { handle: refusing(new Overloaded('busy')) }, 0],
    [
      'a POST that sheds the load',
      {},
      { handle: refusing(new Problem('ERR_PROVIDER_UNAVAILABLE', 'busy', { reason: 'overloaded' })) },
      0,
    ],
    ['a POST that breaks', {}, { handle: refusing(new Error('broken')) }, 0],
    ['a POST that finds the window full', { hasRoom: false }, { handle: answering }, 1],
    ['a GET beyond the count that was read', { state: { rateCount: 600 } }, get, 0],
    ['a POST beyond the count that was read', { state: { rateCount: 60 } }, { handle: answering }, 0],
    ['a failed authentication', { account: null }, get, 0],
  ])('%s counts as often as it should', async (_what, setting, sending, times) => {
    const stage = accepting(setting);
    await post(stage, undefined, sending);
    expect(stage.counted).toBe(times);
  });

  it.each(['get', 'post'] as const)('is asked for with the limit of the account: %s', async (rate) => {
    const asked: unknown[] = [];
    const stage = accepting({
      account: { limits: { postRate: 61, getRate: 601, maxConcurrent: 20, deadlineSeconds: 300 } },
      countRequest: async (...given) => {
        asked.push(given);
        return Promise.resolve(true);
      },
    });
    await post(stage, undefined, { ...get, method: rate === 'get' ? 'GET' : 'POST' });
    expect(asked).toEqual([[accountId, rate, rate === 'get' ? 601 : 61, now]]);
  });

  it.each([
    ['GET', 599, 200, '"get";r=0;t=30'],
    ['GET', 600, 429, '"get";r=0;t=30'],
    ['GET', 601, 429, '"get";r=0;t=30'],
    ['POST', 59, 200, '"post";r=0;t=30'],
    ['POST', 60, 429, '"post";r=0;t=30'],
    ['POST', 61, 429, '"post";r=0;t=30'],
  ] as const)('of a %s after %i counted requests: %i', async (method, rateCount, status, left) => {
    const answer = await post(accepting({ state: { rateCount } }), undefined, { ...get, method });
    expect([answer.status, answer.headers?.['ratelimit']]).toEqual([status, left]);
  });

  it('is refused with the limit, the window and the seconds until the next one', async () => {
    const stage = accepting({ hasRoom: false, startAt: now + 12_345 });
    const answer = await post(stage, {}, { handle: answering });
    expect(answer).toMatchObject({
      status: 429,
      headers: { 'retry-after': '18', ratelimit: '"post";r=0;t=18' },
    });
    expect(answer.body).toEqual({
      error: {
        code: 'ERR_RATE_LIMIT',
        message: 'This account may send 60 POST requests a minute.',
        details: { reason: 'account_rate', limit: 60, window_seconds: 60 },
      },
    });
    const other = await post(accepting({ hasRoom: false }), undefined, get);
    expect(other.body).toMatchObject({
      error: { message: 'This account may send 600 GET requests a minute.', details: { limit: 600 } },
    });
  });

  it('of a GET decides before the refusal of its operation', async () => {
    const stage = accepting({ hasRoom: false });
    const answer = await post(stage, undefined, { method: 'GET', handle: refusing(notFound) });
    expect(answer.status).toBe(429);
  });
});

describe('the use of a key', () => {
  it.each<[string | undefined, number]>([
    [undefined, 1],
    ['2026-11-21T11:00:00.000Z', 1],
    ['2026-11-21T12:00:00.000Z', 0],
  ])('by a GET at 12:00:30, after one at %s, is noted %i times', async (lastUsedAt, times) => {
    const stage = accepting({ apiKey: lastUsedAt === undefined ? {} : { lastUsedAt } });
    await post(stage, undefined, get);
    expect(stage.keyUses).toEqual(
      Array.from({ length: times }, () => [accountId, keyId, '2026-11-21T12:00:00.000Z']),
    );
  });

  it('by a POST is not noted apart', async () => {
    const stage = accepting({});
    await post(stage, {}, { handle: answering });
    expect(stage.keyUses).toEqual([]);
  });

  it('that cannot be noted does not refuse the answer', async () => {
    const noteKeyUse = async (): Promise<never> => Promise.reject(new TypeError('details'));
    const stage = accepting({ requests: { noteKeyUse } });
    expect((await post(stage, undefined, get)).status).toBe(200);
    expect(stage.log.entries).toEqual([
      ['info key_use_not_noted', { requestId: 'request-1', accountId, error: 'TypeError' }],
    ]);
  });
});

describe('what the first read of a request asks for', () => {
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
  ])('is exactly this for %s', async (_what, sending, asked) => {
    const stage = accepting({});
    await post(stage, undefined, sending);
    expect(stage.questions).toEqual([asked]);
  });
});

describe('a refused authentication', () => {
  const missing =
    'An API key is required: send it as "Authorization: Bearer <API_KEY>" or as "X-API-Key: <API_KEY>".';
  const suspended = 'API access of this account is paused by its account manager. The portal still works.';
  const rejected = (status: number): unknown[] => [['203.0.113.7', String(status), now]];

  it.each<[string, Parameters<typeof accepting>[0], Record<string, string>, number, object, string]>([
    [
      'without a header',
      {},
      {},
      401,
      { code: 'ERR_API_KEY_INVALID', message: missing, details: { reason: 'api_key_missing' } },
      'authentication_required',
    ],
    [
      'with an empty header',
      {},
      { 'x-api-key': ' ' },
      401,
      { code: 'ERR_API_KEY_INVALID', message: missing, details: { reason: 'api_key_missing' } },
      'api_key_missing',
    ],
    [
      'with a key that nobody has',
      { apiKey: null },
      bearer,
      401,
      {
        code: 'ERR_API_KEY_INVALID',
        message: 'The API key is not recognised.',
        details: { reason: 'api_key_invalid' },
      },
      'api_key_invalid',
    ],
    [
      'of a disabled account',
      { account: { condition: 'disabled' } },
      bearer,
      403,
      {
        code: 'ERR_ACCOUNT_DISABLED',
        message: 'This account is disabled.',
        details: { reason: 'account_disabled' },
      },
      'account_disabled',
    ],
    [
      'of a suspended account',
      { account: { condition: 'suspended' } },
      bearer,
      403,
      { code: 'ERR_API_SUSPENDED', message: suspended, details: { reason: 'api_suspended' } },
      'api_suspended',
    ],
  ])(
    '%s has the form of the deployment and is counted',
    async (_what, setting, headers, status, error, detail) => {
      const asEnvelope = accepting({ ...setting, state: { rateCount: 7 } });
      const envelope = await post(asEnvelope, undefined, { ...get, headers });
      expect([envelope.status, envelope.body]).toEqual([status, { error }]);
      expect(asEnvelope.rejections).toEqual(rejected(status));
      expect(envelope.headers).toEqual({
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-request-id': 'request-1',
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

  it('by an operation keeps the headers of its Problem', async () => {
    const problem = new Problem('ERR_API_KEY_INVALID', 'no', { reason: 'gone' }, { 'x-own': 'yes' });
    const { headers } = await post(accepting({}), undefined, { method: 'GET', handle: refusing(problem) });
    expect(headers).toMatchObject({ 'x-own': 'yes', 'www-authenticate': 'Bearer' });
  });

  it('leaves every other refusal of a deployment with the plain form in the envelope', async () => {
    const stage = accepting({ services: { authFailureForm: 'plain' } });
    const answer = await post(stage, undefined, { method: 'GET', handle: refusing(notFound) });
    expect(answer.body).toHaveProperty('error.code', 'ERR_NOT_FOUND');
    expect(answer.headers).not.toHaveProperty('www-authenticate');
  });

  it.each<[string, Record<string, string>, string]>([
    ['a scheme that ends in bearer', { authorization: `X-Bearer ${apiKeyText}` }, 'api_key_invalid'],
    ['text before the scheme', { authorization: `a bearer ${apiKeyText}` }, 'api_key_invalid'],
    ['a scheme that begins with bearer', { authorization: `Bearers ${apiKeyText}` }, 'api_key_invalid'],
  ])('is the answer to %s', async (_what, headers, reason) => {
    const answer = await post(accepting({}), undefined, { ...get, headers });
    expect(answer.body).toHaveProperty('error.details.reason', reason);
  });

  it('is not the answer to a key with white space around it in X-API-Key', async () => {
    const headers = { 'x-api-key': `  ${apiKeyText} ` };
    expect((await post(accepting({}), undefined, { ...get, headers })).status).toBe(200);
  });

  it.each([
    [1, '1'],
    [90_000, '90'],
    [90_001, '91'],
  ])('comes %i ms before the end of a block as 429 with Retry-After %s', async (millis, seconds) => {
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
  });
});
