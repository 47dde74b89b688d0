/** A developer's server that goes down and comes back at the same address. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listenSecret } from '../../../client/command/commands/listen.ts';
import { verifyWebhook } from '../../../client/src/webhooks.ts';
import { redeliver } from '../../../service/webhooks/redeliver.ts';
import { root } from '../../docs/pages.ts';
import { type Client, sharedTestService, type TestService } from '../../fixtures/service.ts';
import { portOf } from '../../fixtures/values.ts';
import { settled, submit } from '../../whole/workflow/creations.ts';
import { type Receiver, startReceiver } from '../../whole/workflow/receiver.ts';
import { newPerson, type Person, type Running, type Surroundings } from './command-run.ts';

interface Arrived {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface LocalServer {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** The status of the next answers. */
  status: number;
  /** Goes down after so many more requests. */
  downAfter: number;
  up(): Promise<void>;
  down(): Promise<void>;
  /** Resolves once so many requests have come in all. */
  until(count: number): Promise<void>;
}

async function startLocalServer(): Promise<LocalServer> {
  const arrived: Arrived[] = [];
  let server: Server | undefined;
  let port = 0;
  const local: LocalServer = {
    get url() {
      return `http://127.0.0.1:${port}/hooks`;
    },
    arrived,
    status: 204,
    downAfter: Infinity,
    up: async () => {
      server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const body = Buffer.concat(chunks).toString();
          arrived.push({ headers: request.headers as Record<string, string>, body });
          response.writeHead(local.status, { connection: 'close' }).end();
          if ((local.downAfter -= 1) <= 0) server?.close();
        });
      }).listen(port, '127.0.0.1');
      await once(server, 'listening');
      port = portOf(server);
    },
    down: async () => {
      const closed = server?.listening === true ? once(server, 'close') : undefined;
      server?.close();
      server?.closeAllConnections();
      await closed;
    },
    until: async (count) => {
      while (arrived.length < count) await sleep(20);
    },
  };
  await local.up();
  return local;
}

/** `darkroom listen` against the real service: what a developer's server gets, before and after a sleep. */
let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([sharedTestService(), startReceiver()]);
});
afterAll(async () => {
  await receiver.close();
  await service.end();
});

let client: Client;
let person: Person;
let local: LocalServer;
let running: Running[] = [];
async function newDeveloper(): Promise<void> {
  [client, person, local] = await Promise.all([service.client(), newPerson(), startLocalServer()]);
  const DARKROOM_BASE_URL = new URL(service.machine.apiUrl).origin;
  Object.assign(person.env, { DARKROOM_API_KEY: client.key, DARKROOM_BASE_URL });
}
afterEach(async () => {
  for (const one of running) await one.stop();
  running = [];
  await local.down();
  await person.remove();
});

function listen(more: readonly string[] = [], surroundings: Surroundings = {}): Running {
  const one = person.start(['listen', '--forward-to', local.url, ...more], surroundings);
  running.push(one);
  return one;
}

/** Ends a creation, so that there is an event. */
async function happen(prompt = 'a lake', body: object = {}): Promise<string> {
  const id = await submit(service, client.key, { prompt, ...body });
  await settled(service, id);
  return id;
}

const ready = async (one: Running): Promise<void> => {
  await expect.poll(one.err).toContain('Ctrl-C');
  await expect.poll(() => cursors().length).toBe(1);
};

const cursors = (): string[] => {
  try {
    return readdirSync(join(person.home, '.local/state/darkroom/listen')).filter((name) =>
      name.endsWith('.json'),
    );
  } catch {
    return [];
  }
};

/** The ids of the creations, in the order of their arrival. Every delivery must verify. */
async function verified(arrived: readonly Arrived[]): Promise<string[]> {
  const secret = listenSecret(client.key);
  const ids: string[] = [];
  for (const { headers, body } of arrived) {
    const event = await verifyWebhook({ headers, body }, secret);
    new Webhook(secret).verify(body, headers);
    ids.push(event.id);
  }
  return ids;
}

/** Starts the command as a process of its own, which can be killed. */
function startProcess(): { readonly child: ChildProcess; readonly err: () => string } {
  const program = join(root, 'client/bin/darkroom.ts');
  const env = { ...process.env, ...person.env, HOME: person.home, XDG_STATE_HOME: '', XDG_CONFIG_HOME: '' };
  const child = spawn(process.execPath, [program, 'listen', '--forward-to', local.url], { env });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += String(chunk)));
  return { child, err: () => err };
}

