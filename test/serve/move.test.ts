/** A service of one machine moves into a stack: everything is there, and nothing happens twice. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { BatchWriteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import { issueSecret } from '../../admin/commands/webhooks.ts';
import { connect } from '../../admin/connect.ts';
import { exportService } from '../../admin/move/export-service.ts';
import { importService } from '../../admin/move/import-service.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { verifyWebhook } from '../../client/src/webhooks.ts';
import { listenOnLoopback } from '../../local/http.ts';
import type { Account } from '../../service/accounts/account.ts';
import { deleteItem, putItem, updateItem } from '../../service/aws/dynamodb/send.ts';
import type { ItemKey } from '../../service/aws/dynamodb/table.ts';
import { createAgeStore } from '../../service/erase/age-store.ts';
import { invitationIdOf, newInvitation } from '../../service/portal/people.ts';
import { createPortalAccess } from '../../service/portal/session-store.ts';
import { enter } from '../../service/portal/sign-in/enter.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { settled, submit } from '../../start/creations.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { differencesIn } from '../fixtures/books.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { ask, publicUrl, type Served, startServe } from './serve-child.ts';
import { type StandInStack, startStack } from './stand-in-stack.ts';

const run = promisify(execFile);
const adminEntry = fileURLToPath(new URL('../../bin/admin.ts', import.meta.url));
const data = join(newFolder(afterAll), 'data');
const exported = join(newFolder(afterAll), 'export');
/** Rows of a log, so that an import has many calls to be killed at. */
const fillers = 2_600;

interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const received: Received[] = [];
let receiver: Server;
let hook = '';
let served: Served;
let source: OperatorServices;
let account: Account;
let poor: Account;
let key = '';
let poorKey = '';
let secret = '';
let upload = '';
let cursor = '';
/** The items of the one machine. */
let atExport: readonly string[] = [];
const ids = {} as Record<'completed' | 'failed' | 'private', CreationId>;

/** A request to the API of the one machine. */
async function send(
  path: string,
  body?: object,
  withKey = key,
  headers: Record<string, string> = {},
): Promise<Record<string, string>> {
  const { status, text } = await ask(served.port, `/api/public/v1${path}`, {
    headers: { authorization: `Bearer ${withKey}`, 'content-type': 'application/json', ...headers },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  if (status >= 300) throw new Error(`${path} was answered ${status}: ${text}`);
  return JSON.parse(text) as Record<string, string>;
}

async function generate(body: object, headers: Record<string, string> = {}): Promise<CreationId> {
  const { id } = await send('/images/generate', { model: 'sandbox-sketch', ...body }, key, headers);
  await settled({ operator: source }, id as CreationId);
  return id as CreationId;
}

/** The operator's command for the one machine. */
const admin = (...words: string[]): Promise<{ stdout: string }> =>
  run(process.execPath, [adminEntry, '--data', data, '--json', ...words]);

beforeAll(async () => {
  receiver = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      received.push({ headers: incoming.headers as Record<string, string>, body });
      outgoing.end();
    });
  });
  hook = `http://127.0.0.1:${await listenOnLoopback(receiver)}/hook`;
  served = await startServe(data, ['--env', 'OUTBOUND_RULES=loopback-too', '--env', 'THUMBNAILS=on']);
  source = await connect({ data });
  await makeLife();
  await source.serviceSwitch.close({
    message: 'We move.',
    since: new Date(Date.now() - 60_000).toISOString(),
  });
  atExport = await itemsOf(source);
  await admin('export', '--to', exported);
});

afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await once(receiver, 'close');
  await served.end();
});

