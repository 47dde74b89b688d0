/** An address that a client gives: how it is checked, and how a webhook is posted to it. */
import { describe, expect, it } from 'vitest';
import type { OutboundServices } from '../../service/outbound/outbound.ts';
import { exchange, type Exchange } from '../../service/outbound/pinned-exchange.ts';
import { answering, failing, never, openLimits, outbound, recordingServer } from './recording-server.ts';

const server = await recordingServer();

describe('An address that is checked at submission', () => {
  const resolve = (...addresses: readonly string[]) =>
    (() => Promise.resolve(addresses.map((address) => ({ address, family: 4 })))) as NonNullable<
      OutboundServices['resolve']
    >;

  it.each([
    ['https://example.com/', ['93.184.215.14'], 'public', 'allowed'],
    ['https://example.com/', [], 'public', 'must have a host name that resolves'],
    ['https://example.com/', ['93.184.215.14', '10.0.0.1'], 'public', 'must lead to public addresses only'],
    ['http://example.com/', ['93.184.215.14'], 'public', 'must be an https address'],
    ['http://example.com/', ['127.0.0.1'], 'loopback-too', 'allowed'],
    ['http://example.com/', ['127.0.0.1'], 'public', 'must be an https address'],
    ['http://example.com/', ['127.0.0.1', '93.184.215.14'], 'loopback-too', 'must be an https address'],
    ['http://example.com/', [], 'loopback-too', 'must be an https address'],
    [
      'https://example.com/',
      ['127.0.0.1', '93.184.215.14'],
      'loopback-too',
      'must lead to public addresses only',
    ],
  ] as const)(
    'The URL %s with the addresses %j and the rules "%s" is judged as "%s"',
    async (address, found, rules, verdict) => {
      const checked = await outbound({ resolve: resolve(...found) }, rules).check(address);
      expect(checked.kind === 'refused' ? checked.why : checked.kind).toBe(verdict);
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
    const told = { 'content-type': 'text/plain', 'x-two': ['a', 'b'], 'set-cookie': ['secret=1'] };
    server.answerBy(answering(418, 'é'.repeat(3), told));
    const posted = await outbound().post(
      server.url('/hook?x=1'),
      { 'content-type': 'application/json' },
      '{"é":1}',
    );
    expect(posted).toEqual({
      kind: 'answered',
      status: 418,
      excerpt: 'ééé',
      headers: expect.objectContaining({ 'content-type': 'text/plain', 'x-two': 'a, b' }) as object,
    });
    expect(JSON.stringify(posted)).not.toContain('cookie');
    expect(server.received).toMatchObject([
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
    server.answerBy(answering(200, 'x'.repeat(sent)));
    const answer = await outbound().post(server.url(), {}, '{}');
    expect(answer.kind === 'answered' && answer.excerpt.length).toBe(kept);
  });

  it.each([
    ['ECONNREFUSED', 'connection refused', 'connection_refused'],
    ['ECONNRESET', 'connection closed', 'connection_closed'],
    ['EPIPE', 'connection closed', 'connection_closed'],
    ['CERT_HAS_EXPIRED', 'tls', 'tls_expired'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls', 'tls_self_signed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', 'tls_wrong_name'],
    ['ERR_TLS_HANDSHAKE_TIMEOUT', 'tls', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'no valid http answer', 'tls_chain'],
    ['EHOSTUNREACH', 'no valid http answer', 'unreachable'],
    ['HPE_INVALID_CONSTANT', 'no valid http answer', 'no_http'],
  ])(
    'A webhook that meets the error %s has the reason "%s" and the kind %s',
    async (code, reason, failure) => {
      const connect = failing(Object.assign(new Error('with an address'), { code }));
      expect(await outbound({ connect }).post(server.url(), {}, '{}')).toEqual({
        kind: 'unanswered',
        reason,
        failure,
      });
    },
  );

  it('A webhook that meets an error without a code has the reason "no valid http answer"', async () => {
    const connect = failing(new Error('with an address'));
    expect(await outbound({ connect }).post(server.url(), {}, '{}')).toEqual({
      kind: 'unanswered',
      reason: 'no valid http answer',
      failure: 'no_http',
    });
  });

  it('A refused address and a name that does not resolve have different reasons', async () => {
    const resolve = (): Promise<never[]> => Promise.resolve([]);
    expect([
      await outbound({}, 'public').post('http://example.com/', {}, '{}'),
      await outbound({ resolve }, 'public').post('https://example.com/', {}, '{}'),
    ]).toEqual([
      { kind: 'unanswered', reason: 'address refused', failure: 'address_refused' },
      { kind: 'unanswered', reason: 'name not resolved', failure: 'dns' },
    ]);
  });

  it('A webhook releases its time limit', async () => {
    server.answerBy(answering(200));
    const clock = openLimits();
    await outbound({ clock }).post(server.url(), {}, '{}');
    expect([clock.asked, clock.released()]).toEqual([[10_000], 1]);
  });
});

/** One HTTP exchange with addresses that were checked before. */
describe('One exchange', () => {
  const ask = (change: Partial<Exchange> = {}): ReturnType<typeof exchange> =>
    exchange({
      url: new URL(server.url()),
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
      server.answerBy(answering(200, 'x'.repeat(sent), { location: '/next' }));
      expect(await ask()).toEqual({
        status: 200,
        location: '/next',
        headers: expect.objectContaining({ location: '/next' }) as object,
        body: Buffer.from('x'.repeat(kept)),
        cut,
      });
    },
  );

  it.each([1, 256 * 1024, 256 * 1024 + 1, 3_000_001])(
    'A body of %i bytes arrives whole, with its length',
    async (length) => {
      const body = Buffer.from(Array.from({ length }, (_, index) => 32 + (index % 89)));
      server.answerBy(answering(200));
      await ask({ method: 'PUT', body });
      const [put] = server.received;
      expect([put?.headers['content-length'], put?.body === body.toString()]).toEqual([String(length), true]);
    },
  );

  it('An exchange whose peer closes in the middle of a large body ends with an error', async () => {
    const connect = failing(new Error('reset'));
    await expect(ask({ method: 'PUT', body: Buffer.alloc(3_000_000), connect })).rejects.toThrow('reset');
  });

  it('An exchange connects to the addresses that were checked, whatever the name is', async () => {
    server.answerBy(answering(204));
    expect(await ask({ url: new URL(`http://nowhere.invalid:${server.port}/`) })).toEqual({
      status: 204,
      location: undefined,
      headers: expect.anything() as object,
      body: Buffer.alloc(0),
      cut: false,
    });
  });

  it('An exchange does not begin when its signal has aborted, and it throws the reason of the signal', async () => {
    const reason = new Error('over');
    await expect(ask({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.received).toHaveLength(0);
  });

  it('An exchange that takes too long says so, with the reason of the signal as the cause', async () => {
    const stop = new AbortController();
    const reason = new Error('over');
    server.answerBy(() => stop.abort(reason));
    const ended: unknown = await ask({ signal: stop.signal }).catch((error: unknown) => error);
    expect(ended).toMatchObject({ message: 'the exchange took too long', cause: reason });
  });

  it('An exchange whose connection closes without an answer ends with the code ECONNRESET', async () => {
    const connect = failing();
    await expect(ask({ connect })).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
