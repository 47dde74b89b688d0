/** The doors of a service for others beside keys and links: an OpenID issuer, and TLS by files. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import { connect } from '../../admin/connect.ts';
import { listenOnLoopback } from '../../local/http.ts';
import { createIssuer } from '../../local/issuer/issuer.ts';
import { rejectionsBeforeBlock } from '../../service/contract/limits.ts';
import { signInPaths } from '../../service/contract/operations.ts';
import { invite, openBrowser } from '../fixtures/portal.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { ask, freePort, publicHost, type Served, startServe } from './serve-child.ts';

/** Guesses until an answer differs, and gives both answers. Twenty guesses of one minute block an address. */
async function guessed<Answer>(guess: () => Promise<Answer>): Promise<Answer[]> {
  const first = await guess();
  for (let count = 1; ; count += 1) {
    const next = await guess();
    if (next === first && count < 40) continue;
    expect(count).toBeGreaterThanOrEqual(rejectionsBeforeBlock);
    return [first, next];
  }
}

describe('the issuer of --issuer', () => {
  const folder = join(newFolder(afterAll), 'data');
  const client = { id: 'darkroom', secret: 'the password of the client' };
  let served: Served;
  let portalUrl = '';
  let key = '';
  const closers: (() => unknown)[] = [];
  afterAll(async () => {
    for (const close of closers) await close();
  });

  beforeAll(async () => {
    const port = await freePort();
    portalUrl = `http://127.0.0.1:${port}/portal/`;
    const server = createServer((incoming, outgoing) => void issuer.handle(incoming, outgoing));
    const url = `http://127.0.0.1:${await listenOnLoopback(server)}/id`;
    closers.push(() => server.close());
    const issuer = createIssuer({
      ...{ url, client, redirectUri: new URL(signInPaths.callback, portalUrl).href },
      ...{ afterSignOut: portalUrl, people: () => Promise.resolve([]), now: Date.now },
    });
    const more = ['--issuer', url, '--client-id', client.id, '--trust-proxy', '127.0.0.9/32'];
    served = await startServe(folder, more, null, { port });
    closers.push(() => served.end());
    const operator = await connect({ data: folder });
    await operator.setSignInSecret(client.secret);
    const account = await createAccount(operator, { name: 'first', balance: '5', sandbox: 'yes' });
    key = (await issueKey(operator, account, { name: 'first' })).key;
    await invite(operator.people, account.id, 'owner@example.com', 'owner');
  }, 60_000);

  const from = async (client: string, path: string, headers = {}): ReturnType<typeof ask> =>
    ask(served.port, path, {
      headers: { host: `127.0.0.1:${served.port}`, 'x-forwarded-for': client, ...headers },
      from: '127.0.0.9',
    });
  const errorFrom = async (client: string, path: string, headers = {}): Promise<string | null> => {
    const { headers: answered } = await from(client, path, headers);
    return new URL(answered.location ?? '', portalUrl).searchParams.get('error');
  };
  const balanceFrom = async (client: string, bearer = key): Promise<number> =>
    (await from(client, '/api/public/v1/balance', { authorization: `Bearer ${bearer}` })).status;

  it('signs in whom somebody invited, and nobody else', { timeout: 30_000 }, async () => {
    const browser = openBrowser(portalUrl);
    expect((await browser.signIn('owner@example.com')).search).toBe('');
    expect((await browser.send('GET', '/me')).status).toBe(200);
    const stranger = openBrowser(portalUrl);
    expect((await stranger.signIn('stranger@example.com')).search).toBe('?error=not_invited');
    expect((await stranger.send('GET', '/me')).status).toBe(401);
  });

  it('is where a sign-in begins', async () => {
    const { headers } = await from('198.51.100.1', '/auth/login');
    expect(headers.location).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/id\/auth\?/);
  });

  it('counts forged sign-ins for the client, as the API counts wrong keys', async () => {
    const forged = {
      cookie: `darkroom-portal-${served.port}-sign-in=v1.v1.${'A'.repeat(16)}.${'A'.repeat(60)}`,
    };
    const guess = (): Promise<string | null> =>
      errorFrom('198.51.100.7', '/auth/callback?code=x&state=y', forged);
    expect(await guessed(guess)).toEqual(['expired', 'blocked']);
    expect(await errorFrom('198.51.100.7', '/auth/login')).toBe('blocked');
    expect(await balanceFrom('198.51.100.7')).toBe(429);
    expect(await balanceFrom('198.51.100.8')).toBe(200);
    expect(await errorFrom('198.51.100.8', '/auth/login')).toBeNull();
  });

  it('counts codes that the issuer refuses', { timeout: 30_000 }, async () => {
    const browser = openBrowser(portalUrl);
    const callback = await browser.signInUntilCallback('owner@example.com');
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    callback.searchParams.set('code', 'guessed');
    const guess = (): Promise<string | null> =>
      errorFrom('198.51.100.9', `${callback.pathname}${callback.search}`, { cookie });
    expect(await guessed(guess)).toEqual(['refused', 'blocked']);
    expect(await balanceFrom('198.51.100.9')).toBe(429);
  });

  it('signs in nobody from an address that has guessed keys', async () => {
    expect(await guessed(() => balanceFrom('198.51.100.10', 'wrong'))).toEqual([401, 429]);
    expect(await errorFrom('198.51.100.10', '/auth/login')).toBe('blocked');
    expect(await errorFrom('198.51.100.10', '/auth/callback?code=x&state=y')).toBe('blocked');
  });
});