async function makeLife(): Promise<void> {
  account = await createAccount(source, { name: 'Äpfel', balance: '25', creditLine: '5', sandbox: 'yes' });
  await source.accounts.change(account.id, { noticeUrl: hook });
  key = (await issueKey(source, account, { name: 'old', monthlyCap: '10' })).key;
  secret = String((await issueSecret(source, account))['secret']);
  // The version that sealed this secret is from now on the one before.
  const { secrets, secretArns } = source.raw;
  const next = { SecretId: secretArns.encryption, SecretString: 'x'.repeat(64) };
  await secrets.send(new PutSecretValueCommand(next));
  // The first read of events begins their log.
  cursor = String((await send('/events'))['next_cursor']);
  ids.completed = await generate({
    prompt: 'a lake',
    webhook_url: hook,
    metadata: { ['__proto__']: 'x', note: `"${publicUrl}/_results/mine` },
  });
  ids.failed = await generate({ prompt: 'a lake [sandbox:fail]', webhook_url: hook });
  ids.private = await generate({ prompt: 'no webhook' }, { 'idempotency-key': 'once' });
  poor = await createAccount(source, { name: 'poor', balance: '0.05', sandbox: 'yes' });
  poorKey = (await issueKey(source, poor, { name: 'poor' })).key;
  // A new connection knows the new version.
  await issueSecret(await connect({ data }), poor);
  await source.accounts.change(poor.id, { noticeUrl: hook, lowBalanceMicros: asMicros(49_000) });
  const { id } = await send('/images/generate', { model: 'sandbox-sketch', prompt: 'last' }, poorKey);
  await settled({ operator: source }, id as CreationId);
  // The thumbnails come after the webhook.
  for (const one of [ids.completed, ids.private, id as CreationId])
    while ((await source.creations.read(one))?.colours === undefined) await sleep(50);
  upload = await uploaded();
  await invited();
  for (let start = 0; start < fillers; start += 25)
    await source.table.client.send(
      new BatchWriteCommand({
        RequestItems: {
          [source.table.name]: Array.from({ length: 25 }, (_, place) => ({
            PutRequest: { Item: { pk: `ACCOUNT#${account.id}`, sk: `FILLER#${start + place}`, n: place } },
          })),
        },
      }),
    );
  // Sums of usage are bytes, and an item of yesterday's time to live is gone in all but name.
  await putItem(source.table, { pk: `ACCOUNT#${account.id}`, sk: 'USAGE#x', sums: Buffer.from([0, 255, 7]) });
  await putItem(source.table, { pk: `ACCOUNT#${account.id}`, sk: 'RETRY#old', expiresAtSeconds: 1_000 });
  const inAnHour = Math.ceil(Date.now() / 1000) + 3_600;
  await putItem(source.table, { ...passing(), expiresAtSeconds: inAnHour });
  // As the reconciler does every minute.
  await source.openWork.recordOpenCount();
  // Two webhooks and the notice.
  while (received.length < 3 || (await openIn(source)) > 0) await sleep(200);
}

/** The key of an item whose time to live ends soon. */
const passing = (): ItemKey => ({ pk: `ACCOUNT#${account.id}`, sk: 'RETRY#soon' });

async function openIn({ openWork }: OperatorServices): Promise<number> {
  let open = 0;
  for (const pages of openWork.overdue(Number.MAX_SAFE_INTEGER))
    for await (const page of pages) open += page.length;
  return open;
}

async function uploaded(): Promise<string> {
  const bytes = Buffer.from((await results(ids.private))[0] ?? []);
  const made = await ask(served.port, '/api/public/v1/uploads', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content_type: 'image/png', bytes: bytes.length }),
  });
  const { image_url, upload_url, upload_headers } = JSON.parse(made.text) as {
    image_url: string;
    upload_url: string;
    upload_headers: Record<string, string>;
  };
  const { pathname, search } = new URL(upload_url);
  const put = await ask(served.port, pathname + search, {
    method: 'PUT',
    headers: { ...upload_headers, 'content-length': String(bytes.length) },
    body: bytes,
  });
  expect(put.status, put.text).toBe(200);
  return image_url;
}

/** The bytes of a creation's images at the one machine. */
async function results(id: CreationId): Promise<Buffer[]> {
  const creation = await source.creations.read(id);
  const paths = creation?.results.map((image) => `/_results/${image.key}`) ?? [];
  return Promise.all(paths.map(async (path) => (await ask(served.port, path)).bytes));
}

