import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Darkroom } from '../../client/src/index.ts';
import { ApiError, ConnectionError, TimeoutError } from '../../client/src/errors.ts';
import { json, refusal, stub, thrownBy, type Reply, testKey } from './stub.ts';

const request = { model: 'sandbox-sketch', prompt: 'a lake' };
const broken = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
const html = (status: number, headers: Record<string, string> = {}): Response =>
  new Response('<html>a gateway</html>', { status, headers: { 'content-type': 'text/html', ...headers } });
/** The stub's clock begins on this day at noon. */
const date = (seconds: number): string => new Date(Date.UTC(2026, 10, 22, 12, 0, seconds)).toUTCString();

interface Row {
  readonly name: string;
  readonly reply: () => Reply;
  /** Milliseconds before the repetition. Absent: the error is thrown at once. */
  readonly waits?: number;
}

const retried: readonly Row[] = [
  { name: 'a connection that breaks', reply: () => broken, waits: 250 },
  { name: '408', reply: () => refusal(408, 'ERR_LATER'), waits: 250 },
  {
    name: '429 with Retry-After',
    reply: () => refusal(429, 'ERR_RATE_LIMIT', {}, { 'retry-after': '7' }),
    waits: 7000,
  },
  {
    name: '429 ERR_QUOTA_EXCEEDED',
    reply: () => refusal(429, 'ERR_QUOTA_EXCEEDED', {}, { 'retry-after': '2' }),
    waits: 2000,
  },
  { name: '429 of a gateway', reply: () => json({ message: 'Too Many Requests' }, 429), waits: 250 },
  { name: '500', reply: () => refusal(500, 'ERR_INTERNAL'), waits: 250 },
  { name: '500 of a gateway', reply: () => json({ message: 'Internal Server Error' }, 500), waits: 250 },
  {
    name: '502 ERR_INPUT_FETCH_FAILED that is retryable',
    reply: () => refusal(502, 'ERR_INPUT_FETCH_FAILED', { retryable: true }),
    waits: 250,
  },
  { name: '502 of a gateway', reply: () => html(502), waits: 250 },
  {
    name: '503',
    reply: () => refusal(503, 'ERR_PROVIDER_UNAVAILABLE', {}, { 'retry-after': '1' }),
    waits: 1000,
  },
  { name: '503 of a gateway', reply: () => json({ message: 'Service Unavailable' }, 503), waits: 250 },
  { name: '504 of a gateway', reply: () => html(504), waits: 250 },
  {
    name: 'Retry-After as a date',
    reply: () => refusal(503, 'ERR_PROVIDER_UNAVAILABLE', {}, { 'retry-after': date(9) }),
    waits: 9000,
  },
  {
    name: 'Retry-After as a date of a server whose clock is wrong',
    reply: () => html(503, { date: date(1000), 'retry-after': date(1004) }),
    waits: 4000,
  },
  { name: 'Retry-After in the past', reply: () => html(503, { 'retry-after': date(-5) }), waits: 0 },
  { name: 'a malformed Retry-After', reply: () => html(503, { 'retry-after': 'soon' }), waits: 250 },
  {
    name: 'Retry-After of a minute',
    reply: () => refusal(429, 'ERR_RATE_LIMIT', {}, { 'retry-after': '60' }),
    waits: 60_000,
  },
];

const final: readonly Row[] = [
  {
    name: '429 that asks for more than a minute',
    reply: () => refusal(429, 'ERR_RATE_LIMIT', { reason: 'burst_block' }, { 'retry-after': '120' }),
  },
  { name: '400', reply: () => refusal(400, 'ERR_INVALID_REQUEST') },
  { name: '401', reply: () => refusal(401, 'ERR_API_KEY_INVALID') },
  { name: '402', reply: () => refusal(402, 'ERR_INSUFFICIENT_BALANCE') },
  { name: '403', reply: () => refusal(403, 'ERR_ACCOUNT_DISABLED') },
  { name: '404', reply: () => refusal(404, 'ERR_NOT_FOUND') },
  {
    name: '503 that waiting does not end',
    reply: () => refusal(503, 'ERR_PROVIDER_UNAVAILABLE', {}, { 'x-should-retry': 'false' }),
  },
  { name: '413 of a gateway', reply: () => json({ message: 'Request Entity Too Large' }, 413) },
  {
    name: '502 ERR_INPUT_FETCH_FAILED that is not retryable',
    reply: () => refusal(502, 'ERR_INPUT_FETCH_FAILED', { retryable: false }),
  },
  {
    name: '502 ERR_GENERATION_FAILED',
    reply: () => refusal(502, 'ERR_GENERATION_FAILED', { retryable: true }),
  },
  {
    name: 'a redirect',
    reply: () => new Response(null, { status: 307, headers: { location: 'https://elsewhere.test/' } }),
  },
  { name: 'a page with status 200', reply: () => html(200) },
];

