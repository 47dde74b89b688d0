/** The frame around every operation of the API: counting, headers, the end of its time, and the log. */
import { describe, expect, it } from 'vitest';
import type { Handle } from '../../service/api/serve.ts';
import { requestMillis } from '../../service/contract/limits.ts';
import type { SubmitServices } from '../../service/generate/open.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { Problem } from '../../service/values/problem.ts';
import { accountId, namedRequest, now } from '../fixtures/records.ts';
import { textLike } from '../fixtures/values.ts';
import { accepting, post, type Sending } from './serve-fixture.ts';

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
  it('The answer has exactly the headers of the frame and of the operation', async () => {
    expect(await post(accepting({ state: { rateCount: 7 } }), undefined, get)).toEqual({
      status: 200,
      headers: {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-request-id': namedRequest,
        'ratelimit-policy': '"get";q=600;w=60',
        ratelimit: '"get";r=592;t=30',
        'x-own': 'yes',
      },
      body: { well: true },
    });
  });

  it.each([
    [0, 60],
    [999, 60],
    [1_000, 59],
    [59_000, 1],
    [59_999, 1],
  ])('An answer %i ms into the minute says that the rate window ends in %i s', async (millis, seconds) => {
    const startAt = Date.UTC(2026, 10, 21, 12, 0) + millis;
    const { headers } = await post(accepting({ startAt }), undefined, get);
    expect(headers?.['ratelimit']).toBe(`"get";r=599;t=${seconds}`);
  });

  it('A refusal has the headers and the body of its Problem', async () => {
    const answer = await post(accepting({}), undefined, { method: 'GET', handle: refusing(notFound) });
    expect(answer).toMatchObject({
      status: 404,
      headers: { allow: 'GET', ratelimit: '"get";r=599;t=30' },
    });
    expect(answer.body).toEqual({
      error: { code: 'ERR_NOT_FOUND', message: 'There is nothing here.', details: { reason: 'none' } },
    });
  });

  it('An overloaded table is answered 503 with Retry-After 2, and the log names the path', async () => {
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
      ['info request_shed', { requestId: namedRequest, accountId, path: '/api/public/v1/images/generate' }],
    ]);
  });

  it.each<[string, unknown, string]>([
    ['an error', new TypeError('details'), 'TypeError'],
    ['a text', 'details', 'Error'],
  ])(
    'An operation that throws %s is answered 500, and an alarm has the cause',
    async (_what, error, name) => {
      const stage = accepting({});
      const answer = await post(stage, undefined, { method: 'GET', handle: refusing(error) });
      expect(answer).toMatchObject({
        status: 500,
        headers: { 'x-request-id': namedRequest, ratelimit: '"get";r=599;t=30' },
      });
      expect(answer.body).toEqual({
        error: {
          code: 'ERR_INTERNAL',
          message: 'An unexpected error occurred. Nothing is known to be wrong with the request.',
          details: {},
        },
      });
      const stack = textLike(/details/);
      expect(stage.log.entries).toEqual([
        ['alarm request_failed', { requestId: namedRequest, accountId, error: name, stack }],
      ]);
    },
  );

  it('A first read that breaks is answered 500, and the alarm names the request', async () => {
    const stage = accepting({ requests: { read: async () => Promise.reject(new TypeError('details')) } });
    expect((await post(stage, undefined, get)).status).toBe(500);
    const stack = textLike(/details/);
    expect(stage.log.entries).toEqual([
      ['alarm request_failed', { requestId: namedRequest, error: 'TypeError', stack }],
    ]);
  });
});

describe('the end of a request', () => {
  it.each<[string, Parameters<typeof accepting>[0], Sending]>([
    ['an answer', {}, get],
    ['a refusal', {}, { method: 'GET', handle: refusing(notFound) }],
    ['a failed authentication', { account: null }, get],
    ['a read that breaks', { requests: { read: async () => Promise.reject(new Error('broken')) } }, get],
  ])('The budget ends and every limit of the clock is released after %s', async (_what, setting, sending) => {
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

  it('The time that Lambda says is left does not end the request', async () => {
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
  ])('An operation that goes on %i ms after the end of its time is answered %i', async (over, status) => {
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

describe('the count of a request in the rate', () => {
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
  ])('The place is counted as often as it should be for %s', async (_what, setting, sending, times) => {
    const stage = accepting(setting);
    await post(stage, undefined, sending);
    expect(stage.counted).toBe(times);
  });

  it.each([
    ['GET', 599, 200, '"get";r=0;t=30'],
    ['GET', 600, 429, '"get";r=0;t=30'],
    ['GET', 601, 429, '"get";r=0;t=30'],
    ['POST', 59, 200, '"post";r=0;t=30'],
    ['POST', 60, 429, '"post";r=0;t=30'],
    ['POST', 61, 429, '"post";r=0;t=30'],
  ] as const)('A %s after %i counted requests is answered %i', async (method, rateCount, status, left) => {
    const answer = await post(accepting({ state: { rateCount } }), undefined, { ...get, method });
    expect([answer.status, answer.headers?.['ratelimit']]).toEqual([status, left]);
  });

  it('A refusal says the limit, the window and the seconds until the next window', async () => {
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

  it('A GET above the rate is refused as such, even if its operation refuses too', async () => {
    const stage = accepting({ hasRoom: false });
    const answer = await post(stage, undefined, { method: 'GET', handle: refusing(notFound) });
    expect(answer.status).toBe(429);
  });
});
