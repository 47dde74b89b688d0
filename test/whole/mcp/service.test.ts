/** MCP against the whole service: real bundles, the REST API of the template, and the unmodified clients. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client as ClientOf2026 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2026 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOf2025 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio2025 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, describe, expect, it } from 'vitest';
import { newPerson } from '../../client/command/command-run.ts';
import { type Client, sharedTestService, type TestService } from '../../fixtures/service.ts';
import { portOf } from '../../fixtures/values.ts';
import { generations, type McpClient, type ToolResult } from '../../mcp/clients.ts';
import { rpc } from '../../mcp/mcp-fixture.ts';

const service = await sharedTestService();
afterAll(async () => {
  await service.end();
});

interface Agent {
  readonly client: Client;
  readonly mcp: McpClient;
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<ToolResult>;
}

async function agent(
  connect: (url: URL, key: string) => Promise<McpClient>,
  options?: Parameters<TestService['client']>[0],
): Promise<Agent> {
  const client = await service.client(options);
  const mcp = await connect(new URL(service.machine.mcpUrl), client.key);
  const call: Agent['call'] = async (name, args = {}) =>
    (await mcp.callTool({ name, arguments: args })) as ToolResult;
  return { client, mcp, call };
}

const available = async ({ account }: Client): Promise<number> =>
  (await service.account(account.id)).availableMicros;

const sketch = { model: 'sandbox-sketch', prompt: 'a lake' };

describe.each(Object.entries(generations))('%s', (_name, connect) => {
  it('finds a model, asks for the price, and gets the picture', async () => {
    const { mcp, call } = await agent(connect);
    expect((await mcp.listTools()).tools).toHaveLength(7);
    const { models } = (await call('list_models')).structuredContent;
    expect(models).toContainEqual(expect.objectContaining({ id: 'sandbox-sketch' }));
    expect((await call('quote_image', sketch)).structuredContent).toMatchObject({
      cost: 0.01,
      sufficient: true,
    });
    const made = await call('generate_image', sketch);
    expect(made.structuredContent).toMatchObject({ status: 'completed', cost: 0.01, width: 1024 });
    const { id, result_url } = made.structuredContent;
    const picture = made.content.find(({ type }) => type === 'image');
    const bytes = Buffer.from(picture?.data ?? '', 'base64');
    const stored = await (await fetch(String(result_url))).arrayBuffer();
    expect(bytes.equals(Buffer.from(stored))).toBe(true);
    expect((await call('get_balance')).structuredContent).toMatchObject({ available: 24.99 });
    expect((await call('list_creations', { limit: 1 })).structuredContent).toMatchObject({
      creations: [{ id, status: 'completed', prompt: 'a lake', result_url }],
      has_more: false,
    });
    await mcp.close();
  });

  it('gets the id of a picture that takes longer, and then the picture', async () => {
    const { mcp, call } = await agent(connect);
    const slow = await call('generate_image', {
      ...sketch,
      prompt: 'a lake [sandbox:delay=2s]',
      wait_seconds: 0.2,
    });
    const { id, status } = slow.structuredContent;
    expect(['queued', 'processing']).toContain(status);
    expect(slow.content[0]?.text).toContain('Call get_creation with this id');
    const done = await call('get_creation', { id, wait_seconds: 30 });
    expect(done.structuredContent).toMatchObject({ id, status: 'completed' });
    expect(done.content.some(({ type }) => type === 'image')).toBe(true);
    await mcp.close();
  });
});

describe('a creation that has ended', () => {
  it('cannot be cancelled, which the tool says', async () => {
    const { mcp, call } = await agent(connectOf2026);
    const { id } = (await call('generate_image', sketch)).structuredContent;
    const refused = await call('cancel_creation', { id });
    expect(refused.isError).toBe(true);
    expect(refused.content[0]?.text).toContain('(ERR_INVALID_REQUEST, not_cancellable)');
    await mcp.close();
  });
});

const connectOf2026 = async (url: URL, key: string): Promise<McpClient> => {
  const connect = generations['the client of 2026'];
  if (!connect) throw new Error('no such client');
  return connect(url, key);
};

/** A call as it goes over the wire, so that a test chooses its JSON-RPC id. */
async function sent(key: string, id: number, args: Record<string, unknown>): Promise<unknown> {
  const response = await fetch(service.machine.mcpUrl, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'generate_image',
    },
    body: JSON.stringify(rpc('tools/call', { name: 'generate_image', arguments: args }, id)),
  });
  const { result } = (await response.json()) as { result: ToolResult };
  return result.structuredContent['id'];
}

