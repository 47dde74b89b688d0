/** Why a webhook did not arrive, over real sockets: each kind of failure that a client can see and mend. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { marshall } from '@aws-sdk/util-dynamodb';
import { createOutbound, type OutboundServices, type PostResult } from '../../service/outbound/outbound.ts';
import { portOf } from '../fixtures/values.ts';
import { openLimits } from '../outbound/recording-server.ts';
import type { Item } from '../../local/dynamodb/attributes.ts';
import { sizeOfItem } from '../../local/dynamodb/values.ts';
import { logRow } from '../../service/webhooks/delivery-store.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { accountId, creationId } from '../fixtures/records.ts';

const open: Server[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => new Promise((done) => server.close(done))));
});

async function started(server: Server): Promise<number> {
  open.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return portOf(server);
}

const post = (url: string, services: Partial<OutboundServices> = {}): Promise<PostResult> =>
  createOutbound('loopback-too', { clock: openLimits(), ...services }).post(url, {}, '{}');

/** A peer that says this and ends. */
const saying = (text: string): Server =>
  createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(text));
  });

/** Key and certificate in one text. */
function certificate(more: string): string {
  const options = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 ${more} -keyout - -out -`;
  return execFileSync('openssl', options.split(' '), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

describe('a webhook that does not arrive', () => {
  it('A certificate that nobody signed is reported as such', async () => {
    const made = certificate('-subj /CN=127.0.0.1');
    const port = await started(createSecureServer({ key: made, cert: made }, (_, answer) => answer.end()));
    expect(await post(`https://127.0.0.1:${port}/`)).toEqual({
      kind: 'unanswered',
      reason: 'tls',
      failure: 'tls_self_signed',
    });
  });

  it('A port that speaks no TLS is reported as such', async () => {
    const port = await started(saying('HTTP/1.1 200 OK\r\n\r\n'));
    expect(await post(`https://127.0.0.1:${port}/`)).toMatchObject({ failure: 'tls' });
  });

  it('A port on which nobody listens refuses the connection', async () => {
    const server = saying('');
    const port = await started(server);
    await new Promise((done) => server.close(done));
    open.splice(0);
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ failure: 'connection_refused' });
  });

  it('A host name that the resolver does not know is reported as such', async () => {
    const resolve = (): Promise<never> =>
      Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    expect(await post('https://nowhere.test/', { resolve })).toMatchObject({ failure: 'dns' });
  });

  it('Headers that are too long for an answer are reported as such', async () => {
    const port = await started(saying(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`));
    expect(await post(`http://127.0.0.1:${port}/`)).toEqual({
      kind: 'unanswered',
      reason: 'no valid http answer',
      failure: 'too_large',
    });
  });

  it('A redirect is an answer with its target, and nobody follows it', async () => {
    const port = await started(saying('HTTP/1.1 308 Moved\r\nLocation: https://other.test/\r\n\r\n'));
    expect(await post(`http://127.0.0.1:${port}/`)).toEqual({
      kind: 'answered',
      status: 308,
      excerpt: '',
      headers: { location: 'https://other.test/' },
    });
  });
});

const delivery: Delivery = {
  id: '019aa5a0-2000-7000-8000-00000000000b',
  accountId,
  creationId,
  event: 'creation.completed',
  url: 'https://hooks.studio.example/darkroom/webhooks',
  attempt: 1,
  startedAt: '2026-11-21T12:00:30.000Z',
  outcome: 'delivered',
  status: 200,
  millis: 12_345,
  signedAt: 1_763_726_434,
  cuts: { current: 'abcd', previous: 'abcd', standard: ['abcd', 'abcd'] },
  responseExcerpt: 'ü'.repeat(512),
  responseHeaders: Object.fromEntries(
    Array.from({ length: 16 }, (_, number) => [`x-header-${number}`, 'v'.repeat(40)]),
  ),
};
const bytesOf = (change: Partial<Delivery>): number =>
  sizeOfItem(marshall(logRow({ ...delivery, ...change })) as Item);

describe('the row of an attempt', () => {
  it('A delivered attempt is one write unit, whatever the receiver answers', () => {
    expect(bytesOf({})).toBeLessThanOrEqual(1_024);
    expect(bytesOf({})).toBeGreaterThan(960);
    expect(bytesOf({ responseHeaders: {} })).toBeLessThanOrEqual(1_024);
    expect(bytesOf({ responseExcerpt: '' })).toBeLessThanOrEqual(1_024);
  });

  it.each([0, 100, 360, 400, 440, 480, 520, 1_000, 1_900])(
    'An address with %i characters more gives no unit to the answer',
    (more) => {
      const change = { url: `${delivery.url}/${'p'.repeat(more)}` };
      const bare = bytesOf({ ...change, responseExcerpt: '', responseHeaders: {} });
      expect(Math.ceil(bytesOf(change) / 1_024)).toBe(Math.ceil(bare / 1_024));
    },
  );

  it('A delivered attempt keeps the first headers and the beginning of the body', () => {
    const { responseHeaders, responseExcerpt } = logRow(delivery) as unknown as Delivery;
    expect(Object.keys(responseHeaders ?? {})).toEqual([
      'x-header-0',
      'x-header-1',
      'x-header-2',
      'x-header-3',
    ]);
    expect(responseExcerpt).toMatch(/^ü{50,}$/);
  });

  it('A failed attempt keeps everything that was given', () => {
    expect(logRow({ ...delivery, outcome: 'failed' })).toMatchObject({
      responseExcerpt: delivery.responseExcerpt,
      responseHeaders: delivery.responseHeaders,
    });
  });
});
