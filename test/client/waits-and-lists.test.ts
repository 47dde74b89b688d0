import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Darkroom } from '../../client/src/index.ts';
import { portOf } from '../fixtures/values.ts';
import {
  ConnectionError,
  GenerationFailed,
  NotFound,
  RateLimited,
  TimeoutError,
} from '../../client/src/errors.ts';
import { type Creation } from '../../client/src/types/generated.ts';
import { json, refusal, stub, testKey, thrownBy, type Reply } from './stub.ts';

const request = { model: 'sandbox-sketch', prompt: 'a lake' };
const open = (after?: number): Response =>
  json({ id: 'c1', status: 'processing' }, 200, after === undefined ? {} : { 'retry-after': String(after) });
const broken = new TypeError('fetch failed');
const html = (status: number): Response =>
  new Response('<html>a gateway</html>', { status, headers: { 'content-type': 'text/html' } });
const completed = (): Response => json({ id: 'c1', status: 'completed', results: [] });
const failedCreation = {
  id: 'c1',
  status: 'failed',
  error: 'Generation failed.',
  retryable: true,
  cost: 0.01,
  amount_refunded: 0.01,
};

describe('wait', () => {
  it('Polls come at the pace that each answer names, and otherwise every 2 s', async () => {
    const polled: Creation[] = [];
    const { darkroom, sent } = stub([open(3), open(), open(1), completed()]);
    const done = await darkroom.creations.wait('c1', { onPoll: (creation) => polled.push(creation) });
    expect(done.status).toBe('completed');
    expect(sent.map(({ at }) => at)).toEqual([0, 3000, 5000, 6000]);
    expect(polled.map(({ status }) => status)).toEqual([
      'processing',
      'processing',
      'processing',
      'completed',
    ]);
  });

  it('A pace beyond the end of the wait does not cost the last poll', async () => {
    const { darkroom, sent } = stub([open(4), open(9), completed()]);
    await darkroom.creations.wait('c1', { timeoutMs: 8000 });
    expect(sent.map(({ at }) => at)).toEqual([0, 4000, 7000]);
    const late = stub(() => open(9));
    expect(await thrownBy(late.darkroom.creations.wait('c1', { timeoutMs: 8000 }))).toBeInstanceOf(
      TimeoutError,
    );
    expect(late.sent.map(({ at }) => at)).toEqual([0, 7000]);
    expect(late.now()).toBe(8000);
  });

  it('A creation of an answer is polled no earlier than its answer said', async () => {
    const { darkroom, sent } = stub([
      json({ id: 'c1', status: 'queued' }, 202, { 'retry-after': '2' }),
      completed(),
    ]);
    await darkroom.creations.wait(await darkroom.images.generate(request));
    expect(sent.map(({ at }) => at)).toEqual([0, 2000]);
  });

  it('A creation that has completed needs no poll', async () => {
    const { darkroom, sent } = stub([completed()]);
    await darkroom.creations.wait(await darkroom.creations.get('c1'));
    expect(sent).toHaveLength(1);
  });

  it('A failed creation is thrown as GenerationFailed', async () => {
    const { darkroom } = stub([json(failedCreation)]);
    const error = await thrownBy(darkroom.creations.wait('c1'));
    expect(error).toBeInstanceOf(GenerationFailed);
    expect(error).toMatchObject({
      message: 'Generation failed.',
      creation: failedCreation,
      retryable: true,
      refunded: true,
    });
  });

  it('A creation whose charge is not given back yet is not called refunded', async () => {
    const { darkroom } = stub([json({ ...failedCreation, amount_refunded: 0 })]);
    expect(await thrownBy(darkroom.creations.wait('c1'))).toMatchObject({ refunded: false });
  });

  it('A poll that is never answered ends with the wait', async () => {
    const { darkroom, retries } = stub(() => 'silence', { timeoutMs: 60_000 });
    const error = await thrownBy(darkroom.creations.wait('c1', { timeoutMs: 20 }));
    expect(error).toMatchObject({
      name: 'TimeoutError',
      message: 'The creation c1 has not ended within 0.02 s. The last trouble: No answer arrived within 1 s.',
      creationId: 'c1',
      cause: { name: 'TimeoutError' },
    });
    expect(retries).toEqual([]);
  });

  it('An answer makes the next trouble the first one again', async () => {
    const replies = [broken, broken, broken, broken, open(1), broken, completed()];
    const { darkroom, retries } = stub(replies, { random: 1 });
    await darkroom.creations.wait('c1');
    expect(retries.map(({ attempt, waitMs }) => [attempt, waitMs])).toEqual([
      [1, 2000],
      [2, 2000],
      [3, 2000],
      [4, 4000],
      [1, 2000],
    ]);
  });

  it('A trouble that may pass does not end the wait', async () => {
    const troubles: Reply[] = [
      new TypeError('fetch failed'),
      refusal(429, 'ERR_RATE_LIMIT', { reason: 'poll_interval' }, { 'retry-after': '1' }),
      refusal(429, 'ERR_RATE_LIMIT', { reason: 'burst_block' }, { 'retry-after': '120' }),
      refusal(503, 'ERR_PROVIDER_UNAVAILABLE'),
      refusal(500, 'ERR_INTERNAL'),
    ];
    const { darkroom, sent, retries } = stub([...troubles, completed()]);
    await darkroom.creations.wait('c1');
    expect(sent.map(({ at }) => at)).toEqual([0, 2000, 4000, 124_000, 126_000, 130_000]);
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
  });

  it('An error that stays ends the wait', async () => {
    const { darkroom } = stub([open(), refusal(404, 'ERR_NOT_FOUND')]);
    expect(await thrownBy(darkroom.creations.wait('c1'))).toBeInstanceOf(NotFound);
  });

  it('The wait ends at its time limit, and says which creation goes on and what the last trouble was', async () => {
    const { darkroom, now } = stub(() => open(2));
    const error = await thrownBy(darkroom.creations.wait('c1', { timeoutMs: 9000 }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      creationId: 'c1',
      message: 'The creation c1 has not ended within 9 s.',
    });
    expect(now()).toBe(9000);
    const down = stub(() => new TypeError('fetch failed'));
    expect(await thrownBy(down.darkroom.creations.wait('c1'))).toMatchObject({
      name: 'TimeoutError',
      message:
        'The creation c1 has not ended within 300 s. The last trouble: The connection to https://darkroom.test failed: fetch failed.',
      cause: { name: 'ConnectionError' },
    });
    expect(down.sent.at(-1)?.at, 'the last look').toBe(299_000);
    expect(down.now()).toBe(300_000);
  });
});

