/**
 * The examples of docs/api.md, of docs/openapi.json and of the README are what the service answers today. Each block of JSON has
 * a name (```json example=NAME), and each name has a call here. Where a page shows a curl command for the
 * answer (```console example=NAME, or the block before the JSON), the test sends exactly this request.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { startBucketServer } from '../../lab/buckets/bucket-server.ts';
import { type OperationName, operations } from '../../service/contract/operations.ts';
import documented from '../../service/document/examples.json' with { type: 'json' };
import { documentation } from '../../service/document/operations.ts';
import { setNotices } from '../../service/notices/alert-settings.ts';
import { asMicros } from '../../service/values/money.ts';
import { type Answer, type Client, sharedTestService, type TestService } from '../fixtures/service.ts';
import { png } from '../whole/image-origin.ts';
import { commandOf, type Page, readPage } from './pages.ts';

const api = readPage('docs/api.md');
const readme = readPage('README.md');

let service: TestService;
/** The client of the page's story: it sends the first request of the README, then that of the page. */
let client: Client;
/** By the name of the example. */
const answers = new Map<string, unknown>();
/** The creation of the README. */
let orderedFirst = '';
const onEnd: (() => Promise<void>)[] = [];
const heads = new Map<string, Answer>();

interface Sending {
  readonly page?: Page;
  readonly by?: Client | 'stranger';
  /** Of the creation that the request asks for. */
  readonly id?: string;
  /** Of the events that the request asks for. */
  readonly cursor?: string;
}

