/** Whom the sandbox is offered to, at every door of the service, and what only marked accounts may order of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { portalOf } from '../fixtures/portal.ts';
import { type Client, sharedTestService, startTestService, type TestService } from '../fixtures/service.ts';
import { idOf } from '../fixtures/values.ts';
import { generations, type ToolResult } from '../mcp/clients.ts';
import { everyAnswer } from './every-answer.ts';
import { fieldsOf, refusalOf } from './refusal.ts';
import { settled } from './workflow/creations.ts';

const stalling = ['[sandbox:hang]', '[sandbox:crash]', '[sandbox:delay=1s]', '[sandbox:async=1s]'];

interface Asked {
  readonly status: number;
  readonly text: string;
}

/** Asks the OpenAI-shaped endpoint. */
async function askOpenai(
  { machine }: TestService,
  { key }: Client,
  path: string,
  body?: object,
): Promise<Asked> {
  const answer = await fetch(`${machine.openaiUrl}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

async function callTool(
  { machine }: TestService,
  { key }: Client,
  name: string,
  args = {},
): Promise<ToolResult> {
  const mcp = await generations['the client of 2026']?.(new URL(machine.mcpUrl), key);
  return (await mcp?.callTool({ name, arguments: args })) as ToolResult;
}

/** Asks the portal as an owner of the account. */
async function ownerOf(
  service: TestService,
  { account }: Client,
): Promise<(method: string, path: string, body?: unknown) => Promise<Asked>> {
  const email = `${account.id.toLowerCase()}.${(people += 1)}@example.com`;
  const browser = await portalOf(service).join(account.id, email, 'owner');
  return (method, path, body) => browser.send(method, path, body);
}
let people = 0;

describe('a deployment with default settings', () => {
  let service: TestService;
  let stranger: Client;
  let marked: Client;
  beforeAll(async () => {
    service = await startTestService({ environment: { SANDBOX: 'marked' } });
    [stranger, marked] = await Promise.all([service.client({ sandbox: 'no' }), service.client()]);
  });
  afterAll(() => service.end());

  it('The lists of models have the sandbox for a marked account, and for no other account', async () => {
    for (const [client, isOffered] of [
      [marked, true],
      [stranger, false],
    ] as const) {
      const ask = await ownerOf(service, client);
      const lists = [
        (await service.send('/models', { key: client.key })).text,
        (await askOpenai(service, client, '/models')).text,
        JSON.stringify(await callTool(service, client, 'list_models')),
        (await ask('GET', '/models')).text,
        (await ask('GET', '/account')).text,
      ];
      expect(lists.map((text) => text.includes('sandbox-sketch'))).toEqual(lists.map(() => isOffered));
      // The models of vendors stay.
      expect(lists[0]).toContain('gpt-image-2');
    }
  });

  it('An unmarked account cannot order a picture of the sandbox at any door', async () => {
    const body = { model: 'sandbox-sketch', prompt: 'a lake [sandbox:hang]' };
    const ask = await ownerOf(service, stranger);
    for (const path of ['/images/generate', '/images/quote'])
      expect(refusalOf(await service.send(path, { key: stranger.key, body }))).toMatchObject({
        status: 404,
        code: 'ERR_MODEL_NOT_FOUND',
      });
    for (const [path, sent] of [
      ['/images/generations', body],
      ['/models/sandbox-sketch', undefined],
    ] as const)
      expect(await askOpenai(service, stranger, path, sent)).toMatchObject({ status: 404 });
    for (const name of ['generate_image', 'quote_image'])
      expect(await callTool(service, stranger, name, body)).toMatchObject({ isError: true });
    for (const path of ['/creations', '/quote'])
      expect(await ask('POST', path, body)).toMatchObject({ status: 404 });
    expect(service.machine.executions.list()).toEqual([]);
    expect((await service.account(stranger.account.id)).availableMicros).toBe(25_000_000);
  });

  it('The operator marks an account and takes the mark back, from the next request on', async () => {
    const { account, key } = await service.client({ sandbox: 'no' });
    const quoted = async (): Promise<number> =>
      (await service.send('/images/quote', { key, body: { model: 'sandbox-sketch', prompt: 'a lake' } }))
        .status;
    expect(await quoted()).toBe(404);
    await service.operator.accounts.change(account.id, { sandbox: true });
    expect(await quoted()).toBe(200);
    await service.operator.accounts.change(account.id, { sandbox: null });
    expect(await quoted()).toBe(404);
  });

  everyAnswer(() => service);
});

describe('a service that offers the sandbox to every account', () => {
  let service: TestService;
  let stranger: Client;
  beforeAll(async () => {
    service = await sharedTestService();
    stranger = await service.client({ sandbox: 'no' });
  });
  afterAll(() => service.end());

  it.each(stalling)(
    'The directive %s of an unmarked account is refused with the field prompt',
    async (directive) => {
      const body = { model: 'sandbox-sketch', prompt: `a lake ${directive}` };
      for (const path of ['/images/generate', '/images/quote']) {
        const answer = await service.send(path, { key: stranger.key, body });
        expect(answer.status).toBe(400);
        expect(fieldsOf(answer)).toEqual(['prompt: invalid_value']);
      }
      expect(await askOpenai(service, stranger, '/images/generations', body)).toMatchObject({ status: 400 });
      expect(await service.operator.creations.list(stranger.account.id, 1)).toEqual([]);
    },
  );

  it('The other directives and plain prompts of an unmarked account are rendered as before', async () => {
    const send = async (prompt: string): Promise<string> => {
      const answer = await service.send('/images/generate', {
        key: stranger.key,
        body: { model: 'sandbox-sketch', prompt },
      });
      return (await settled(service, idOf(answer))).status;
    };
    expect(await send('a lake [sandbox:unknown] sandbox:hang')).toBe('completed');
    expect(await send('a lake [sandbox:fail]')).toBe('failed');
  });

  it('A marked account may use every directive', async () => {
    const { key } = await service.client();
    const body = { model: 'sandbox-sketch', prompt: 'a lake [sandbox:delay=10ms]' };
    expect((await service.send('/images/generate', { key, body })).status).toBe(202);
  });

  everyAnswer(() => service);
});