describe('a call that is sent again', () => {
  it('pays once, also when both come at the same time; another call with its id is its own', async () => {
    const client = await service.client();
    const [one, two] = await Promise.all([sent(client.key, 7, sketch), sent(client.key, 7, sketch)]);
    expect(two).toBe(one);
    expect(await sent(client.key, 7, sketch)).toBe(one);
    expect(await available(client)).toBe(24_990_000);
    const other = await sent(client.key, 7, { ...sketch, prompt: 'a hill' });
    const next = await sent(client.key, 8, sketch);
    expect(new Set([one, other, next]).size).toBe(3);
    expect(await available(client)).toBe(24_970_000);
  });

  it('is a call of its own after a minute', async () => {
    const client = await service.client();
    const one = await sent(client.key, 7, sketch);
    service.jump(61);
    expect(await sent(client.key, 7, sketch)).not.toBe(one);
    expect(await service.audit()).toEqual([]);
  });
});

describe('darkroom mcp', () => {
  const started = async (): Promise<{ command: string; args: string[]; env: Record<string, string> }> => ({
    command: process.execPath,
    args: [fileURLToPath(new URL('../../../client/bin/darkroom.ts', import.meta.url)), 'mcp'],
    env: { DARKROOM_API_KEY: (await service.client()).key, DARKROOM_BASE_URL: service.machine.apiUrl },
  });

  it('serves a host of 2026 that starts commands', async () => {
    const client = new ClientOf2026(
      { name: 'host', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(new Stdio2026(await started()));
    const result = (await client.callTool({ name: 'generate_image', arguments: sketch })) as ToolResult;
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'image']);
    await client.close();
  });

  it('serves a host of 2025 that starts commands', async () => {
    const client = new ClientOf2025({ name: 'host', version: '1' });
    await client.connect(new Stdio2025(await started()));
    const result = (await client.callTool({ name: 'quote_image', arguments: sketch })) as ToolResult;
    expect(result.structuredContent).toMatchObject({ cost: 0.01 });
    await client.close();
  });

  it('pays once when the answer of a charge is lost on its way', async () => {
    const client = await service.client();
    const ids: unknown[] = [];
    const lossy = createServer((request, response) => {
      void (async () => {
        const answer = await fetch(service.machine.mcpUrl, {
          method: 'POST',
          headers: request.headers as Record<string, string>,
          body: await text(request),
        });
        const body = await answer.text();
        ids.push((JSON.parse(body) as { result: ToolResult }).result.structuredContent['id']);
        if (ids.length === 1) request.socket.destroy();
        else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
      })();
    });
    await new Promise<void>((resolve) => void lossy.listen(0, '127.0.0.1', resolve));
    const person = await newPerson();
    const call = rpc('tools/call', { name: 'generate_image', arguments: { ...sketch, wait_seconds: 0 } });
    const said = await person.run(['mcp', '--mcp-url', `http://127.0.0.1:${portOf(lossy)}/mcp`], {
      input: `${JSON.stringify(call)}\n`,
      env: { DARKROOM_API_KEY: client.key },
    });
    expect([said.code, said.err]).toEqual([0, '']);
    expect(ids).toEqual([expect.any(String), ids[0]]);
    expect(said.out).toContain(String(ids[0]));
    expect(await available(client)).toBe(24_990_000);
    await person.remove();
    lossy.close();
  });
});