describe('generate with wait', () => {
  it('The service is asked to hold its answer', async () => {
    const { darkroom, sent } = stub([completed(), completed()]);
    await darkroom.images.generate(request, { wait: 5 });
    await darkroom.images.generate(request);
    expect(sent.map(({ headers }) => headers.get('prefer'))).toEqual(['wait=5', null]);
  });

  it('An answer that is held may take longer than the time limit', async () => {
    const { darkroom } = stub(['silence'], { timeoutMs: 1, maxRetries: 0 });
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('still open')), 40);
    const held = darkroom.images.generate(request, { wait: 1, signal: controller.signal });
    expect(await thrownBy(held)).toMatchObject({ message: 'still open' });
  });

  it('A creation that failed while the answer was held is given as a failed creation', async () => {
    const { darkroom, sent } = stub([
      refusal(502, 'ERR_GENERATION_FAILED', { creation_id: 'c1', retryable: true }),
      json(failedCreation),
    ]);
    expect(await darkroom.images.generate(request, { wait: 5 })).toEqual(failedCreation);
    expect(sent.map(({ path }) => path)).toEqual(['/images/generate', '/creations/c1']);
  });

  it('If that creation cannot be read, the first error is thrown with the key of the request', async () => {
    const { darkroom } = stub([
      refusal(502, 'ERR_GENERATION_FAILED', { creation_id: 'c1' }),
      refusal(404, 'ERR_NOT_FOUND'),
    ]);
    expect(await thrownBy(darkroom.images.generate(request, { wait: 5 }))).toMatchObject({
      code: 'ERR_GENERATION_FAILED',
      idempotencyKey: 'uuid-1',
    });
  });
});