describe('retries', () => {
  for (const { name, reply, waits } of retried) {
    it(`A request is repeated after ${name}`, async () => {
      const { darkroom, sent, retries } = stub([reply(), json({ id: 'one' })]);
      expect(await darkroom.images.generate(request)).toEqual({ id: 'one' });
      expect(sent.map(({ at }) => at)).toEqual([0, waits]);
      expect(retries).toMatchObject([
        { attempt: 1, waitMs: waits, method: 'POST', path: '/images/generate' },
      ]);
    });
  }

  for (const { name, reply } of final) {
    it(`A request is not repeated after ${name}`, async () => {
      const { darkroom, sent } = stub([reply()]);
      expect(await thrownBy(darkroom.images.generate(request))).toBeInstanceOf(ApiError);
      expect(sent).toHaveLength(1);
    });
  }

  it('A request is sent three times by default, and the last error is thrown', async () => {
    const { darkroom, sent } = stub([broken, broken, broken, json({})]);
    const error = await thrownBy(darkroom.balance.get());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      name: 'ConnectionError',
      message: 'The connection to https://darkroom.test failed: connect ECONNREFUSED.',
      cause: broken,
    });
    expect(sent).toHaveLength(3);
  });

  it('maxRetries says how often a request is repeated', async () => {
    const { darkroom, sent } = stub(() => broken, { maxRetries: 0 });
    await thrownBy(darkroom.balance.get());
    expect(sent).toHaveLength(1);
  });

  it('Without Retry-After the waits double up to 30 s', async () => {
    const { darkroom, retries } = stub(() => broken, { maxRetries: 9, random: 1 });
    await thrownBy(darkroom.balance.get());
    expect(retries.map(({ waitMs }) => waitMs)).toEqual([
      500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
    ]);
  });

  it('The jitter makes a wait up to half shorter, but never shorter than Retry-After', async () => {
    const waitOf = async (reply: Reply, random: number): Promise<number | undefined> => {
      const { darkroom, retries } = stub([reply, json({})], { random });
      await darkroom.balance.get();
      return retries[0]?.waitMs;
    };
    const limited = (): Response => refusal(429, 'ERR_RATE_LIMIT', {}, { 'retry-after': '10' });
    expect([await waitOf(broken, 0), await waitOf(broken, 1)]).toEqual([250, 500]);
    expect([await waitOf(limited(), 0), await waitOf(limited(), 1)]).toEqual([10_000, 11_000]);
  });

  it('A silent server is given up after the time limit, and asked again', async () => {
    const { darkroom, sent } = stub(['silence', json({ available: 1 })], { timeoutMs: 20 });
    expect(await darkroom.balance.get()).toEqual({ available: 1 });
    expect(sent).toHaveLength(2);
    const silent = stub(() => 'silence', { timeoutMs: 5 });
    const error = await thrownBy(silent.darkroom.balance.get());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(silent.sent).toHaveLength(3);
  });

  it('A connection that breaks in the body counts as broken', async () => {
    const halved = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"id"')),
      pull: (controller) => controller.error(new Error('other side closed')),
    });
    const { darkroom, sent } = stub([new Response(halved), json({ id: 'one' })]);
    expect(await darkroom.images.generate(request)).toEqual({ id: 'one' });
    expect(sent).toHaveLength(2);
  });
});