describe('TLS by files', () => {
  const folder = newFolder(afterAll);
  const [cert, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  let served: Served;
  let key = '';
  const open = new Agent({ keepAlive: true, maxSockets: 1 });

  function renew(serial: number): void {
    const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -set_serial ${serial} -subj /CN=${publicHost} -addext subjectAltName=DNS:${publicHost}`;
    const files = ['-keyout', join(folder, 'next.key'), '-out', join(folder, 'next.pem')];
    execFileSync('openssl', [...words.split(' '), ...files], { stdio: 'ignore' });
    copyFileSync(join(folder, 'next.pem'), cert);
    copyFileSync(join(folder, 'next.key'), keyFile);
  }

  interface Got {
    readonly status: number | undefined;
    readonly bytes: Buffer;
    readonly serial: number;
    readonly port: number | undefined;
  }
  async function get(
    path: string,
    more: object = {},
    body?: string,
    agent: Agent | false = false,
  ): Promise<Got> {
    const sent = request({
      ...{ host: '127.0.0.1', port: served.port, path, agent, servername: publicHost },
      // The certificate is of its own authority, and the test compares its serial number.
      rejectUnauthorized: false,
      headers: { host: publicHost, ...more },
      ...(body !== undefined && { method: 'POST' }),
    });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const socket = answer.socket as TLSSocket;
    const serial = Number.parseInt(socket.getPeerCertificate().serialNumber, 16);
    const port = socket.localPort;
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    return { status: answer.statusCode, bytes: Buffer.concat(chunks), serial, port };
  }
  const said = (event: string): readonly unknown[] => served.lines.filter((line) => line['event'] === event);

  beforeAll(async () => {
    renew(1);
    served = await startServe(join(folder, 'data'), ['--tls-cert', cert, '--tls-key', keyFile]);
    const operator = await connect({ data: join(folder, 'data') });
    const account = await createAccount(operator, { name: 'first', balance: '5', sandbox: 'yes' });
    key = (await issueKey(operator, account, { name: 'first' })).key;
  }, 60_000);
  afterAll(async () => {
    open.destroy();
    await served.end();
  });

  it('gives a picture over https', { timeout: 40_000 }, async () => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'wait=25' };
    const order = JSON.stringify({ model: 'sandbox-sketch', prompt: 'a lake' });
    const { status, bytes, serial } = await get('/api/public/v1/images/generate', headers, order);
    expect([status, serial], bytes.toString()).toEqual([200, 1]);
    const {
      result_urls: [url = ''],
    } = JSON.parse(bytes.toString()) as { result_urls: string[] };
    expect(url.startsWith(`https://${publicHost}/_results/`)).toBe(true);
    const image = await get(new URL(url).pathname);
    expect(image.status).toBe(200);
    expect(image.bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  it('takes renewed files at SIGHUP, and open connections go on', async () => {
    const before = await get('/api/public/v1/balance', {}, undefined, open);
    renew(2);
    served.child.kill('SIGHUP');
    await expect.poll(() => said('certificate_renewed')).toHaveLength(1);
    expect((await get('/healthz')).serial).toBe(2);
    const after = await get('/api/public/v1/balance', {}, undefined, open);
    expect([after.status, after.port, after.serial]).toEqual([401, before.port, 1]);
  });

  it('keeps the certificate of before when the renewed files are broken, and says so in one line', async () => {
    const broken: readonly [string, string, string][] = [
      [cert, 'half a file', '--tls-cert'],
      [keyFile, 'half a file', '--tls-key'],
    ];
    for (const [index, [file, text, option]] of broken.entries()) {
      renew(3);
      writeFileSync(file, text);
      served.child.kill('SIGHUP');
      await expect.poll(() => said('certificate_kept')).toHaveLength(index + 1);
      const { level, message } = said('certificate_kept').at(-1) as Record<string, string>;
      expect(level).toBe('error');
      expect(message).toContain(`${option}: ${JSON.stringify(file)} is no `);
      expect((await get('/healthz')).serial).toBe(2);
    }
    // The key of another certificate.
    renew(4);
    copyFileSync(keyFile, join(folder, 'other.pem'));
    renew(5);
    copyFileSync(join(folder, 'other.pem'), keyFile);
    served.child.kill('SIGHUP');
    await expect.poll(() => said('certificate_kept')).toHaveLength(3);
    await sleep(50);
    expect((await get('/healthz')).serial).toBe(2);
    expect(said('certificate_renewed')).toHaveLength(1);
  });

  it('is refused with one sentence at a start', async () => {
    await expect(
      startServe(join(folder, 'other'), ['--tls-cert', cert, '--tls-key', keyFile]),
    ).rejects.toThrow(/^--tls-key: "[^"]+" is no key of the certificate in PEM \(.*\)\.\n$/);
  });
});