/** Addresses of the page that this machine cannot reach. */
const inboxOrHook = /http:\/\/127[^"]*inbox|https:\/\/example\.com\/hooks\/darkroom/;

/** Sends the request that the page shows, and keeps the answer under the name of the example. */
async function sendShown(
  example: string,
  { page = api, by = client, id = '', cursor = '' }: Sending = {},
): Promise<Answer> {
  const { path, body, headers } = commandOf(page, example);
  const answer = await service.send(
    path.replace(/(?<=\/creations\/)[\w-]+/, id).replace(/(?<=after=)[\w-]+/, cursor),
    {
      key: by === 'stranger' ? null : by.key,
      headers,
      ...(body !== undefined && { body: body.replace(inboxOrHook, service.machine.inboxUrl) }),
    },
  );
  answers.set(example, answer.body);
  heads.set(example, answer);
  return answer;
}

/** Sends a request that the page describes in words. */
async function generate(example: string, by: Client, body: object): Promise<Answer> {
  const answer = await service.send('/images/generate', { key: by.key, body });
  answers.set(example, answer.body);
  return answer;
}

const created = z.object({ id: z.string() });
const idOf = ({ body }: Answer): string => created.parse(body).id;

const received = z.object({ data: z.array(z.object({ id: z.string().nullable(), body: z.unknown() })) });

/** The webhook of a creation, as the inbox of the local service received it. */
async function webhookOf(id: string): Promise<unknown> {
  for (;;) {
    const inbox = received.parse(await (await fetch(service.machine.inboxUrl)).json());
    const webhook = inbox.data.find((one) => one.id === id);
    if (webhook) return webhook.body;
    await sleep(50);
  }
}

const noticeSchema = z.object({ notice: z.string(), key: z.looseObject({ id: z.string() }) });

/** The notice of a key that has spent four fifths of its cap. Its id and its month are those of the page. */
async function reachTheCap(): Promise<void> {
  const { account, key } = await service.client({ monthlyCap: '0.05' });
  const lowBalanceMicros = asMicros(5_000_000);
  await setNotices(account.id, { noticeUrl: service.machine.inboxUrl, lowBalanceMicros }, service.operator);
  await service.send('/images/generate', { key, body: { model: 'sandbox-standard', prompt: 'a boat' } });
  for (;;) {
    const inbox = received.parse(await (await fetch(service.machine.inboxUrl)).json());
    const notice = inbox.data.flatMap(({ body }) => noticeSchema.loose().safeParse(body).data ?? [])[0];
    if (notice) {
      answers.set('notice', { ...notice, key: { ...notice.key, id: 'q3V8xT', period: '2026-11' } });
      return;
    }
    await sleep(50);
  }
}

const cursorSchema = z.object({ next_cursor: z.string() });
const ask = (path: string): Promise<Answer> => service.send(path, { key: client.key });

/** The story of the pages: a first request, a second one, and what a client asks about them. */
async function runTheStory(): Promise<void> {
  client = await service.client();
  const first = await sendShown('first-request', { page: readme });
  orderedFirst = idOf(first);
  await service.ended(orderedFirst);
  answers.set('webhook', await webhookOf(idOf(first)));
  const cursor = cursorSchema.parse((await ask('/events')).body).next_cursor;
  const second = await sendShown('accepted');
  await service.ended(idOf(second));
  await sendShown('completed', { id: idOf(second) });
  await sendShown('creations');
  await sendShown('events', { cursor });
  await sendShown('balance');
  await sendShown('quote');
  const announced = { key: client.key, body: documentation.createUpload.body?.examples['png'] ?? {} };
  answers.set('upload', (await service.send('/uploads', announced)).body);
  const { data } = z.object({ data: z.array(z.unknown()) }).parse((await sendShown('models')).body);
  answers.set('models', { data: data.slice(0, 1) });
  await cancelSome(idOf(second));
  await mintAToken();
  await addAnEndpoint();
  await setABucket(idOf(second));
}

/** The bucket of the page is one of this machine. */
const pageBucket = documentation.setBucket.body?.examples['aws'] as {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly credentials: { readonly access_key_id: string; readonly secret_access_key: string };
};
let bucketUrl = '';

async function setABucket(completed: string): Promise<void> {
  const { endpoint, bucket, region, credentials } = pageBucket;
  const server = await startBucketServer({
    ...{ bucket, region, now: () => service.operator.clock.now() },
    accessKeyId: credentials.access_key_id,
    secretAccessKey: credentials.secret_access_key,
  });
  onEnd.push(() => server.end());
  bucketUrl = server.url;
  const { path, body } = commandOf(api, 'bucket');
  const asked = { key: client.key, method: 'PUT', body: JSON.parse(body ?? '') as object };
  const set = await service.send(path, { ...asked, body: { ...asked.body, endpoint: server.url } });
  answers.set('bucket', { ...(set.body as object), endpoint });
  const again = { key: client.key, body: { creation_id: completed } };
  answers.set('copied-again', (await service.send('/results/bucket', again)).body);
}

/** An endpoint that is switched off. Its id and its address are those of the page. */
async function addAnEndpoint(): Promise<void> {
  const { id, url } = documented.endpoint;
  const added = await sendShown('endpoint');
  const keep = (name: string, body: unknown): void =>
    void answers.set(name, { ...(body as object), id, url });
  keep('endpoint', added.body);
  answers.set('endpoints', { data: [answers.get('endpoint')] });
  const path = `/webhooks/endpoints/${idOf(added)}`;
  expect((await ask('/webhooks/endpoints')).body).toEqual({ data: [added.body] });
  const off = documentation.changeEndpoint.body?.examples['off'] ?? {};
  keep('endpoint-off', (await service.send(path, { key: client.key, method: 'PATCH', body: off })).body);
}

/** A token that has made a creation, and is revoked. Its id and its text are those of the page. */
async function mintAToken(): Promise<void> {
  const minted = await sendShown('minted');
  const { id, token } = z.object({ id: z.string(), token: z.string() }).parse(minted.body);
  const order = { key: token, body: { model: 'sandbox-standard', prompt: 'a boat' } };
  expect((await service.send('/images/generate', order)).status).toBe(202);
  answers.set('minted', {
    ...(minted.body as object),
    id: documented.minted.id,
    token: documented.minted.token,
  });
  const seen = await ask(`/user-tokens/${id}`);
  const revoked = await service.send(`/user-tokens/${id}/revoke`, { key: client.key, method: 'POST' });
  for (const [name, { body }] of Object.entries({ 'user-token': seen, 'revoked-token': revoked })) {
    expect(body).toMatchObject({ id });
    answers.set(name, { ...(body as object), id: documented.minted.id });
  }
}

async function newEndpoint(key: string): Promise<string> {
  const body = { url: service.machine.inboxUrl, events: ['creation.failed'] };
  return idOf(await service.send('/webhooks/endpoints', { key, body }));
}

/** Creations are accepted and stay open, until the faults are cleared. */
function startNothing(): void {
  service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
}

/** A creation that nobody has started yet, and one that has ended. */
async function cancelSome(ended: string): Promise<void> {
  const other = await service.client();
  startNothing();
  const body = { model: 'sandbox-standard', prompt: 'a boat' };
  const id = idOf(await service.send('/images/generate', { key: other.key, body }));
  const early = commandOf(api, 'not-deletable').path.replace(/[\w-]+$/, id);
  answers.set('not-deletable', (await service.send(early, { key: other.key, method: 'DELETE' })).body);
  const noResults = commandOf(api, 'no-results').path.replace(/[\w-]+(?=\/results$)/, id);
  answers.set('no-results', (await service.send(noResults, { key: other.key, method: 'DELETE' })).body);
  const { path } = commandOf(api, 'cancelled');
  const cancelled = path.replace(/(?<=\/creations\/)[\w-]+/, id);
  answers.set('cancelled', (await service.send(cancelled, { key: other.key, method: 'POST' })).body);
  const late = await service.send(`/creations/${ended}/cancel`, { key: client.key, method: 'POST' });
  answers.set('not-cancellable', late.body);
  service.machine.faults.clear();
}

async function askForFailures(): Promise<void> {
  const other = await service.client();
  const failing = 'a fox [sandbox:fail]';
  await sendShown('key-missing', { by: 'stranger' });
  await sendShown('failed-while-waiting', { by: other });
  const failed = await service.send('/images/generate', {
    key: other.key,
    body: { model: 'sandbox-sketch', prompt: failing, webhook_url: service.machine.inboxUrl },
  });
  answers.set('webhook-of-a-failure', await webhookOf(idOf(failed)));
  const wrong = { model: 'sandbox-standard', prompt: 'a boat', resolution: '8K', promt: 'a boat' };
  await generate('invalid-request', other, wrong);
  const { data, ...page } = (await sendShown('requests', { by: other })).body as { data: object[] };
  const [shown] = documented.requests.data;
  const { key, duration_ms, request_id } = shown ?? {};
  const row = { ...data[0], key, duration_ms, request_id };
  answers.set('requests', { ...page, data: [row] });
  await generate('source-not-fetched', other, {
    model: 'sandbox-pro',
    prompt: 'a boat',
    image_urls: [await addressWithoutImage()],
  });
}

/** An address of this machine whose every answer is 404. */
async function addressWithoutImage(): Promise<string> {
  const origin = createServer((_request, response) => response.writeHead(404).end());
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  origin.unref();
  const address = origin.address();
  return `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}/gone.png`;
}

async function askForRefusals(): Promise<void> {
  const standard = { model: 'sandbox-standard', prompt: 'a boat' };
  const sketch = { model: 'sandbox-sketch', prompt: 'a boat' };
  await generate('over-balance', await service.client({ balance: '0.02' }), standard);
  await generate('over-budget', await service.client({ monthlyCap: '0.005' }), sketch);
  const narrow = await service.client({ maxConcurrent: '1' });
  startNothing();
  await generate('too-many-open', narrow, sketch);
  await generate('too-many-open', narrow, sketch);
  service.machine.faults.clear();
  // A minute of the clock may end between two requests, so that a seventh one is not enough.
  const slow = await service.client({ postRate: '6' });
  for (let status = 200; status !== 429;) {
    const answer = await service.send('/images/quote', { key: slow.key, body: sketch });
    answers.set('rate-used-up', answer.body);
    status = answer.status;
  }
  const late = await service.client();
  service.machine.faults.set({ call: 'dynamodb:TransactWriteItems', error: 'Throttling', times: 1_000 });
  await generate('overloaded', late, sketch);
  service.machine.faults.clear();
}

beforeAll(async () => {
  service = await sharedTestService();
  await runTheStory();
  await askForFailures();
  await askForRefusals();
  await reachTheCap();
});
afterAll(async () => {
  for (const end of onEnd) await end();
  await service.end();
});

/** What is new in every run, under the same names on the page and in the answer. */
function normalised(value: unknown): unknown {
  if (typeof value === 'string')
    return value
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
      .replace(
        /http:\/\/127\.0\.0\.1:\d+\/\w+\/uploads\/[\w-]{32}\.png\?X-Amz-.*X-Amz-Signature=\w+/,
        'SIGNED',
      )
      .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'SERVICE')
      .replace(/results\/[\w-]{32}\./g, 'results/KEY.');
  if (Array.isArray(value)) return value.map(normalised);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'bytes' || name === 'next_cursor' ? typeof member : normalised(member),
    ]),
  );
}