/** An owner and operator who signed in by a link, a developer with a cap, and an open invitation. */
async function invited(): Promise<void> {
  const { people, table, clock } = source;
  const invite = (email: string, role: 'owner' | 'developer' | 'operator', more: object = {}) =>
    people.invite(
      newInvitation(
        {
          accountId: role === 'operator' ? ('SERVICE' as const) : account.id,
          email,
          role,
          invitedBy: 'operator',
          ...more,
        },
        clock.now(),
      ),
      Infinity,
    );
  await invite('owner@example.com', 'owner');
  await invite('owner@example.com', 'operator');
  await invite('dev@example.com', 'developer', { keyCapMicros: 2_000_000 });
  for (const email of ['owner@example.com', 'dev@example.com'])
    expect(typeof (await signIn(source, 'link', email))).toBe('object');
  await invite('late@example.com', 'developer');
  expect(table.name).not.toBe('');
}

function signIn(
  { people, table, clock }: OperatorServices,
  issuer: string,
  email: string,
): ReturnType<typeof enter> {
  const silent = { info: () => undefined, alarm: () => undefined };
  return enter({ issuer, subject: email, email, emailVerified: true }, undefined, clock.now(), {
    people,
    access: createPortalAccess(table),
    log: silent,
    settings: { emailsAreVerified: false },
  });
}

type Item = Readonly<Record<'pk' | 'sk', string>>;

function kindOf({ pk, sk }: Item): string {
  const [partition = '', kind = ''] = [pk, sk].map((key) => key.split('#')[0]);
  return ['ACCOUNT', 'CREATION', 'SERVICE'].includes(partition) ? kind : partition;
}

/** All items but the mark of the import, in the order of their keys; without what depends on the time of the import. */
async function itemsOf({ table, raw }: OperatorServices): Promise<string[]> {
  const images = `${publicUrl}/_results`;
  const items: string[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const page = await table.client.send(
      new ScanCommand({ TableName: table.name, ConsistentRead: true, ExclusiveStartKey: from }),
    );
    for (const item of page.Items ?? []) {
      const kind = String(item['sk']);
      if (String(item['pk']).startsWith('IMPORT') || /^(AUDIT|ERASE|OPEN_COUNT)/.test(String(item['pk'])))
        continue;
      const isInvitation = kind.startsWith('INVITATION') || String(item['pk']).startsWith('INVITED');
      const {
        openCreations: _count,
        openSum: _sum,
        startsHeld: _held,
        invitedAt: _at,
        expiresAt: _until,
        expiresAtSeconds: _ttl,
        ...rest
      } = item;
      items.push(
        JSON.stringify(isInvitation || kind === 'SERVICE' ? rest : item, (_name, value: unknown) =>
          value instanceof Set ? [...(value as Set<string>)].sort() : value,
        )
          .replaceAll(raw.resultsBaseUrl, images)
          .replaceAll(images, '{images}'),
      );
    }
    from = page.LastEvaluatedKey;
  } while (from);
  return items.sort();
}

/** Ends after the test, or after all tests around the call with `afterAll`. */
async function newStack(atEnd: (end: () => Promise<void>) => void = onTestFinished): Promise<StandInStack> {
  const stack = await startStack(join(newFolder(atEnd as never), 'stack'));
  atEnd(stack.end);
  return stack;
}