describe('idempotency keys', () => {
  it('Every POST has a key of its own, and all its repetitions have the same one', async () => {
    const { darkroom, sent } = stub([broken, json({}), broken, json({}), broken, json({})]);
    await darkroom.images.generate(request);
    await darkroom.images.quote(request);
    await darkroom.creations.cancel('one');
    expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual([
      'uuid-1',
      'uuid-1',
      'uuid-2',
      'uuid-2',
      'uuid-3',
      'uuid-3',
    ]);
  });

  it('A key that no header takes is refused before anything is sent', async () => {
    const { darkroom, sent } = stub([]);
    for (const idempotencyKey of ['', 'ä', 'a\nb', 'k'.repeat(256)]) {
      expect(await thrownBy(darkroom.images.generate(request, { idempotencyKey }))).toMatchObject({
        name: 'DarkroomError',
        message: 'An Idempotency-Key has 1 to 255 printable ASCII characters.',
      });
    }
    expect(sent).toEqual([]);
  });

  it('A GET has no key', async () => {
    const { darkroom, sent } = stub([json({})]);
    await darkroom.balance.get();
    expect(sent[0]?.headers.has('idempotency-key')).toBe(false);
  });

  it('The caller can choose the key, and an error names the key of its request', async () => {
    const { darkroom, sent } = stub(() => broken);
    const chosen = await thrownBy(darkroom.images.generate(request, { idempotencyKey: 'order-4711' }));
    const drawn = await thrownBy(darkroom.images.generateAndWait(request));
    const none = await thrownBy(darkroom.balance.get());
    expect([chosen, drawn, none].map((error) => (error as ConnectionError).idempotencyKey)).toEqual([
      'order-4711',
      'uuid-1',
      undefined,
    ]);
    expect(sent[0]?.headers.get('idempotency-key')).toBe('order-4711');
  });
});

const reason = new Error('the caller left');

/** Every call that takes a signal. */
const calls: Readonly<Record<string, (darkroom: Darkroom, signal: AbortSignal) => PromiseLike<unknown>>> = {
  'images.generate': (darkroom, signal) => darkroom.images.generate(request, { signal }),
  'images.generateAndWait': (darkroom, signal) => darkroom.images.generateAndWait(request, { signal }),
  'images.quote': (darkroom, signal) => darkroom.images.quote(request, { signal }),
  'creations.get': (darkroom, signal) => darkroom.creations.get('c1', { signal }),
  'creations.wait': (darkroom, signal) => darkroom.creations.wait('c1', { signal }),
  'creations.cancel': (darkroom, signal) => darkroom.creations.cancel('c1', { signal }),
  'creations.list': (darkroom, signal) => darkroom.creations.list({}, { signal }).page(),
  'uploads.create': (darkroom, signal) =>
    darkroom.uploads.create(new Blob(['x']), { contentType: 'image/png', signal }),
  'results.download': (darkroom, signal) =>
    darkroom.results.download(
      { url: 'https://results.test/1', width: 1, height: 1, content_type: 'image/png', bytes: 1 },
      { signal },
    ),
  'balance.get': (darkroom, signal) => darkroom.balance.get({ signal }),
  'models.list': (darkroom, signal) => darkroom.models.list({ signal }),
  'events.list': (darkroom, signal) => darkroom.events.list({}, { signal }),
  'events.follow': async (darkroom, signal) => darkroom.events.follow({ signal }).next(),
};

describe('signals', () => {
  for (const [name, call] of Object.entries(calls)) {
    it(`${name} ends when its signal is aborted, and throws the reason`, async () => {
      const { darkroom, sent } = stub(() => 'silence');
      const controller = new AbortController();
      const error = thrownBy(call(darkroom, controller.signal));
      await expect.poll(() => sent).toHaveLength(1);
      controller.abort(reason);
      expect(await error).toBe(reason);
      expect(sent).toHaveLength(1);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    });

    it(`${name} sends nothing when its signal was aborted before`, async () => {
      const { darkroom, sent } = stub(() => json({}));
      expect(await thrownBy(call(darkroom, AbortSignal.abort(reason)))).toBe(reason);
      expect(sent).toEqual([]);
    });
  }

  it('A signal ends the wait before a retry, in real time, and leaves no listener', async () => {
    const controller = new AbortController();
    const darkroom = new Darkroom({
      apiKey: testKey,
      baseUrl: 'https://darkroom.test',
      fetch: () => Promise.reject(new TypeError('fetch failed')),
      onRetry: () => setTimeout(() => controller.abort(reason), 5),
    });
    expect(await thrownBy(darkroom.balance.get({ signal: controller.signal }))).toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  // A process of its own: in a process of many test files, another file's timer could be counted.
  it('After a retry that succeeds and after a wait that is aborted, neither a listener nor a timer is left', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['test/client/left-behind.ts']);
    expect(JSON.parse(stdout)).toEqual({
      succeeded: { outcome: { available: 1 }, timersDuringRequest: 1, timers: 0, listeners: 0 },
      aborted: { outcome: 'the caller’s own reason', timersDuringRequest: 1, timers: 0, listeners: 0 },
    });
  });

  it('The time limit of a call is its own', async () => {
    const { darkroom } = stub(() => 'silence', { maxRetries: 0 });
    expect(await thrownBy(darkroom.balance.get({ timeoutMs: 5 }))).toMatchObject({ name: 'TimeoutError' });
  });
});
