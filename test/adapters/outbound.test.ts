/**
 * The way out to addresses that clients give: what is sent, what is read of an answer, and the words for what
 * went wrong.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exchange, type Connect, type Exchange } from '../../adapters/pinned-exchange.ts';
import { createOutbound, type OutboundServices } from '../../adapters/safe-fetch.ts';
import type { Clock, TimeLimit } from '../../core/ports/runtime.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let handle: Handle = () => undefined;
const received: { readonly line: string; readonly headers: IncomingMessage['headers']; body: string }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const entry = {
      line: `${request.method ?? ''} ${request.url ?? ''}`,
      headers: request.headers,
      body: '',
    };
    received.push(entry);
    request.on('data', (chunk: Buffer) => (entry.body += chunk.toString()));
    request.on('end', () => handle(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  received.length = 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const port = (): number => (server.address() as AddressInfo).port;
const url = (path = '/'): string => `http://127.0.0.1:${port()}${path}`;
const answering =
  (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Handle =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

/** Time limits that never end, and how many of them were released. */
function openLimits(): Pick<Clock, 'timeout'> & {
  readonly asked: number[];
  readonly released: () => number;
} {
  const asked: number[] = [];
  let released = 0;
  return {
    asked,
    released: () => released,
    timeout: (millis): TimeLimit => {
      asked.push(millis);
      return { signal: new AbortController().signal, release: () => (released += 1) };
    },
  };
}

const never = new AbortController().signal;
const outbound = (
  services: Partial<OutboundServices> = {},
  rules: 'public' | 'loopback-too' = 'loopback-too',
) => createOutbound(rules, { clock: openLimits(), ...services });

/** A connection that fails with this error before a byte is sent. */
const failing =
  (error: Error): Connect =>
  () => {
    const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
    setImmediate(() => socket.destroy(error));
    return socket;
  };

describe('An address that is checked at submission', () => {
  const resolve = (...addresses: readonly string[]) =>
    (() => Promise.resolve(addresses.map((address) => ({ address, family: 4 })))) as NonNullable<
      OutboundServices['resolve']
    >;

  it.each([
    ['https://example.com/', ['93.184.215.14'], 'public', { kind: 'allowed' }],
    ['https://example.com/', [], 'public', { kind: 'refused', why: 'must have a host name that resolves' }],
    [
      'https://example.com/',
      ['93.184.215.14', '10.0.0.1'],
      'public',
      { kind: 'refused', why: 'must lead to public addresses only' },
    ],
    [
      'http://example.com/',
      ['93.184.215.14'],
      'public',
      { kind: 'refused', why: 'must be an https address' },
    ],
    ['http://example.com/', ['127.0.0.1'], 'loopback-too', { kind: 'allowed' }],
    ['http://example.com/', ['127.0.0.1'], 'public', { kind: 'refused', why: 'must be an https address' }],
    [
      'http://example.com/',
      ['127.0.0.1', '93.184.215.14'],
      'loopback-too',
      { kind: 'refused', why: 'must be an https address' },
    ],
    ['http://example.com/', [], 'loopback-too', { kind: 'refused', why: 'must be an https address' }],
    [
      'https://example.com/',
      ['127.0.0.1', '93.184.215.14'],
      'loopback-too',
      { kind: 'refused', why: 'must lead to public addresses only' },
    ],
  ] as const)(
    'The URL %s with the addresses %j and the rules "%s" is judged as %j',
    async (address, found, rules, verdict) => {
      expect(await outbound({ resolve: resolve(...found) }, rules).check(address)).toEqual(verdict);
    },
  );

  it('A URL whose name cannot be resolved is refused, and its time limit is released', async () => {
    const clock = openLimits();
    const checked = await outbound(
      { clock, resolve: () => Promise.reject(new Error('no name')) },
      'public',
    ).check('https://example.com/');
    expect(checked).toEqual({ kind: 'refused', why: 'must have a host name that resolves' });
    expect([clock.asked, clock.released()]).toEqual([[5_000], 1]);
  });

  it('A URL is refused when the time of the request was used up before', async () => {
    const silent = (): Promise<never> => new Promise(() => undefined);
    expect(
      await outbound({ resolve: silent }, 'public').check('https://example.com/', AbortSignal.abort()),
    ).toEqual({
      kind: 'refused',
      why: 'must have a host name that resolves',
    });
  });
});