describe('an export', () => {
  it('is for its owner only, and a changed file is refused before the first write', async () => {
    for (const entry of readdirSync(exported, { recursive: true, withFileTypes: true }))
      expect(statSync(join(entry.parentPath, entry.name)).mode & 0o077, entry.name).toBe(0);
    // Counters of open creations are of one service.
    expect(readFileSync(join(exported, 'items.jsonl'), 'utf8')).not.toMatch(/"open(Sum|Creations)"/);
    expect(readdirSync(exported).sort()).toEqual([
      'export.json',
      'items.jsonl',
      'objects',
      'objects.jsonl',
      'secrets.json',
    ]);
    const torn = join(newFolder(), 'torn');
    cpSync(exported, torn, { recursive: true });
    appendFileSync(join(torn, 'objects.jsonl'), '\n');
    await expect(importService(source, torn, () => undefined)).rejects.toThrow('objects.jsonl differs');
    await expect(importService(source, join(torn, 'objects'), () => undefined)).rejects.toThrow(
      'export.json is missing',
    );
  });

  it('is not made while money moves', async () => {
    const { owned } = source;
    const moving = {
      ...source,
      owned: owned && {
        ...owned,
        backup: async (...given: Parameters<typeof owned.backup>) => {
          const said = await owned.backup(...given);
          await source.wallet.topUp(account.id, asMicros(1), 'moved');
          return said;
        },
      },
    };
    const to = join(newFolder(), 'again');
    await expect(exportService(moving, to, () => undefined)).rejects.toThrow('Money moved during the export');
    // A request may have begun just before the close.
    await source.serviceSwitch.close({ message: 'We move.', since: new Date().toISOString() });
    const slept: number[] = [];
    const sleep = (millis: number): Promise<void> => Promise.resolve(void slept.push(millis));
    const waiting = { ...source, clock: { ...source.clock, sleep } };
    await exportService(waiting, to, () => undefined);
    expect(slept[0]).toBeGreaterThan(26_000);
  });

  it('needs a closed service, on which nothing is open', async () => {
    const to = join(newFolder(), 'again');
    await source.serviceSwitch.open();
    await expect(admin('export', '--to', to)).rejects.toThrow('close it first');
    await expect(admin('export')).rejects.toThrow('--to: name a new folder');
    const slow = { model: 'sandbox-sketch', prompt: 'a lake [sandbox:hang]' };
    const { id } = await send('/images/generate', slow);
    await source.serviceSwitch.close({ message: 'We move.', since: new Date(0).toISOString() });
    await expect(admin('export', '--to', to)).rejects.toThrow(
      '1 creations are open, and 0 webhooks, notices or erasures are under way',
    );
    expect(readdirSync(to)).toEqual([]);
    expect(id).not.toBe('');
    await expect(admin('export', '--to', exported)).rejects.toThrow('is not empty');
  });
});

