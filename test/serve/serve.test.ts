import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClock } from '../../local/clock.ts';
import { readServiceRecord } from '../../local/service-record.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { ask, publicHost, publicUrl, type Served, startServe } from './serve-child.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(newFolder(afterAll), 'data');
let served: Served;
let key = '';
let account = '';

/** The operator's command against the running service. */
async function admin(...words: string[]): Promise<Record<string, string>> {
  const program = [join(root, 'bin/admin.ts'), '--data', folder, '--json', ...words];
  return JSON.parse((await run(process.execPath, program)).stdout) as Record<string, string>;
}

async function redeem(link: string, email?: string, headers = {}): ReturnType<typeof ask> {
  const [, token] = link.split('#');
  return ask(served.port, '/portal/link', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: publicUrl, ...headers },
    body: JSON.stringify({ token, email }),
  });
}

const withKey = (): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
});
const proxy = (client: string): Record<string, string> => ({
  'x-forwarded-for': client,
  'x-forwarded-proto': 'https',
});

async function generate(more: object = {}): Promise<string> {
  const body = JSON.stringify({ model: 'sandbox-sketch', prompt: 'a lake', ...more });
  const { status, text } = await ask(served.port, '/api/public/v1/images/generate', {
    method: 'POST',
    headers: withKey(),
    body,
  });
  expect(status, text).toBe(202);
  return (JSON.parse(text) as { id: string }).id;
}

async function completed(id: string): Promise<{ result_urls: string[] }> {
  for (;;) {
    const { text } = await ask(served.port, `/api/public/v1/creations/${id}`, { headers: withKey() });
    const creation = JSON.parse(text) as { status: string; result_urls: string[] };
    if (creation.status === 'completed') return creation;
    // A creation may be polled once a second.
    await sleep(1_100);
  }
}

beforeAll(async () => {
  served = await startServe(folder, ['--trust-proxy', '127.0.0.9/32']);
}, 60_000);

afterAll(async () => {
  await served.end();
});

describe('the first owner', () => {
  it('signs in once by the link of the terminal, and gets an account', async () => {
    const link = served.firstLink() ?? '';
    expect(link.startsWith(`${publicUrl}/portal/first#`)).toBe(true);
    expect((await redeem(link, 'owner@example.com', { origin: 'https://evil.test' })).status).toBe(400);
    const first = await redeem(link, 'owner@example.com');
    expect(first.status, first.text).toBe(200);
    const [cookie = ''] = first.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^__Host-darkroom=.*; HttpOnly; SameSite=Lax; Secure$/);
    account = cookie.split(';', 1)[0]?.split('.')[2] ?? '';
    const me = await ask(served.port, '/api/portal/v1/me', {
      headers: { cookie: cookie.split(';', 1)[0] ?? '' },
    });
    expect(me.status, me.text).toBe(200);
    expect((await redeem(link, 'second@example.com')).status).toBe(403);
  });

  it('leaves only the hash of the link in the tables', () => {
    const token = served.firstLink()?.split('#')[1] ?? '';
    for (const name of readdirSync(join(folder, 'tables')))
      expect(readFileSync(join(folder, 'tables', name), 'utf8')).not.toContain(token);
  });

  it('makes links for people whom somebody invited', async () => {
    await expect(admin('people', 'link', 'nobody@example.com')).rejects.toThrow('Nobody has invited');
    const again = await admin('people', 'link', 'owner@example.com');
    expect((await redeem(again['link'] ?? '')).status).toBe(200);
    expect((await redeem(again['link'] ?? '')).status).toBe(403);
  });

  it('gets keys from the operator’s command', async () => {
    key = (await admin('keys', 'create', account, '--name', 'test'))['key'] ?? '';
    expect(key).not.toBe('');
  });
});