describe('darkroom listen', () => {
  it('is killed, sleeps through five events and a redelivery, and brings all six in order', async () => {
    await newDeveloper();
    const { child, err } = startProcess();
    await expect.poll(err).toContain('Ctrl-C');
    await expect.poll(() => cursors().length).toBe(1);
    const begin = cursorText();
    const hook = receiver.hook('sleep', 204);
    const first = await happen('before the sleep', { webhook_url: hook });
    await local.until(1);
    // The cursor is noted after the answer: a kill in between may repeat the event.
    await expect.poll(() => cursorText()).not.toBe(begin);
    child.kill('SIGKILL');
    await once(child, 'exit');

    const missed: string[] = [];
    for (const prompt of ['one', 'two [sandbox:fail]', 'three', 'four', 'five']) {
      missed.push(await happen(prompt));
    }
    const { operator } = service;
    const [delivery] = await operator.deliveries.log(client.account.id, 1);
    await redeliver(await service.account(client.account.id), delivery?.id ?? '', operator);
    missed.push(first);

    await local.down();
    const again = listen();
    await expect.poll(again.err).toContain('does not answer (ECONNREFUSED)');
    local.downAfter = 2;
    await local.up();
    await local.until(3);
    await local.down();
    local.downAfter = Infinity;
    await expect.poll(() => again.err().match(/does not answer/g)?.length).toBe(2);
    await local.up();
    await local.until(7);

    expect(await verified(local.arrived)).toEqual([first, ...missed]);
    const webhookIds = local.arrived.map(({ headers }) => headers['webhook-id']);
    expect(webhookIds[6]).toBe(webhookIds[0]);
    expect(webhookIds[0]).toBe(receiver.arrivals('sleep')[0]?.headers['webhook-id']);
    expect(again.out()).toMatch(
      /creation\.completed {2}[0-9a-f-]{36} {2}204 No Content {2}\d+ ms \(redelivery\)\n$/,
    );
    expect(await again.stop()).toBe(0);
  });

  it('sends the body of the real webhook, byte for byte, and the same headers', async () => {
    await newDeveloper();
    const one = listen();
    await ready(one);
    await happen('a lake', { webhook_url: receiver.hook('same', 204), metadata: { order: '7' } });
    await local.until(1);
    await receiver.until('same', 1);
    const [real] = receiver.arrivals('same');
    const [mine] = local.arrived;
    expect(mine?.body).toBe(String(real?.raw));
    const names = (headers: Arrived['headers'] = {}): string[] =>
      Object.keys(headers).filter((name) => /^(x-|webhook-|content-type|user-agent)/.test(name));
    expect(names(mine?.headers).toSorted()).toEqual(names(real?.headers).toSorted());
  });

  it('goes on after an answer of 500, and sends the last event again on r', async () => {
    await newDeveloper();
    local.status = 500;
    const one = listen();
    await ready(one);
    one.type('r\n');
    await expect.poll(one.err).toContain('There is no event yet.');
    const id = await happen();
    await local.until(1);
    await expect.poll(one.out).toContain(`${id}  500 Internal Server Error`);
    local.status = 200;
    one.type('r\n');
    await local.until(2);
    await expect.poll(one.out).toMatch(/200 OK {2}\d+ ms \(repeated\)\n$/);
    const [first, second] = local.arrived;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.headers['x-webhook-delivery-id']).not.toBe(first?.headers['x-webhook-delivery-id']);
    const other = await happen('another');
    await local.until(3);
    expect(await verified(local.arrived)).toEqual([id, id, other]);
  });

  it('keeps neither the key nor a secret on disk, and signs with the same secret at every start', async () => {
    await newDeveloper();
    const one = listen();
    await ready(one);
    const secret = listenSecret(client.key);
    expect(one.err()).toContain(secret);
    expect(await person.run(['listen', '--print-secret'])).toMatchObject({ code: 0, out: `${secret}\n` });
    const folder = join(person.home, '.local/state/darkroom/listen');
    const [name = ''] = cursors();
    expect(name).toMatch(/^default-[0-9a-f]{20}\.json$/);
    const kept = name + readFileSync(join(folder, name), 'utf8');
    expect(kept).not.toContain(client.key.slice(8, 20));
    expect(kept).not.toContain('whsec_');
  });

  it('forwards only the wanted events, of the wanted time', async () => {
    await newDeveloper();
    const first = listen();
    await ready(first);
    await first.stop();
    await happen('long ago');
    const failed = await happen('long ago [sandbox:fail]');
    // A clock that is a year ahead: all these events are older than ten minutes.
    const before = cursorText();
    const recent = listen(['--since', '10m'], { io: { now: () => Date.now() + 365 * 86_400_000 } });
    await expect.poll(() => cursorText()).not.toBe(before);
    await expect.poll(() => cursorText()).toContain('"taken":[]');
    await recent.stop();
    expect(local.arrived).toEqual([]);

    const names = listen(['--events', 'creation.failed', '--json']);
    await happen('completes');
    const next = await happen('fails [sandbox:fail]');
    await local.until(1);
    await expect.poll(names.out).toContain('creation.failed');
    expect(JSON.parse(names.out())).toMatchObject({ event: 'creation.failed', of: next, status: 204 });
    expect(next).not.toBe(failed);
  });

  it('after the login, --since shows events from before the first start', async () => {
    await newDeveloper();
    const { DARKROOM_API_KEY: key = '', DARKROOM_BASE_URL = '' } = person.env;
    delete person.env['DARKROOM_API_KEY'];
    delete person.env['DARKROOM_BASE_URL'];
    expect((await person.run(['login', '--base-url', DARKROOM_BASE_URL], { input: key })).code).toBe(0);
    const before = await happen('before the first start');
    listen(['--since', '1h']);
    await local.until(1);
    expect(await verified(local.arrived)).toEqual([before]);
  });

  it('refuses a second listener of the same profile and key, and an address that is none', async () => {
    await newDeveloper();
    const one = listen();
    await ready(one);
    const second = await person.run(['listen', '--forward-to', local.url]);
    expect(second).toMatchObject({
      code: 1,
      err: expect.stringContaining('Another `darkroom listen`') as string,
    });
    await one.stop();
    expect((await person.run(['listen'])).code).toBe(2);
    expect((await person.run(['listen', '--forward-to', 'http://'])).code).toBe(2);
    expect((await person.run(['listen', '--forward-to', local.url, '--since', 'soon'])).code).toBe(2);
    const wrong = { env: { DARKROOM_API_KEY: 'dk_live_wrong' } };
    expect((await person.run(['listen', '--forward-to', local.url], wrong)).code).toBe(3);
  });
});

function cursorText(): string {
  const folder = join(person.home, '.local/state/darkroom/listen');
  return cursors()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}