describe('an import', () => {
  let stack: StandInStack;
  let atImport: readonly string[] = [];
  const fromTheBeginning = { doneUntil: '1970-01-01' };
  const api = (
    path: string,
    init: { method?: string; body?: string; headers?: Record<string, string> } = {},
    withKey = key,
  ): Promise<Response> =>
    fetch(`${stack.machine.apiUrl}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${withKey}`, 'content-type': 'application/json', ...init.headers },
    });

  beforeAll(async () => {
    stack = await newStack(afterAll);
    // The erasure by age finds nothing yet, and notes so.
    await stack.machine.advance(1_000);
    expect(await createAgeStore(stack.operator.table).read()).not.toEqual(fromTheBeginning);
    const { code, out, complaint } = await stack.admin('import', '--from', exported).ended;
    expect(code, complaint).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      accounts: 2,
      creations: 4,
      books_equal: true,
      already_imported: false,
      invited: ['dev@example.com', 'late@example.com', 'owner@example.com'],
    });
    atImport = await itemsOf(stack.operator);
    expect(await createAgeStore(stack.operator.table).read()).toEqual(fromTheBeginning);
  });

  it('brings every item as it was, but those of requests and people', () => {
    const kindsIn = (items: readonly string[], others: readonly string[]): string[] => {
      const known = new Set(others);
      const kinds = items.filter((item) => !known.has(item)).map((item) => kindOf(JSON.parse(item) as Item));
      return [...new Set(kinds)].sort();
    };
    const passing = ['HELD', 'INVITATIONS_SENT', 'LEASE', 'LINK', 'POLL', 'RATE', 'RETRY', 'TEST_DELIVERY'];
    const ofPeople = ['INVITATION', 'INVITED', 'MEMBER', 'PEOPLE', 'PERSON'];
    const lost = kindsIn(atExport, atImport);
    expect(lost.filter((kind) => ![...passing, ...ofPeople].includes(kind))).toEqual([]);
    expect(lost).toEqual(expect.arrayContaining(['LEASE', 'MEMBER', 'RATE']));
    expect(kindsIn(atImport, atExport)).toEqual(['INVITATION', 'INVITED']);
  });

  it('brings equal books, wallets, keys and caps', async () => {
    const books = (JSON.parse(readFileSync(join(exported, 'export.json'), 'utf8')) as { books: object })
      .books;
    expect(books).toMatchObject({ accounts: 2, creations: 4, credit_line_micros: 5_000_000 });
    const manifest = JSON.parse(readFileSync(join(exported, 'export.json'), 'utf8')) as { items: object };
    expect(manifest.items).toMatchObject({ FILLER: fillers, ACCOUNT: 2, UPLOAD: 1, USAGE: 1 });
    expect(manifest.items).toHaveProperty('RETRY', 1);
    expect(await differencesIn(stack.operator.table)).toEqual([]);
    for (const { id } of [account, poor]) {
      const there = await stack.operator.accounts.read(id);
      // The hanging creation of a test above is younger than the export.
      expect(there).toEqual({
        ...(await source.accounts.read(id)),
        inFlight: 0,
        availableMicros: there?.availableMicros,
      });
      expect(await stack.operator.accounts.listKeys(id)).toHaveLength(1);
    }
    const balance = (await (await api('/balance', {}, poorKey)).json()) as { balance: number };
    expect(balance).toMatchObject({ balance: (await send('/balance', undefined, poorKey))['balance'] });
  });

  it('serves old creations and their images, under the new addresses', async () => {
    for (const id of [ids.completed, ids.private]) {
      const { result_urls: urls } = (await (await api(`/creations/${id}`)).json()) as {
        result_urls: string[];
      };
      expect(urls[0]?.startsWith(new URL(stack.machine.apiUrl).origin)).toBe(true);
      const image = await fetch(urls[0] ?? '');
      expect(image.headers.get('content-type')).toBe('image/png');
      expect(Buffer.from(await image.arrayBuffer())).toEqual((await results(id))[0]);
      const small = await fetch(String(urls[0]).replace('.png', '-96.webp'));
      expect([small.status, small.headers.get('content-type')]).toEqual([200, 'image/webp']);
    }
    expect(await (await api(`/creations/${ids.failed}`)).json()).toMatchObject({ status: 'failed' });
  });

  it('goes on with the events behind an old cursor, once each', async () => {
    const { data: events } = (await (await api(`/events?after=${cursor}`)).json()) as {
      data: { payload: { id: string; result_urls?: string[]; metadata: object } }[];
    };
    expect(events.map(({ payload }) => payload.id)).toEqual([ids.completed, ids.failed, ids.private]);
    const [first] = events;
    expect((await fetch(first?.payload.result_urls?.[0] ?? '')).status).toBe(200);
    // The text of a client stays as it was.
    expect(JSON.stringify(first?.payload.metadata)).toContain(`${publicUrl}/_results/mine`);
  });

  it('sends nothing again, and starts no execution', async () => {
    const before = received.length;
    await stack.machine.advance(3_600);
    expect(stack.machine.executions.list()).toEqual([]);
    // A table with a stream would run a function for every item.
    expect(readFileSync(await synthesizedTemplate(), 'utf8')).not.toMatch(
      /StreamSpecification|EventSourceMapping/,
    );
    expect(received).toHaveLength(before);
    expect(received.map(({ headers }) => headers['x-darkroom-notice'] ?? headers['x-webhook-event'])).toEqual(
      expect.arrayContaining(['creation.completed', 'creation.failed', 'wallet.low']),
    );
  });

  it('invites the people whom links let in, with their roles', async () => {
    const { people, clock } = stack.operator;
    expect(await people.listOperators()).toEqual([]);
    const open = await people.invitationsTo(invitationIdOf('owner@example.com'));
    expect(open.map(({ role }) => role).sort()).toEqual(['operator', 'owner']);
    for (const email of ['owner@example.com', 'dev@example.com', 'late@example.com'])
      expect(typeof (await signIn(stack.operator, 'https://issuer.example', email))).toBe('object');
    expect(
      (await people.listMembers(account.id))
        .map(({ email, role, keyCapMicros }) => [email, role, keyCapMicros])
        .sort(),
    ).toEqual([
      ['dev@example.com', 'developer', 2_000_000],
      ['late@example.com', 'developer', undefined],
      ['owner@example.com', 'owner', undefined],
    ]);
    expect((await people.listOperators()).map(({ email }) => email)).toEqual(['owner@example.com']);
    expect(clock.now()).toBeGreaterThan(0);
  });

  it('is repeated without a change', async () => {
    const before = await itemsOf(stack.operator);
    const { code, out } = await stack.admin('import', '--from', exported).ended;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ already_imported: true });
    expect(await itemsOf(stack.operator)).toEqual(before);
  });

  it('refuses a service that holds something', async () => {
    await expect(importService(source, exported, () => undefined)).rejects.toThrow('is not empty');
  });

  it('charges a new creation right, with an old upload, and signs its webhook with the old secret', async () => {
    const refused = await api('/images/generate', {
      method: 'POST',
      body: JSON.stringify({ model: 'sandbox-sketch', prompt: 'x' }),
    });
    expect(refused.status).toBe(503);
    expect((await stack.admin('service', 'open').ended).code).toBe(0);
    const before = await stack.operator.accounts.read(account.id);
    const sent = received.length;
    const place = { machine: stack.machine, operator: stack.operator };
    const id = await submit(place, key, {
      model: 'sandbox-standard',
      prompt: 'another lake',
      image_urls: [upload],
      webhook_url: hook,
    });
    const creation = await settled(place, id);
    expect(creation).toMatchObject({ status: 'completed', webhook: { status: 'delivered' } });
    const after = await stack.operator.accounts.read(account.id);
    expect(Number(before?.availableMicros) - Number(after?.availableMicros)).toBe(creation.costMicros);
    expect(creation.costMicros).toBeGreaterThan(0);
    const [webhook] = received.slice(sent);
    expect(received).toHaveLength(sent + 1);
    await expect(
      verifyWebhook(webhook ?? { headers: {}, body: '' }, secret, { toleranceSeconds: 7_200 }),
    ).resolves.toMatchObject({ id });
    expect(await differencesIn(stack.operator.table)).toEqual([]);
  });

  it('answers a repeated request with its old creation, and sends no threshold alert again', async () => {
    const sent = received.length;
    const repeated = await api('/images/generate', {
      method: 'POST',
      headers: { 'idempotency-key': 'once' },
      body: JSON.stringify({ model: 'sandbox-sketch', prompt: 'no webhook' }),
    });
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(await repeated.json()).toMatchObject({ id: ids.private });
    const place = { machine: stack.machine, operator: stack.operator };
    await settled(
      place,
      await submit(place, poorKey, { model: 'sandbox-sketch', prompt: 'below the threshold' }),
    );
    await stack.machine.advance(120);
    expect(received).toHaveLength(sent);
  });
});