describe('the public address', () => {
  it('has no controls, under whatever name a request comes', async () => {
    for (const host of [publicHost, 'localhost', '127.0.0.1', `127.0.0.1:${served.port}`])
      for (const path of [
        '/_local',
        '/_local/state',
        '/_local/clock',
        '/_local/inbox',
        '/_local/issuer/auth',
      ]) {
        const { status } = await ask(served.port, path, { headers: { host } });
        expect(status, `${host}${path}`).toBe(host === publicHost ? 404 : 421);
      }
  });

  it('says under every name whether the service lives and is ready', async () => {
    for (const path of ['/healthz', '/readyz'])
      expect((await ask(served.port, path, { headers: { host: 'localhost' } })).status).toBe(200);
  });

  it('is in every address of an answer, and its results are served', async () => {
    const { result_urls: urls } = await completed(await generate());
    expect(urls).toHaveLength(1);
    for (const url of urls) {
      expect(url.startsWith(`${publicUrl}/_results/`)).toBe(true);
      const image = await ask(served.port, new URL(url).pathname);
      expect(image.status).toBe(200);
      expect(image.headers['content-type']).toMatch(/^image\//);
    }
  });

  it('takes presigned uploads, and only those', async () => {
    const bytes = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    const made = await ask(served.port, '/api/public/v1/uploads', {
      method: 'POST',
      headers: withKey(),
      body: JSON.stringify({ content_type: 'image/png', bytes: bytes.length }),
    });
    expect(made.status, made.text).toBe(201);
    const { upload_url: url, upload_headers: headers } = JSON.parse(made.text) as {
      upload_url: string;
      upload_headers: Record<string, string>;
    };
    expect(url.startsWith(`${publicUrl}/`)).toBe(true);
    const { pathname, search } = new URL(url);
    const put = (path: string, body: Uint8Array = bytes): ReturnType<typeof ask> =>
      ask(served.port, path, {
        method: 'PUT',
        headers: { ...headers, 'content-length': String(body.length) },
        body,
      });
    expect((await put(pathname + search.replace('X-Amz-Signature=', 'X-Amz-Signature=0'))).status).toBe(403);
    expect((await put(pathname)).status).toBe(400);
    expect((await put(pathname.replace('uploads/', 'results/') + search)).status).not.toBe(200);
    expect((await put(pathname + search)).status).toBe(200);
  });

  it('counts wrong keys for the client that a trusted proxy names', async () => {
    const guess = (from: string, client: string): ReturnType<typeof ask> =>
      ask(served.port, '/api/public/v1/balance', {
        headers: { ...proxy(client), authorization: 'Bearer sk_wrong' },
        from,
      });
    for (let count = 0; count < 30; count += 1) await guess('127.0.0.9', '198.51.100.7');
    const asked = async (from: string, client: string): Promise<number> =>
      (
        await ask(served.port, '/api/public/v1/balance', {
          headers: { ...withKey(), ...proxy(client) },
          from,
        })
      ).status;
    await expect.poll(() => asked('127.0.0.9', '203.0.113.1, 198.51.100.7')).toBe(429);
    expect(await asked('127.0.0.9', '198.51.100.8')).toBe(200);
    // An address that nobody trusts writes what it likes, and is still itself.
    expect(await asked('127.0.0.1', '198.51.100.7')).toBe(200);
  });

  it('counts wrong links as wrong keys', async () => {
    const link = (): ReturnType<typeof ask> =>
      ask(served.port, '/portal/link', {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: publicUrl, ...proxy('198.51.100.9') },
        body: JSON.stringify({ token: 'x'.repeat(43) }),
        from: '127.0.0.9',
      });
    for (let count = 0; count < 30; count += 1) await link();
    await expect.poll(async () => (await link()).status).toBe(429);
  });

  it('answers agents of other machines', async () => {
    const { status, text } = await ask(served.port, '/mcp', {
      method: 'POST',
      headers: { ...withKey(), ...proxy('198.51.100.10'), accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      from: '127.0.0.9',
    });
    expect(status, text).toBe(200);
  });
});

describe('the folder', () => {
  it('is refused when its clock was set forward', async () => {
    const other = newFolder();
    const clock = openClock(join(other, 'clock.json'));
    clock.freeze();
    clock.jumpTo(clock.now() + 60_000);
    clock.thaw();
    await expect(startServe(other)).rejects.toThrow('was set forward by a test machine');
  });

  it('is taken from other users, with one sentence', async () => {
    const other = join(newFolder(), 'open');
    mkdirSync(other);
    chmodSync(other, 0o755);
    const { lines, end } = await startServe(other);
    expect(statSync(other).mode & 0o777).toBe(0o700);
    expect(lines[0]).toMatchObject({ event: 'folder_closed' });
    expect(await end()).toBe(0);
  });

  it('is not served on an address of the network without a public one', async () => {
    const words = [join(root, 'bin/serve.ts'), '--listen', '0.0.0.0:8788', '--data', newFolder()];
    await expect(run(process.execPath, words)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^--listen: "0.0.0.0:8788" is no address of this machine alone: .*\n$/,
      ) as string,
    });
  });
});

describe('another user of this machine', () => {
  it('can call neither the AWS of the folder nor its controls', async () => {
    const { awsUrl = '', localUrl = '' } = readServiceRecord(folder) ?? {};
    const list = (secretAccessKey: string): Promise<unknown> =>
      new DynamoDBClient({
        endpoint: awsUrl,
        region: 'us-east-1',
        maxAttempts: 1,
        credentials: { accessKeyId: 'operator', secretAccessKey },
      }).send(new ListTablesCommand({}));
    await expect(list('local')).rejects.toThrow('signature');
    await expect(list(readServiceRecord(folder)?.awsSecretKey ?? '')).resolves.toBeDefined();
    const unsigned = await fetch(awsUrl, {
      method: 'POST',
      headers: {
        'x-amz-target': 'DynamoDB_20120810.ListTables',
        authorization: 'AWS4-HMAC-SHA256 Credential=operator/20261121/us-east-1/dynamodb/aws4_request',
      },
      body: '{}',
    });
    expect(unsigned.status).toBe(403);
    for (const path of ['state', 'clock', 'faults', 'inbox', 'crashes'])
      expect((await fetch(`${localUrl}/${path}`)).status, path).toBe(404);
  });

  it('can read no file of the folder', () => {
    const open: string[] = [];
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if ((statSync(path).mode & 0o077) !== 0) open.push(path);
    }
    expect(open).toEqual([]);
    expect(statSync(folder).mode & 0o077).toBe(0);
  });
});