const examples = [
  ...[api, readme].flatMap(({ path, blocks }) =>
    blocks
      .filter(({ language }) => language === 'json')
      .map(({ example, text }) => ({ path, example: example ?? `${text.slice(0, 60)} …`, text })),
  ),
  ...Object.entries(documented).map(([example, value]) => ({
    path: 'docs/openapi.json',
    example,
    text: JSON.stringify(value),
  })),
];

/** The examples of requests in docs/openapi.json. */
const requests = (Object.keys(operations) as OperationName[]).flatMap((name) =>
  Object.entries(documentation[name].body?.examples ?? {}).map(([example, body]) => ({
    name,
    example,
    body,
  })),
);

describe('The JSON examples of the documentation', () => {
  it.each(examples)('The example $example of $path is what the service answers', ({ example, text }) => {
    expect([...answers.keys()], 'a block of JSON without a call in this test').toContain(example);
    expect(normalised(JSON.parse(text))).toEqual(normalised(answers.get(example)));
  });

  it('Every call of this test belongs to an example of a page', () => {
    const names = new Set(examples.map(({ example }) => example));
    expect([...answers.keys()].sort()).toEqual([...names].sort());
  });

  it('Every curl command of docs/api.md is sent', () => {
    const commands = api.blocks.flatMap(({ text, example }, index) =>
      text.includes('curl ') ? [example ?? api.blocks[index + 1]?.example ?? text] : [],
    );
    expect(commands.length).toBeGreaterThan(9);
    expect(commands.filter((name) => !answers.has(name))).toEqual(['upload-script']);
  });

  it.each(requests)('The service accepts the example $example of a request for $name', async (request) => {
    startNothing();
    const { key } = request.name === 'copyAgain' ? client : await service.client();
    const { method, path } = operations[request.name];
    const id = path === operations.changeEndpoint.path ? await newEndpoint(key) : '';
    const body = JSON.stringify(request.body)
      .replace(inboxOrHook, service.machine.inboxUrl)
      .replace(pageBucket.endpoint, bucketUrl)
      .replace(documented.completed.id, orderedFirst);
    const headers = { 'content-type': 'application/json' };
    const answer = await service.send(path.replace('{id}', id), { method, key, body, headers });
    service.machine.faults.clear();
    expect(answer.status).toBeLessThan(300);
  });

  it('The commands of an upload work as they are shown', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'darkroom-upload-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'lake.png'), png(640, 480, 5_000));
    const script = api.blocks.find((block) => block.example === 'upload-script')?.text ?? '';
    const { stdout } = await promisify(execFile)('bash', ['-c', script], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', API: service.machine.apiUrl, KEY: client.key },
    });
    const record: unknown = await service.ended(created.parse(JSON.parse(stdout)).id);
    expect(record).toMatchObject({ status: 'completed', sources: [{ width: 640, bytes: 5_000 }] });
  });

  it.each(['key-missing', 'accepted'])('The answer %s has every header that the page shows', (example) => {
    const { answered } = commandOf(api, example);
    expect(answered.length).toBeGreaterThan(2);
    expect(answered.filter((name) => heads.get(example)?.headers.has(name) !== true)).toEqual([]);
  });
});
