/** Peers that break the rules of HTTP, over real sockets. Every exchange with them ends with a reason. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutbound } from '../../service/outbound/outbound.ts';
import type { Clock, TimeLimit } from '../../service/values/runtime.ts';

/** The servers and sockets that a test has opened. */
const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
});

/** A server that handles each connection as the test says, once a request has arrived. */
async function peer(behave: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => behave(socket));
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Time limits that end when the test says so. `asked` holds the length of each limit. */
function timeLimits(): Pick<Clock, 'timeout'> & { readonly asked: number[]; readonly end: () => void } {
  const controllers: AbortController[] = [];
  const asked: number[] = [];
  return {
    asked,
    end: () => {
      for (const controller of controllers) controller.abort();
    },
    timeout: (millis): TimeLimit => {
      const controller = new AbortController();
      controllers.push(controller);
      asked.push(millis);
      return { signal: controller.signal, release: () => undefined };
    },
  };
}

const never = new AbortController().signal;
const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

describe('A peer that switches protocols', () => {
  it('A source image from this peer fails for good', async () => {
    const outbound = createOutbound('loopback-too', { clock: timeLimits() });
    expect(await outbound.fetchSource(await peer((socket) => socket.write(upgrade)), never)).toEqual({
      kind: 'failed',
      retryable: false,
    });
  });

  it('A webhook to this peer is answered with status 101', async () => {
    const outbound = createOutbound('loopback-too', { clock: timeLimits() });
    expect(await outbound.post(await peer((socket) => socket.write(upgrade)), {}, '{}')).toEqual({
      kind: 'answered',
      status: 101,
      excerpt: '',
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    });
  });

  it('The connection to this peer is closed', async () => {
    const outbound = createOutbound('loopback-too', { clock: timeLimits() });
    const closed = new Promise((resolve) => {
      void peer((socket) => {
        socket.once('close', resolve);
        socket.write(upgrade);
      }).then((url) => outbound.post(url, {}, '{}'));
    });
    await closed;
  });
});

describe('A peer that closes the connection', () => {
  const cases: readonly (readonly [string, (socket: Socket) => void, string])[] = [
    ['without a byte', (socket) => socket.end(), 'connection closed'],
    ['by a reset', (socket) => socket.resetAndDestroy(), 'connection closed'],
    [
      'in the middle of the header',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
      'connection closed',
    ],
    [
      'in the middle of the body',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'),
      'connection closed',
    ],
    ['after nonsense', (socket) => socket.end('no http at all\r\n\r\n'), 'no valid http answer'],
    [
      'after an early hint',
      (socket) => socket.end('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
      'connection closed',
    ],
  ];

  it.each(cases)('A webhook to a peer that closes %s is unanswered', async (_how, behave, reason) => {
    const outbound = createOutbound('loopback-too', { clock: timeLimits() });
    expect(await outbound.post(await peer(behave), {}, '{}')).toEqual({
      kind: 'unanswered',
      reason,
      failure: reason === 'connection closed' ? 'connection_closed' : 'no_http',
    });
  });
});

describe('A peer that never finishes its answer', () => {
  const cases: readonly (readonly [string, (socket: Socket) => void])[] = [
    ['before its answer', () => undefined],
    ['in its header', (socket) => socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')],
    ['in its body', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc')],
    ['behind early hints', (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ];

  it.each(cases)('A webhook ends after 10 s when the peer stops %s', async (_where, behave) => {
    const clock = timeLimits();
    const arrived = Promise.withResolvers<undefined>();
    const url = await peer((socket) => {
      behave(socket);
      arrived.resolve(undefined);
    });
    const posting = createOutbound('loopback-too', { clock }).post(url, {}, '{}');
    await arrived.promise;
    clock.end();
    expect(await posting).toEqual({ kind: 'unanswered', reason: 'timeout', failure: 'timeout' });
    expect(clock.asked).toEqual([10_000]);
  });
});

describe('A resolver that never answers', () => {
  const silent = (): Promise<never> => new Promise(() => undefined);

  it('The check of a webhook address waits 5 s and then refuses the name as not resolved', async () => {
    const clock = timeLimits();
    const checking = createOutbound('public', { clock, resolve: silent }).check('https://receiver.test/');
    clock.end();
    expect(await checking).toEqual({ kind: 'refused', why: 'must have a host name that resolves' });
    expect(clock.asked).toEqual([5_000]);
  });

  it('The check of a webhook address ends when the time of the request is used up', async () => {
    const stop = new AbortController();
    const checking = createOutbound('public', { clock: timeLimits(), resolve: silent }).check(
      'https://receiver.test/',
      stop.signal,
    );
    stop.abort();
    expect(await checking).toMatchObject({ kind: 'refused' });
  });

  it('A webhook attempt times out, and a source image fails and may be tried again', async () => {
    const clock = timeLimits();
    const outbound = createOutbound('public', { clock, resolve: silent });
    const both = Promise.all([
      outbound.post('https://receiver.test/', {}, '{}'),
      outbound.fetchSource('https://receiver.test/', never),
    ]);
    clock.end();
    expect(await both).toEqual([
      { kind: 'unanswered', reason: 'timeout', failure: 'timeout' },
      { kind: 'failed', retryable: true },
    ]);
  });
});