describe('A webhook that is posted', () => {
  it('A webhook sends its headers, its body and the length of the body, and returns the start of the answer', async () => {
    handle = answering(418, 'é'.repeat(3));
    expect(
      await outbound().post(url('/hook?x=1'), { 'content-type': 'application/json' }, '{"é":1}'),
    ).toEqual({
      kind: 'answered',
      status: 418,
      excerpt: 'ééé',
    });
    expect(received).toMatchObject([
      {
        line: 'POST /hook?x=1',
        headers: { 'content-type': 'application/json', 'content-length': '8', connection: 'close' },
        body: '{"é":1}',
      },
    ]);
  });

  it.each([
    [16_384, 16_384],
    [16_385, 16_384],
  ])('A webhook that is answered with %i bytes returns an excerpt of %i', async (sent, kept) => {
    handle = answering(200, 'x'.repeat(sent));
    const answer = await outbound().post(url(), {}, '{}');
    expect(answer.kind === 'answered' && answer.excerpt.length).toBe(kept);
  });

  it.each([
    ['ECONNREFUSED', 'connection refused'],
    ['ECONNRESET', 'connection closed'],
    ['EPIPE', 'connection closed'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['ERR_TLS_HANDSHAKE_TIMEOUT', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['EHOSTUNREACH', 'no valid http answer'],
  ])('A webhook that meets the error %s has the reason "%s"', async (code, reason) => {
    const connect = failing(Object.assign(new Error('with an address'), { code }));
    expect(await outbound({ connect }).post(url(), {}, '{}')).toEqual({ kind: 'unanswered', reason });
  });

  it('A webhook that meets an error without a code has the reason "no valid http answer"', async () => {
    const connect = failing(new Error('with an address'));
    expect(await outbound({ connect }).post(url(), {}, '{}')).toEqual({
      kind: 'unanswered',
      reason: 'no valid http answer',
    });
  });

  it('A refused address and a name that does not resolve have different reasons', async () => {
    const resolve = (): Promise<never[]> => Promise.resolve([]);
    expect([
      await outbound({}, 'public').post('http://example.com/', {}, '{}'),
      await outbound({ resolve }, 'public').post('https://example.com/', {}, '{}'),
    ]).toEqual([
      { kind: 'unanswered', reason: 'address refused' },
      { kind: 'unanswered', reason: 'name not resolved' },
    ]);
  });

  it('A webhook releases its time limit', async () => {
    handle = answering(200);
    const clock = openLimits();
    await outbound({ clock }).post(url(), {}, '{}');
    expect([clock.asked, clock.released()]).toEqual([[10_000], 1]);
  });
});

describe('A source image that is fetched', () => {
  it('A source image is requested with these headers and without a body', async () => {
    handle = answering(200, 'bytes');
    const clock = openLimits();
    expect(await outbound({ clock }).fetchSource(url('/a.png'), never)).toEqual({
      kind: 'fetched',
      bytes: Buffer.from('bytes'),
    });
    expect(received.map(({ line, headers }) => [line, headers])).toEqual([
      [
        'GET /a.png',
        {
          host: `127.0.0.1:${port()}`,
          connection: 'close',
          'user-agent': 'Darkroom/1',
          accept: 'image/jpeg, image/png, image/webp',
          'accept-encoding': 'identity',
        },
      ],
    ]);
    expect([clock.asked, clock.released()]).toEqual([[5_000], 1]);
  });

  it.each([
    [200, { kind: 'fetched', bytes: Buffer.alloc(0) }],
    [299, { kind: 'fetched', bytes: Buffer.alloc(0) }],
    [300, { kind: 'failed', retryable: false }],
    [304, { kind: 'failed', retryable: false }],
    [404, { kind: 'failed', retryable: false }],
    [428, { kind: 'failed', retryable: false }],
    [429, { kind: 'failed', retryable: true }],
    [430, { kind: 'failed', retryable: false }],
    [499, { kind: 'failed', retryable: false }],
    [500, { kind: 'failed', retryable: true }],
    [503, { kind: 'failed', retryable: true }],
  ])('A source image that is answered with status %i is %j', async (status, result) => {
    handle = answering(status);
    expect(await outbound().fetchSource(url(), never)).toEqual(result);
  });

  it.each([
    [10_000_000, 'fetched'],
    [10_000_001, 'too_large'],
  ])('A source image of %i bytes is %s', async (bytes, kind) => {
    handle = answering(200, Buffer.alloc(bytes));
    expect((await outbound().fetchSource(url(), never)).kind).toBe(kind);
  });

  it.each([301, 302, 303, 307, 308])(
    'A redirect with status %i to a relative address is followed',
    async (status) => {
      handle = (request, response) => {
        if (request.url === '/first') response.writeHead(status, { location: 'second' }).end();
        else response.end('bytes');
      };
      expect(await outbound().fetchSource(url('/first'), never)).toMatchObject({ kind: 'fetched' });
      expect(received.map(({ line }) => line)).toEqual(['GET /first', 'GET /second']);
    },
  );

  it.each([300, 304, 305, 306, 309])('A location with status %i is not followed', async (status) => {
    handle = answering(status, '', { location: '/second' });
    expect(await outbound().fetchSource(url(), never)).toEqual({ kind: 'failed', retryable: false });
    expect(received).toHaveLength(1);
  });

  it('A redirect without a location fails, and a location that is no URL is refused', async () => {
    handle = answering(302);
    expect(await outbound().fetchSource(url(), never)).toEqual({ kind: 'failed', retryable: false });
    handle = answering(302, '', { location: 'http://[' });
    expect(await outbound().fetchSource(url(), never)).toEqual({
      kind: 'refused',
      why: 'must be an http or https address',
    });
  });

  it('Three redirects are followed, and the fourth one fails for good', async () => {
    const after =
      (count: number): Handle =>
      (request, response) => {
        const hop = Number(request.url?.slice(1));
        if (hop < count) response.writeHead(302, { location: `/${hop + 1}` }).end();
        else response.end('bytes');
      };
    handle = after(3);
    expect(await outbound().fetchSource(url('/0'), never)).toMatchObject({ kind: 'fetched' });
    handle = after(4);
    expect(await outbound().fetchSource(url('/0'), never)).toEqual({ kind: 'failed', retryable: false });
    expect(received.at(-1)?.line).toBe('GET /3');
  });

  it('A source image whose name does not resolve may be tried again', async () => {
    const resolve = (): Promise<never[]> => Promise.resolve([]);
    expect(await outbound({ resolve }, 'public').fetchSource('https://example.com/', never)).toEqual({
      kind: 'failed',
      retryable: true,
    });
  });
});

describe('One exchange', () => {
  const ask = (change: Partial<Exchange> = {}): ReturnType<typeof exchange> =>
    exchange({
      url: new URL(url()),
      addresses: [{ address: '127.0.0.1', family: 4 }],
      method: 'GET',
      headers: {},
      mostBytes: 10,
      signal: never,
      ...change,
    });

  it.each([
    [9, 9, false],
    [10, 10, false],
    [11, 10, true],
  ])(
    'An exchange of at most 10 bytes that is answered with %i keeps %i; the answer is cut: %j',
    async (sent, kept, cut) => {
      handle = answering(200, 'x'.repeat(sent), { location: '/next' });
      expect(await ask()).toEqual({
        status: 200,
        location: '/next',
        body: Buffer.from('x'.repeat(kept)),
        cut,
      });
    },
  );

  it('An exchange connects to the addresses that were checked, whatever the name is', async () => {
    handle = answering(204);
    expect(await ask({ url: new URL(`http://nowhere.invalid:${port()}/`) })).toEqual({
      status: 204,
      location: undefined,
      body: Buffer.alloc(0),
      cut: false,
    });
  });

  it('An exchange does not begin when its signal has aborted, and it throws the reason of the signal', async () => {
    const reason = new Error('over');
    await expect(ask({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(received).toHaveLength(0);
  });

  it('An exchange that takes too long says so, with the reason of the signal as the cause', async () => {
    const stop = new AbortController();
    const reason = new Error('over');
    handle = () => stop.abort(reason);
    const ended: unknown = await ask({ signal: stop.signal }).catch((error: unknown) => error);
    expect(ended).toMatchObject({ message: 'the exchange took too long', cause: reason });
  });

  it('An exchange whose connection closes without an answer ends with the code ECONNRESET', async () => {
    const connect: Connect = () => {
      const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
      setImmediate(() => socket.destroy());
      return socket;
    };
    await expect(ask({ connect })).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