const mostKills = Number(process.env['IMPORT_KILLS'] ?? 4);

describe('an import that is killed', () => {
  /** Kills the command at this call of AWS, before or after it is served. False: it ended before. */
  async function killAt({ machine, admin }: StandInStack, last: number, isServed: boolean): Promise<boolean> {
    const child = admin('import', '--from', exported);
    let calls = 0;
    machine.interceptAws(async (_call, serve) => {
      calls += 1;
      if (calls !== last) return serve();
      if (isServed) await serve();
      child.kill();
      return new Promise(() => undefined);
    });
    const { code, complaint } = await child.ended;
    machine.interceptAws((_call, serve) => serve());
    if (code !== null) expect(code, complaint).toBe(0);
    return code === null;
  }

  it(`${mostKills} times gives the same table as one that was not`, { timeout: 240_000 }, async () => {
    const calm = await newStack();
    expect((await calm.admin('import', '--from', exported).ended).code).toBe(0);
    const wanted = await itemsOf(calm.operator);
    let kills = 0;
    while (kills < mostKills) {
      const rough = await newStack();
      // A whole import makes some 160 calls.
      const random = (): number => 1 + Math.floor(Math.random() * 160);
      while (kills < mostKills && (await killAt(rough, random(), Math.random() < 0.5))) kills += 1;
      expect(await killAt(rough, Infinity, false)).toBe(false);
      expect(await itemsOf(rough.operator)).toEqual(wanted);
    }
  });
});