describe('generateAndWait', () => {
  it('The answer is held first, and then the creation is polled with the same time limit', async () => {
    const { darkroom, sent, now } = stub((one) => (one.method === 'POST' ? open(2) : open(5)));
    const error = await thrownBy(darkroom.images.generateAndWait(request, { timeoutMs: 12_500 }));
    expect(error).toMatchObject({ name: 'TimeoutError', creationId: 'c1' });
    expect(sent[0]?.headers.get('prefer')).toBe('wait=11');
    expect(sent.map(({ at }) => at)).toEqual([0, 2000, 7000, 12_000]);
    expect(now()).toBe(12_500);
  });

  it('A failed creation is thrown as GenerationFailed', async () => {
    const { darkroom } = stub([
      refusal(502, 'ERR_GENERATION_FAILED', { creation_id: 'c1' }),
      json(failedCreation),
    ]);
    expect(await thrownBy(darkroom.images.generateAndWait(request))).toBeInstanceOf(GenerationFailed);
  });

  it('The request outlasts every kind of outage with the same key', async () => {
    const away: readonly (() => Reply)[] = [
      () => broken,
      () => html(502),
      () => html(503),
      () => html(504),
      () => refusal(500, 'ERR_INTERNAL'),
      () => refusal(503, 'ERR_PROVIDER_UNAVAILABLE', {}, { 'retry-after': '90' }),
      () => refusal(429, 'ERR_RATE_LIMIT', {}, { 'retry-after': '7' }),
    ];
    const { darkroom, sent, retries } = stub([...away.map((reply) => reply()), completed()], {
      maxRetries: 0,
    });
    expect(await darkroom.images.generateAndWait(request)).toMatchObject({ id: 'c1', status: 'completed' });
    expect(new Set(sent.map(({ headers }) => headers.get('idempotency-key')))).toEqual(new Set(['uuid-1']));
    expect(sent.map(({ at }) => at)).toEqual([0, 250, 750, 1750, 3750, 7750, 97_750, 104_750]);
    expect(retries).toHaveLength(away.length);
  });

  it('At its time limit the error is the last trouble, and names the time, the limit and the key', async () => {
    const { darkroom, sent, now } = stub(() => broken, { random: 1 });
    const error = await thrownBy(darkroom.images.generateAndWait(request, { timeoutMs: 60_000 }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      message:
        'The connection to https://darkroom.test failed: fetch failed. Given up after 59 of 60 s, with the Idempotency-Key uuid-1.',
      idempotencyKey: 'uuid-1',
    });
    expect(sent.map(({ at }) => at)).toEqual([0, 500, 1500, 3500, 7500, 15_500, 31_500, 59_000]);
    expect(now()).toBe(59_000);
  });

  it('A refusal that asks for more time than is left is thrown at once', async () => {
    const busy = (): Reply => refusal(429, 'ERR_RATE_LIMIT', {}, { 'retry-after': '20' });
    const { darkroom, sent } = stub([broken, busy(), busy(), busy()]);
    const error = await thrownBy(darkroom.images.generateAndWait(request, { timeoutMs: 50_000 }));
    expect(error).toBeInstanceOf(RateLimited);
    expect(sent.map(({ at }) => at)).toEqual([0, 250, 20_250, 40_250]);
  });

  it('A refusal that waiting does not change is thrown at once', async () => {
    const finals: readonly Reply[] = [
      refusal(503, 'ERR_PROVIDER_UNAVAILABLE', {}, { 'x-should-retry': 'false' }),
      refusal(402, 'ERR_INSUFFICIENT_BALANCE'),
    ];
    for (const final of finals) {
      const { darkroom, sent } = stub([broken, final]);
      const error = await thrownBy(darkroom.images.generateAndWait(request));
      expect(error).toMatchObject({ message: expect.not.stringContaining('Given up') as string });
      expect(sent).toHaveLength(2);
    }
  });

  it('A source image that cannot be downloaded is asked for as often as in other calls', async () => {
    const { darkroom, sent } = stub(() => refusal(502, 'ERR_INPUT_FETCH_FAILED', { retryable: true }));
    const error = await thrownBy(darkroom.images.generateAndWait(request));
    expect(error).toMatchObject({ name: 'InputFetchFailed' });
    expect(sent).toHaveLength(3);
  });

  it('The service never holds an answer beyond the time limit, and onPoll is called with the accepted creation', async () => {
    const replies = [broken, open(2), completed()];
    const { darkroom, sent } = stub(replies);
    const heard: string[] = [];
    await darkroom.images.generateAndWait(request, {
      timeoutMs: 5000,
      onPoll: ({ status }) => heard.push(status),
    });
    expect(sent.map(({ headers }) => headers.get('prefer'))).toEqual(['wait=4', 'wait=3', null]);
    expect(heard).toEqual(['processing', 'completed']);
  });

  it('A real service that is away for longer than three attempts, and returns, gives the image', async () => {
    const keys: (string | undefined)[] = [];
    const answer = JSON.stringify({ id: 'c1', status: 'completed', results: [] });
    const server = createServer(({ headers }, outgoing) => {
      keys.push(String(headers['idempotency-key']));
      // The first answer is lost.
      if (keys.length === 1) outgoing.destroy();
      else outgoing.setHeader('content-type', 'application/json').end(answer);
    });
    const listen = async (port: number): Promise<number> => {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return portOf(server);
    };
    const port = await listen(0);
    server.close();
    const failed: string[] = [];
    const darkroom = new Darkroom({
      apiKey: testKey,
      baseUrl: `http://127.0.0.1:${port}`,
      onRetry: ({ error }) => {
        failed.push(error.message);
        if (failed.length === 3) void listen(port);
      },
    });
    onTestFinished(() => void server.close());
    expect(await darkroom.images.generateAndWait(request)).toMatchObject({ status: 'completed' });
    expect(failed.filter((message) => message.includes('ECONNREFUSED')).length).toBeGreaterThanOrEqual(3);
    expect(keys.length).toBe(2);
    expect(new Set(keys).size).toBe(1);
  });
});

