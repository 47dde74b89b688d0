/** One attempt of a listener at a server of every kind. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { forward, type Forwarding, forwardUrl } from '../../../client/command/listen/forward.ts';
import { portOf } from '../../fixtures/values.ts';

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    if ('closeAllConnections' in server) (server.closeAllConnections as () => void)();
    server.close();
    await once(server, 'close');
  }
});

async function portOfStarted(server: Server): Promise<number> {
  open.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return portOf(server);
}

const started = async (answer: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await portOfStarted(createServer(answer))}/hooks?x=1`;

const send = async (url: string, more: Partial<Forwarding> = {}): ReturnType<typeof forward> =>
  forward(
    {
      url: new URL(url),
      skipVerify: false,
      timeoutMillis: 10_000,
      signal: new AbortController().signal,
      ...more,
    },
    { 'x-webhook-event': 'creation.completed' },
    '{"größe":1}',
  );

describe('an attempt of a listener', () => {
  it('posts headers and body, and reports the status', async () => {
    const seen: unknown[] = [];
    const url = await started((request, response) => {
      request.setEncoding('utf8').on('data', (body) => {
        seen.push(request.method, request.url, request.headers['x-webhook-event'], body);
        response.writeHead(418).end('a long answer'.repeat(10_000));
      });
    });
    expect(await send(url)).toEqual({ kind: 'answered', status: 418 });
    expect(seen).toEqual(['POST', '/hooks?x=1', 'creation.completed', '{"größe":1}']);
  });

  it('reports a server that is not there, and a server that ends before its answer', async () => {
    expect(await send('http://127.0.0.1:9/')).toEqual({ kind: 'away', code: 'ECONNREFUSED' });
    const url = await started((request) => request.socket.destroy());
    expect(await send(url)).toEqual({ kind: 'away', code: 'ECONNRESET' });
  });

  it('reports a server that does not answer in time', async () => {
    const url = await started(() => undefined);
    expect(await send(url, { timeoutMillis: 30 })).toEqual({ kind: 'silent' });
  });

  it('ends with the signal', async () => {
    const stop = new AbortController();
    const url = await started(() => stop.abort());
    await expect(send(url, { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('accepts a certificate that nobody trusts only if this is asked for', async () => {
    const made = execFileSync(
      'openssl',
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 -keyout - -out -'.split(
        ' ',
      ),
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const server = createSecureServer({ key: made, cert: made }, (_request, response) => response.end());
    const url = `https://127.0.0.1:${await portOfStarted(server)}/`;
    expect(await send(url)).toEqual({ kind: 'untrusted', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(await send(url, { skipVerify: true })).toEqual({ kind: 'answered', status: 200 });
  });

  it.each([
    ['localhost:3000/hooks', 'http://localhost:3000/hooks'],
    ['https://localhost/hooks', 'https://localhost/hooks'],
    ['127.0.0.1:80', 'http://127.0.0.1/'],
    ['http://', undefined],
    ['', undefined],
  ])('reads the address %j', (text, wanted) => {
    expect(forwardUrl(text)?.href).toBe(wanted);
  });
});