describe('an import into a busy table', () => {
  it('waits, and comes to equal books', { timeout: 240_000 }, async () => {
    const { machine, operator } = await newStack();
    machine.faults.set({
      call: 'dynamodb:BatchWriteItem',
      error: 'ProvisionedThroughputExceeded',
      share: 0.3,
    });
    machine.faults.set({ call: 'dynamodb:BatchWriteItem', error: 'UnprocessedKeys', every: 5 });
    machine.faults.set({ call: 'dynamodb:Scan', error: 'InternalServerError', every: 3 });
    machine.faults.set({ call: 'dynamodb:PutItem', error: 'Timeout', when: 'after', every: 4 });
    machine.faults.set({ call: 's3:PutObject', error: 'Throttling', every: 2 });
    machine.faults.set({ call: 'secretsmanager:PutSecretValue', error: 'InternalServerError', every: 2 });
    const lines: string[] = [];
    const told: string[] = [];
    const registerUser = (email: string): Promise<'sent'> => {
      told.push(email);
      return told.length === 1 ? Promise.reject(new Error('Cognito is busy')) : Promise.resolve('sent');
    };
    const withPool = { ...operator, emailsADay: 2, registerUser };
    const { books, unreached } = await importService(withPool, exported, (line) => lines.push(line()));
    expect(books).toMatchObject({ accounts: 2, creations: 4 });
    expect(told).toEqual(['dev@example.com', 'late@example.com']);
    expect(unreached).toEqual(['owner@example.com', 'dev@example.com']);
    // All but accounts and people.
    expect(lines.find((line) => line.endsWith(' items'))).toBe('1000 items');
    machine.faults.clear();
    expect(await differencesIn(operator.table)).toEqual([]);
  });

  it('finds what somebody else wrote, and goes on when that is gone', async () => {
    const { operator, machine } = await newStack();
    const strange = { pk: 'ACCOUNT#x', sk: 'STRANGE' };
    const images: typeof operator.raw.images = {
      ...operator.raw.images,
      put: async (...given) => {
        await putItem(operator.table, strange);
        await operator.raw.images.put(...given);
      },
    };
    const disturbed = { ...operator, raw: { ...operator.raw, images } };
    await expect(importService(disturbed, exported, () => undefined)).rejects.toThrow(
      'differ from the export',
    );
    expect(await operator.accounts.list()).toEqual([]);
    expect(await createAgeStore(operator.table).read()).toEqual({ doneUntil: '9999-12-31' });
    await deleteItem(operator.table, strange);
    // The time to live of an item may end before the items are read back.
    machine.interceptAws(async (call, serve) => {
      if (call.operation === 'Scan') await deleteItem(operator.table, passing());
      return serve();
    });
    await importService(operator, exported, () => undefined);
    machine.interceptAws((_call, serve) => serve());

    // A run that was killed at its end overwrites no door.
    const mark = {
      UpdateExpression: 'SET phase = :phase',
      ExpressionAttributeValues: { ':phase': 'opening' },
    };
    await updateItem(operator.table, { pk: 'IMPORT', sk: 'IMPORT' }, mark);
    await operator.accounts.change(account.id, { name: 'changed' });
    const { isRepeated } = await importService(operator, exported, () => undefined);
    expect(isRepeated).toBe(false);
    expect(await operator.accounts.read(account.id)).toMatchObject({ name: 'changed' });
    // Money that differs is reported.
    await updateItem(operator.table, { pk: 'IMPORT', sk: 'IMPORT' }, mark);
    await operator.wallet.topUp(account.id, asMicros(1), 'early');
    await expect(importService(operator, exported, () => undefined)).rejects.toThrow('The books differ');
  });
});
