/**
 * An own GPU behind vLLM-Omni, added by the three commands of docs/providers.md, and an own catalog that changes
 * while clients use it. The tests follow each other.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startFakeServer } from '../../../lab/vendors/fakes/compatible/server.ts';
import type { FakeVendor } from '../../../lab/vendors/fakes/fake-vendor.ts';
import { deleteItem, updateItem } from '../../../service/aws/dynamodb/send.ts';
import { keys } from '../../../service/aws/dynamodb/table.ts';
import type { CreationRecord } from '../../../service/creations/creation.ts';
import type { CreationId } from '../../../service/values/ids.ts';
import { admin, adminJson, refusal } from '../../admin/admin-run.ts';
import { root } from '../../docs/pages.ts';
import { type Answer, type Client, startTestService, type TestService } from '../../fixtures/service.ts';
import { generations, type ToolResult } from '../../mcp/clients.ts';
import { commandsOfThePage } from './page-commands.ts';

let gpu: FakeVendor;
let service: TestService;
let client: Client;
beforeAll(async () => {
  gpu = await startFakeServer('vllm-omni');
  service = await startTestService();
  client = await service.client({ balance: '10' });
});
afterEach(() => service.machine.faults.clear());
afterAll(async () => {
  await service.end();
  await gpu.stop();
});

const run = async (...args: readonly string[]): ReturnType<typeof adminJson> =>
  adminJson(service.folder, ...args);
const refused = async (...args: readonly string[]): Promise<string> => refusal(service.folder, ...args);

const commandsOfGpu = (): string[][] =>
  commandsOfThePage('providers add gpu', 'http://10.0.0.5:8000', gpu.url);

const order = async (model = 'qwen-image', prompt = 'a lake'): Promise<Answer> =>
  service.send('/images/generate', { key: client.key, body: { model, prompt } });

function idOf({ status, body }: Answer): CreationId {
  expect(status).toBe(202);
  return (body as { id: CreationId }).id;
}

const ended = async (id: CreationId): Promise<CreationRecord> => (await service.ended(id)) as CreationRecord;

/** Writes a file of the operator, and gives its path. */
function fileOf(content: object | string): string {
  const path = join(service.folder, 'own-catalog.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const setFile = async (content: object): ReturnType<typeof adminJson> =>
  run('catalog', 'set', fileOf(content));

describe('An own GPU', () => {
  it('renders its first picture after three commands, at its price', async () => {
    const commands = commandsOfGpu();
    expect(commands).toHaveLength(3);
    const said = [];
    for (const command of commands) said.push(await run(...command));
    expect(said).toMatchObject([
      { provider: 'gpu', enabled: true, replaced: false },
      { data: [{ provider: 'gpu', verdict: 'accepted' }] },
      { data: [{ model: 'qwen-image', change: 'added', prices: ['1K 0.03'] }] },
    ]);
    const creation = await ended(idOf(await order()));
    expect(creation).toMatchObject({
      status: 'completed',
      costMicros: 30_000,
      results: [{ width: 1024, height: 1024, contentType: 'image/png' }],
      attempts: [{ provider: 'gpu', outcome: 'rendered', providerCostMicros: 10_000 }],
    });
    expect(creation.catalogRevision).toMatch(/^2-/);
    expect(gpu.received.at(-1)).toMatchObject({
      path: '/v1/images/generations',
      json: { size: '1024x1024' },
    });
    expect(gpu.received.at(-1)?.headers['authorization']).toBeUndefined();
  });

  it.each([
    ['down', 'ServiceUnavailable'],
    ['error', 'GenerationFailed'],
    ['empty', 'NothingRendered'],
  ])('refunds a creation in full when the GPU answers %s', async (row, failure) => {
    const before = (await service.account(client.account.id)).availableMicros;
    const creation = await ended(idOf(await order('qwen-image', `a lake [row:${row}]`)));
    expect(creation).toMatchObject({ status: 'failed', failure, refundedMicros: 30_000 });
    expect((await service.account(client.account.id)).availableMicros).toBe(before);
  });

  it('is in every list, and never with more than what was configured', async () => {
    const { data } = await run('providers', 'list');
    expect(data).toContainEqual({
      provider: 'gpu',
      title: 'gpu',
      key: 'none needed',
      enabled: 'yes',
      models: ['qwen-image'],
      access: gpu.url,
      paused_since: null,
      pause_reason: null,
    });
    expect(await run('providers', 'show', 'gpu')).toMatchObject({
      provider: 'gpu',
      style: 'vllm-omni',
      base_url: gpu.url,
      network: 'private',
      key: 'none needed',
    });
    expect(await refused('providers', 'show', 'openai')).toContain(
      'You have configured no provider "openai"',
    );
    // Some of our own figures are old, and the exit code says so.
    const rows: unknown = JSON.parse((await admin(service.folder, '--json', 'catalog', 'check')).out);
    expect(rows).toHaveProperty('data');
    expect((rows as { data: unknown }).data).toContainEqual(
      expect.objectContaining({ model: 'qwen-image', price_usd: 0.03, cost_usd: 0.01, finding: null }),
    );
    await run('accounts', 'set', client.account.id, '--providers', 'gpu,sandbox');
    expect(await refused('accounts', 'set', client.account.id, '--providers', 'gpuu')).toContain('gpu.');
  });

  it('is sold by every endpoint', async () => {
    const get = async (path: string): Promise<Answer> => service.send(path, { key: client.key });
    const { body } = (await get('/models')) as { body: { data: Record<string, unknown>[] } };
    expect(body.data.find(({ id }) => id === 'qwen-image')).toMatchObject({ available: true });
    const quote = await service.send('/images/quote', {
      key: client.key,
      body: { model: 'qwen-image', prompt: 'a lake' },
    });
    expect(quote).toMatchObject({ status: 200, body: { cost: 0.03 } });
    const authorization = { authorization: `Bearer ${client.key}` };
    const ofLibrary = await fetch(`${service.machine.openaiUrl}/models/qwen-image`, {
      headers: authorization,
    });
    expect(ofLibrary.status).toBe(200);
    const picture = await fetch(`${service.machine.openaiUrl}/images/generations`, {
      method: 'POST',
      headers: { ...authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'qwen-image', prompt: 'a lake', size: '1024x1024' }),
    });
    expect(picture.status).toBe(200);
    await picture.arrayBuffer();
    const mcp = await generations['the client of 2026']?.(new URL(service.machine.mcpUrl), client.key);
    const tool = (await mcp?.callTool({
      name: 'generate_image',
      arguments: { model: 'qwen-image', prompt: 'a lake' },
    })) as ToolResult;
    expect(tool.structuredContent).toMatchObject({ status: 'completed', cost: 0.03 });
  });
});

describe('An own catalog that changes while clients use it', () => {
  it('sells at the price of the moment, and nothing while it cannot be read', async () => {
    const pricing = [{ resolution: '1K', usd: 0.5, usd_per_input_image: 0 }];
    const before = (await service.account(client.account.id)).availableMicros;
    await setFile({ models: { 'sandbox-sketch': { pricing } } });
    service.machine.faults.set({
      call: 'dynamodb:BatchGetItem',
      error: 'UnprocessedKeys',
      match: 'OPERATOR_CATALOG',
      times: 100,
    });
    expect(await order('sandbox-sketch')).toMatchObject({
      status: 503,
      body: { error: { details: { reason: 'overloaded' } } },
    });
    expect((await service.account(client.account.id)).availableMicros).toBe(before);
    service.machine.faults.clear();
    const creation = await ended(idOf(await order('sandbox-sketch')));
    expect(creation).toMatchObject({ status: 'completed', costMicros: 500_000 });
    const report = await run('catalog', 'show');
    expect(report).toEqual({ models: { 'sandbox-sketch': { pricing } }, costs: [] });
  });

  it('announces and withdraws a model, whose creations stay', async () => {
    const id = idOf(await order('sandbox-sketch'));
    await ended(id);
    const poll = async (): Promise<Answer> => service.send(`/creations/${id}`, { key: client.key });
    await setFile({ models: { 'sandbox-sketch': { deprecated_at: '2026-01-01', sunset_at: '2027-01-01' } } });
    const announced = await order('sandbox-sketch');
    expect(announced.headers.get('sunset')).toBe('Fri, 01 Jan 2027 00:00:00 GMT');
    expect((await poll()).status).toBe(200);
    await setFile({ models: { 'sandbox-sketch': null } });
    expect((await order('sandbox-sketch')).status).toBe(404);
    await service.machine.advance(61);
    const withdrawn = await poll();
    expect([withdrawn.status, withdrawn.headers.get('sunset')]).toEqual([200, null]);
    expect(await run('catalog', 'remove')).toMatchObject({
      data: [{ model: 'sandbox-sketch', change: 'added' }],
    });
    expect((await order('sandbox-sketch')).status).toBe(202);
    expect(await run('catalog', 'remove')).toEqual({ data: [] });
  });

  it('gives a creation its next route, or a refund, when its provider is removed', async () => {
    const commands = commandsOfGpu();
    await run(...(commands[2] ?? []));
    const { models } = (await run('catalog', 'show')) as { models: Record<string, { routes: object[] }> };
    const [route] = models['qwen-image']?.routes ?? [];
    const sandbox = { ...route, provider: 'sandbox', provider_model: 'sketch' };
    const both = { ...models['qwen-image'], routes: [route, sandbox] };
    await setFile({ models: { ...models, 'qwen-both': both } });
    // No execution starts, so that both creations are open while the provider goes.
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const [alone, withNext] = [idOf(await order()), idOf(await order('qwen-both'))];
    expect(await run('providers', 'remove', 'gpu')).toEqual({ provider: 'gpu', enabled: false });
    service.machine.faults.clear();
    await service.machine.advance(180);
    expect(await ended(alone)).toMatchObject({
      failure: 'ServiceUnavailable',
      refundedMicros: 30_000,
      attempts: [{ provider: 'gpu', outcome: 'unavailable' }],
    });
    expect(await ended(withNext)).toMatchObject({
      status: 'completed',
      attempts: [{ outcome: 'unavailable' }, { provider: 'sandbox', outcome: 'rendered' }],
    });
    expect((await order()).status).toBe(503);
    const check = await admin(service.folder, 'catalog', 'check');
    expect(check.code).toBe(1);
    expect(check.out).toContain('this provider was removed');
  });
});

describe('An item that somebody has deleted', () => {
  it('stops the sale, until a command stores another one', async () => {
    const { table } = service.operator;
    await deleteItem(table, keys.operatorCatalog());
    // Running functions keep the revision that they know, so another one stands for a function that begins.
    await updateItem(table, keys.service(), {
      UpdateExpression: 'SET catalogRevision = :other',
      ExpressionAttributeValues: { ':other': '99-other' },
    });
    expect(await order('sandbox-sketch')).toMatchObject({ status: 503 });
    await run('catalog', 'remove');
    expect((await order('sandbox-sketch')).status).toBe(202);
  });
});

describe('A wrong command about a provider or a catalog', () => {
  const adding = (name: string, url: string, ...more: readonly string[]): readonly string[] => [
    ...['providers', 'add', name, '--base-url', url],
    ...more,
  ];
  const x = 'https://x.test';
  it.each<[readonly string[], string]>([
    [adding('openai', x), 'the name: is the name of a provider that is built in.'],
    [adding('__proto__', x), 'the name: must match'],
    [adding('gpu', 'http://x.test'), '--base-url: must begin with https://'],
    [adding('gpu', 'https://10.0.0.5'), '--base-url: must lead to public addresses only.'],
    [
      adding('gpu', 'http://169.254.169.254', '--allow-private'),
      '--base-url: must not lead to a link-local address.',
    ],
    [adding('gpu', x, '--style', 'gpu'), '--style: must be one of "openai"'],
    [adding('gpu', x, '--set', 'sizes=tier'), '--set sizes: no style has this name.'],
    [adding('gpu', x, '--set', 'size=huge'), '--set size: must be one of'],
    [adding('gpu', x, '--set', 'size'), '--set: "size" must have the form NAME=VALUE.'],
    [['providers', 'remove', 'gpuu'], 'There is no provider "gpuu" with a key to set'],
    [['catalog', 'set', '/nowhere/own.json'], '/nowhere/own.json cannot be read'],
  ])('%j is refused in one sentence', async (args, sentence) => {
    expect(await refused(...args)).toContain(sentence);
  });

  it('A file of 1 MB is refused before it is read, and one that no item holds before it is stored', async () => {
    expect(await refused('catalog', 'set', fileOf(' '.repeat(1_000_000)))).toContain('has 1000000 bytes');
    const description = 'x'.repeat(400_000);
    const long = fileOf({ models: { 'sandbox-sketch': { description } } });
    expect(await refused('catalog', 'set', long)).toContain('one item of the table holds');
  });

  it('Each of several problems has a line', async () => {
    const models = { 'sandbox-sketch': { name: 1, description: 2 } };
    expect((await refused('catalog', 'set', fileOf({ models }))).split('\n')).toEqual([
      'There are 2 problems.',
      'models.sandbox-sketch.name: must be text in quotes; it is 1.',
      'models.sandbox-sketch.description: must be text in quotes; it is 2.',
    ]);
  });

  it('Of two operators at once, the second is asked to read again', async () => {
    const models = { 'sandbox-sketch': { name: 'Other' } };
    const results = await Promise.all(
      [1, 2].map(async () => admin(service.folder, 'catalog', 'set', fileOf({ models }))),
    );
    expect(results.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(results.map(({ complaint }) => complaint).join('')).toContain('look at it with `catalog show`');
  });
});

describe('A configured provider with a key', () => {
  it('gets the key with its calls, and no output or log shows the key', async () => {
    const key = 'key-of-the-own-gpu';
    const args = ['--data', service.folder, 'providers', 'add', 'locked', '--base-url', gpu.url];
    const child = spawn(process.execPath, ['bin/admin.ts', ...args, '--allow-private', '--key'], {
      cwd: root,
    });
    child.stdin.end(key);
    const said = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    expect(child.exitCode).toBe(0);
    const shown = [await run('providers', 'show', 'locked'), await run('providers', 'list')];
    await run('providers', 'check', 'locked');
    expect(gpu.received.at(-1)?.headers['authorization']).toBe(`Bearer ${key}`);
    expect(JSON.stringify([said, shown, service.log])).not.toContain(key);
    expect(shown).toMatchObject([{ key: 'set', enabled: 'yes' }, {}]);
    await run('providers', 'remove', 'locked');
    expect(await refused('providers', 'show', 'locked')).toContain('You have configured no provider');
  });
});
