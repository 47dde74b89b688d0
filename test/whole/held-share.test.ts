/**
 * One account fills its share of the slots for held requests, and another account is served: on all four doors. Each
 * function of a door may run four times at once, and an account may hold two requests.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Door } from '../../service/aws/dynamodb/table.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { type Client, startTestService } from '../fixtures/service.ts';
import { rpc } from '../mcp/mcp-fixture.ts';
import { everyAnswer } from './every-answer.ts';
import { heldSlots, submit } from './workflow/creations.ts';

const doors = ['OpenaiImages', 'Mcp', 'GenerateImage', 'ListEvents'];
const templateSchema = z.looseObject({
  Resources: z.record(
    z.string(),
    z.looseObject({
      Metadata: z.optional(z.record(z.string(), z.unknown())),
      Properties: z.optional(z.record(z.string(), z.unknown())),
    }),
  ),
});

const folder = await mkdtemp(join(tmpdir(), 'darkroom-held-'));
const service = await startTestService({
  environment: { HELD_LIMIT: '2' },
  templatePath: await templateWithSlots(4),
});
afterAll(async () => {
  await service.end();
  await rm(folder, { recursive: true, force: true });
});

/** The template, in which Lambda reserves so many executions for each door. */
async function templateWithSlots(slots: number): Promise<string> {
  const path = await synthesizedTemplate();
  const template = templateSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  for (const { Metadata, Properties } of Object.values(template.Resources)) {
    const asset = Metadata?.['aws:asset:path'];
    if (Metadata && typeof asset === 'string') Metadata['aws:asset:path'] = resolve(dirname(path), asset);
    if (Properties && doors.includes(String(Metadata?.['SamResourceId'])))
      Properties['ReservedConcurrentExecutions'] = slots;
  }
  const changed = join(folder, 'Darkroom.template.json');
  await writeFile(changed, JSON.stringify(template));
  return changed;
}

const slow = 'a lake [sandbox:delay=200s]';
const strangers = { postRate: '1000', maxConcurrent: '100' };

/** Waits until requests of the account hold so many slots. */
async function holding(slots: number, { account }: Client, door: Door): Promise<void> {
  while ((await heldSlots(service, account.id, door)) !== slots) await sleep(20);
}

const pageSchema = z.object({ data: z.array(z.object({ payload: z.object({ id: z.string() }) })) });

/** Ends every creation of the account, so that the requests that wait for them are answered. */
async function endAll({ account }: Client): Promise<void> {
  const { creations, charges, clock } = service.operator;
  const refund = { failure: 'GenerationFailed', nowMillis: clock.now(), announce: false } as const;
  for (const creation of await creations.list(account.id, 100)) await charges.refund(creation, refund);
}

interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function post(
  url: string,
  { key }: Client,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Received> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const balanceOf = async ({ account }: Client): Promise<number> =>
  (await service.account(account.id)).availableMicros;

describe('the OpenAI-shaped endpoint', () => {
  const draw = (client: Client, prompt: string, attempt: number): Promise<Received> =>
    post(
      `${service.machine.openaiUrl}/images/generations`,
      client,
      { model: 'sandbox-sketch', prompt },
      { 'x-stainless-retry-count': String(attempt) },
    );

  it('Of many tries of one call two are held, the others are answered at once, and another account gets its picture', async () => {
    const [one, other] = [await service.client(strangers), await service.client()];
    const tries = [draw(one, slow, 0)];
    await holding(1, one, 'images');
    tries.push(draw(one, slow, 1));
    await holding(2, one, 'images');
    for (let attempt = 2; attempt < 5; attempt += 1) {
      const beyond = await draw(one, slow, attempt);
      expect([beyond.status, beyond.headers.get('retry-after')], beyond.text).toEqual([504, '10']);
    }
    expect(await draw(one, 'another picture', 0)).toMatchObject({
      status: 429,
      text: expect.stringContaining(
        '"details":{"scope":"account","reason":"held_requests","limit":2}',
      ) as string,
    });
    expect((await draw(other, 'a lake', 0)).status).toBe(200);
    // One picture was charged, however often the call was tried.
    expect(await balanceOf(one)).toBe(25_000_000 - 10_000);
    await endAll(one);
    for (const { status } of await Promise.all(tries)) expect(status).toBe(502);
    await holding(0, one, 'images');
    expect((await draw(one, 'another picture', 0)).status).toBe(200);
  });
});

describe('MCP', () => {
  let calls = 0;
  const call = async (client: Client, name: string, args: object): Promise<Received> =>
    post(service.machine.mcpUrl, client, rpc('tools/call', { name, arguments: args }, (calls += 1)), {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    });

  it('Two calls of an account wait, the others give id and state at once, and another account gets its picture', async () => {
    const [one, other] = [await service.client(strangers), await service.client()];
    const ids = [1, 2, 3].map(() => submit(service, one.key, { model: 'sandbox-sketch', prompt: slow }));
    const [first = '', second = '', third = ''] = await Promise.all(ids);
    const waiting = [first, second].map((id) => call(one, 'get_creation', { id, wait_seconds: 50 }));
    await holding(2, one, 'mcp');
    const beyond = [
      await call(one, 'get_creation', { id: third, wait_seconds: 50 }),
      await call(one, 'generate_image', { model: 'sandbox-sketch', prompt: slow }),
    ];
    for (const { status, text } of beyond)
      expect([status, text]).toEqual([
        200,
        expect.stringMatching(/"id":"[0-9a-f-]{36}","status":"(queued|processing)"/),
      ]);
    const served = await call(other, 'generate_image', { model: 'sandbox-sketch', prompt: 'a lake' });
    expect(served.text).toContain('"status":"completed"');
    await endAll(one);
    for (const { text } of await Promise.all(waiting)) expect(text).toContain('"status":"failed"');
    await holding(0, one, 'mcp');
  });
});

describe('Prefer: wait', () => {
  const generate = async (
    { key }: Client,
    prompt: string,
  ): Promise<[status: number, applied: string | null]> => {
    const body = { model: 'sandbox-sketch', prompt };
    const headers = { prefer: 'wait=20' };
    const answer = await service.send('/images/generate', { key, body, headers });
    return [answer.status, answer.headers.get('preference-applied')];
  };

  it('Two requests of an account wait, the others are answered 202 at once, and another account gets its picture', async () => {
    const [one, other] = [await service.client(strangers), await service.client()];
    const waiting = [generate(one, slow), generate(one, slow)];
    await holding(2, one, 'generate');
    for (let sent = 0; sent < 3; sent += 1) expect(await generate(one, slow)).toEqual([202, null]);
    expect(await generate(other, 'a lake')).toEqual([200, 'wait=20']);
    await endAll(one);
    for (const [status] of await Promise.all(waiting)) expect(status).toBe(502);
    await holding(0, one, 'generate');
  });
});

describe('GET /events', () => {
  it('Two reads of an account wait, the others are answered at once, and a read of another account waits', async () => {
    const [one, other] = [await service.client(strangers), await service.client()];
    const read = async ({ key }: Client): Promise<string[]> => {
      const { text } = await service.send('/events?wait=20', { key });
      return pageSchema.parse(JSON.parse(text)).data.map(({ payload }) => payload.id);
    };
    const waiting = [read(one), read(one)];
    await holding(2, one, 'events');
    for (let sent = 0; sent < 3; sent += 1) expect(await read(one)).toEqual([]);
    const another = read(other);
    await holding(1, other, 'events');
    const [id, own] = [
      await submit(service, other.key, { model: 'sandbox-sketch', prompt: 'a lake' }),
      await submit(service, one.key, { model: 'sandbox-sketch', prompt: 'a lake' }),
    ];
    expect(await another).toEqual([id]);
    expect(await Promise.all(waiting)).toEqual([[own], [own]]);
    await holding(0, one, 'events');
  });
});

everyAnswer(() => service);