const page = (ids: readonly string[], next: string | null): Response =>
  json({ data: ids.map((id) => ({ id })), has_more: next !== null, next_cursor: next });

describe('creations.list', () => {
  it('The iteration reads page after page, an empty one too, and keeps the filter', async () => {
    const { darkroom, sent } = stub([page(['a', 'b'], 'A+/='), page([], 'B'), page(['c'], null)]);
    const ids: string[] = [];
    for await (const { id } of darkroom.creations.list({ status: 'failed', limit: 2 })) ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ path }) => path)).toEqual([
      '/creations?status=failed&limit=2',
      '/creations?status=failed&limit=2&cursor=A%2B%2F%3D',
      '/creations?status=failed&limit=2&cursor=B',
    ]);
  });

  it('A loop that ends early reads no further page', async () => {
    const { darkroom, sent } = stub([page(['a', 'b'], 'A')]);
    for await (const { id } of darkroom.creations.list()) if (id === 'a') break;
    expect(sent.map(({ path }) => path)).toEqual(['/creations']);
  });

  it('page() gives one page, and the filter can begin behind a cursor', async () => {
    const { darkroom, sent } = stub([page(['c'], 'C'), page(['d'], null)]);
    const first = await darkroom.creations.list({ cursor: 'B' }).page();
    expect(first).toEqual({ data: [{ id: 'c' }], has_more: true, next_cursor: 'C' });
    await darkroom.creations.list({ cursor: first.next_cursor ?? '' }).page();
    expect(sent.map(({ path }) => path)).toEqual(['/creations?cursor=B', '/creations?cursor=C']);
  });
});

const events = (ids: readonly string[], next: string): Response =>
  json({ data: ids.map((id) => ({ id })), next_cursor: next });

describe('events', () => {
  it('follow() begins with the cursor of now, and then holds each reading', async () => {
    const { darkroom, sent } = stub([events([], 'one'), events(['a', 'b'], 'two'), events(['c'], 'three')]);
    const seen: string[] = [];
    for await (const { id } of darkroom.events.follow({ include: 'notices' })) {
      seen.push(id);
      if (id === 'c') break;
    }
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ at }) => at)).toEqual([0, 0, 0]);
    expect(sent.map(({ path }) => path)).toEqual([
      '/events?include=notices',
      '/events?after=one&wait=20&include=notices',
      '/events?after=two&wait=20&include=notices',
    ]);
  });

  it('onCursor is called when the loop has finished every event before the cursor, and not earlier', async () => {
    const { darkroom } = stub([events(['a', 'b'], 'two'), events([], 'two'), events(['c'], 'three')]);
    const story: string[] = [];
    const followed = darkroom.events.follow({
      after: 'one',
      onCursor: async (cursor) => {
        await Promise.resolve();
        story.push(`cursor ${cursor}`);
      },
    });
    for await (const { id } of followed) {
      story.push(id);
      if (id === 'c') break;
    }
    expect(story).toEqual(['a', 'b', 'cursor two', 'c']);
  });

  it('An empty answer that comes at once is not asked for again within the second', async () => {
    const { darkroom, sent } = stub([events([], 'one'), events([], 'one'), events(['a'], 'two')]);
    for await (const _event of darkroom.events.follow({ after: 'one' })) break;
    expect(sent.map(({ at }) => at)).toEqual([0, 1000, 2000]);
  });

  it('A trouble that may pass does not end the reading, and an error that stays does', async () => {
    const { darkroom, sent } = stub([
      ...Array.from({ length: 9 }, () => new TypeError('fetch failed')),
      events(['a'], 'two'),
      json({ error: { code: 'ERR_API_KEY_INVALID', message: 'no', details: {} } }, 401),
    ]);
    const followed = darkroom.events.follow({ after: 'one' });
    expect(await followed.next()).toEqual({ done: false, value: { id: 'a' } });
    expect(sent).toHaveLength(10);
    expect(await thrownBy(followed.next())).toMatchObject({ name: 'AuthenticationFailed' });
  });
});
