import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { addressBlocked } from '../../service/api/problems.ts';
import { now, apiKeyText } from '../fixtures/records.ts';
import { callTool, mcpEvent, mcpStage, rpc, sendEvent, type Sent } from './mcp-fixture.ts';
import type { ChargeOrder } from '../../service/creations/charge.ts';

const list = rpc('tools/list');
const oldCall = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_models' } };

describe('the frame of the MCP endpoint', () => {
  it.each([
    ['no key', { headers: { Authorization: '' } }],
    ['a key that nobody has', { headers: { Authorization: 'Bearer dk_live_nothing' } }],
  ])('answers %s with 401 in the form of JSON-RPC, and counts the rejection', async (_name, sent) => {
    const stage = mcpStage();
    const { status, headers, body } = await sendEvent(stage, mcpEvent(list, sent));
    expect(status).toBe(401);
    expect(headers).toMatchObject({ 'www-authenticate': 'Bearer', 'x-request-id': 'request-1' });
    expect(body).toMatchObject({ jsonrpc: '2.0', id: 1, error: { code: -32_000 } });
    expect(body.error.data.code).toBe('ERR_API_KEY_INVALID');
    expect(stage.rejections).toHaveLength(1);
    expect(stage.clock.held).toBe(0);
  });

  it('answers a suspended account with 403', async () => {
    const stage = mcpStage({ account: { condition: 'suspended' } });
    const { status, body } = await sendEvent(stage, mcpEvent(list));
    expect(status).toBe(403);
    expect(body.error.data.code).toBe('ERR_API_SUSPENDED');
  });

  it('answers a blocked address with 429 and Retry-After', async () => {
    const block = { untilMillis: Date.UTC(2026, 10, 21, 12, 1, 30), scope: 'all' } as const;
    const { status, headers, body } = await sendEvent(mcpStage({ state: { block } }), mcpEvent(list));
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe('60');
    expect(body.error.message).toBe(addressBlocked(0).message);
  });

  it.each(['GET', 'DELETE', 'PUT', 'OPTIONS'])('answers %s with 405, and reads nothing', async (method) => {
    const stage = mcpStage();
    const { status, headers, body } = await sendEvent(stage, mcpEvent(undefined, { method }));
    expect(status).toBe(405);
    expect(headers['allow']).toBe('POST');
    expect(body.error.code).toBe(-32_000);
    expect(stage.questions).toEqual([]);
  });

  it.each([
    ['is no JSON', 'nothing', 400, -32_700],
    ['is a batch', JSON.stringify([list, list]), 400, -32_600],
    ['is a batch of 2025', JSON.stringify([oldCall, { ...oldCall, id: 2 }]), 400, -32_600],
    ['is too long', JSON.stringify({ ...list, more: 'x'.repeat(256 * 1024) }), 413, -32_000],
    ['is no message', '{"a":1}', 400, -32_600],
    ['is a text', '"hello"', 400, -32_600],
  ])('refuses a body that %s, and counts it as a read', async (_name, text, expected, code) => {
    const stage = mcpStage();
    const { status, body } = await sendEvent(stage, mcpEvent(undefined, { text }));
    expect(status).toBe(expected);
    expect(body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
    expect(stage.questions[0]?.rate).toBe('get');
    expect(stage.counted).toBe(1);
  });

  it('refuses a body of another type', async () => {
    const sent = { headers: { 'Content-Type': 'text/plain' } };
    expect((await sendEvent(mcpStage(), mcpEvent(list, sent))).status).toBe(415);
  });

  it('refuses a stream of notices, which would hold a slot for nothing', async () => {
    const listen = rpc('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const { text } = await sendEvent(mcpStage(), mcpEvent(listen));
    expect(text).toContain('"error"');
  });

  it('answers an unknown tool with an error of the protocol', async () => {
    const { body } = await callTool(mcpStage(), 'format_disk');
    expect(body.error.code).toBe(-32_602);
  });

  it('reports the rate in headers, and leaves them out of a cache', async () => {
    const { headers } = await sendEvent(mcpStage(), mcpEvent(list));
    expect(headers).toMatchObject({
      'ratelimit-policy': '"get";q=600;w=60',
      ratelimit: '"get";r=599;t=30',
      'cache-control': 'no-store',
    });
  });

  it('answers a used-up rate of reads with 429', async () => {
    const stage = mcpStage({ state: { rateCount: 600 } });
    const { status, headers, body } = await sendEvent(stage, mcpEvent(list));
    expect(status).toBe(429);
    expect(headers).toMatchObject({ 'retry-after': '30', ratelimit: '"get";r=0;t=30' });
    expect(body.error.data.code).toBe('ERR_RATE_LIMIT');
  });
});

describe('the rate of a call', () => {
  it.each([
    ['list_models', {}, 'get'],
    ['quote_image', { prompt: 'a lake' }, 'get'],
    ['get_balance', {}, 'get'],
    ['get_creation', { id: 'nothing' }, 'get'],
    ['cancel_creation', { id: 'nothing' }, 'post'],
    ['generate_image', {}, 'post'],
  ])('of %s is counted once, by the rate of reads or the rate of changes', async (name, args, rate) => {
    const stage = mcpStage();
    await callTool(stage, name, args);
    expect(stage.questions.map((question) => question.rate)).toEqual([rate]);
    expect(stage.counted).toBe(1);
    expect(stage.clock.held).toBe(0);
  });

  it('of a charge is counted by the charge itself', async () => {
    const stage = mcpStage();
    await callTool(stage, 'generate_image', { prompt: 'a lake' });
    expect(stage.counted).toBe(0);
    expect(stage.orders[0]?.postRate).toBe(60);
  });
});

describe('a request from this machine', () => {
  const from = async (sourceIp: string, headers: Sent['headers']): Promise<number> =>
    (await sendEvent(mcpStage(), mcpEvent(list, { sourceIp, headers: headers ?? {} }))).status;

  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
    'from %s is refused unless its Host and its Origin name this machine',
    async (address) => {
      expect(await from(address, { Host: 'localhost:8787' })).toBe(200);
      expect(await from(address, { Host: '127.0.0.1:8787', Origin: 'http://localhost:6274' })).toBe(200);
      expect(await from(address, { Host: 'evil.test:8787' })).toBe(403);
      expect(await from(address, { Host: '127.0.0.1:8787', Origin: 'https://evil.test' })).toBe(403);
      expect(await from(address, { Host: '127.0.0.1:8787', Origin: 'null' })).toBe(403);
    },
  );

  it('from a network needs only its key', async () => {
    expect(await from('203.0.113.7', { Host: 'api.test', Origin: 'https://claude.test' })).toBe(200);
  });
});

describe('a wait', () => {
  it('reports its progress to a client that asks for it', async () => {
    const stage = mcpStage({ reads: [(charged) => ({ ...charged, status: 'processing' })] });
    const params = {
      name: 'generate_image',
      arguments: { prompt: 'a lake', wait_seconds: 12 },
      _meta: { progressToken: 'p1' },
    };
    const { headers, text, body } = await sendEvent(stage, mcpEvent(rpc('tools/call', params)));
    expect(headers['content-type']).toContain('text/event-stream');
    const told = [...text.matchAll(/^data: (.*progress".*)$/gm)].map(
      ([, line]) => (JSON.parse(line ?? '') as { params: Record<string, unknown> }).params,
    );
    expect(told.length).toBeGreaterThanOrEqual(3);
    expect(told[0]).toMatchObject({ progressToken: 'p1', progress: 0, total: 12 });
    expect(told.map(({ progress }) => progress)).toEqual(
      told.map(({ progress }) => progress).toSorted((a, b) => Number(a) - Number(b)),
    );
    expect(body.result.structuredContent['status']).toBe('processing');
    expect(stage.clock.held).toBe(0);
  });

  it('comes to its end when the client goes away, and then nothing goes on', async () => {
    const stage = mcpStage({ reads: [(charged) => ({ ...charged, status: 'processing' })] });
    const params = {
      name: 'generate_image',
      arguments: { prompt: 'a lake', wait_seconds: 12 },
      _meta: { progressToken: 'p1' },
    };
    const { body } = await stage.handler(mcpEvent(rpc('tools/call', params)), {} as Context);
    if (typeof body === 'string') throw new Error('the answer is no stream');
    for await (const _first of body) break;
    expect(stage.clock.now() - now).toBe(12_000);
    expect(stage.log.lines).toEqual(['info creation_accepted']);
    expect(stage.clock.held).toBe(0);
  });
});

const args = { prompt: 'a lake', wait_seconds: 0 };

async function keyOf(
  change: Sent & { readonly id?: string | number; readonly args?: object } = {},
): Promise<ChargeOrder['idempotency']> {
  const stage = mcpStage();
  await callTool(stage, 'generate_image', { ...args, ...change.args }, change);
  return stage.orders[0]?.idempotency;
}

describe('a call that is sent again', () => {
  it('with the same id as a text is a call of its own', async () => {
    expect((await keyOf({ id: '1' }))?.hash).not.toBe((await keyOf())?.hash);
  });

  it('by another client is a call of its own', async () => {
    const stage = mcpStage();
    const clientInfo = { name: 'another', version: '1' };
    const params = {
      name: 'generate_image',
      arguments: args,
      _meta: { 'io.modelcontextprotocol/clientInfo': clientInfo },
    };
    await sendEvent(stage, mcpEvent(rpc('tools/call', params)));
    expect(stage.orders[0]?.idempotency?.hash).not.toBe((await keyOf())?.hash);
  });

  it('by another program of a client of 2025 is a call of its own', async () => {
    const old = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'generate_image', arguments: args },
    };
    const sentBy = async (agent: string): Promise<string | undefined> => {
      const stage = mcpStage();
      const headers = { 'User-Agent': agent, 'MCP-Protocol-Version': '2025-06-18' };
      await sendEvent(stage, mcpEvent(old, { headers }));
      return stage.orders[0]?.idempotency?.hash;
    };
    expect(await sentBy('one')).toMatch(/^[0-9a-f]{64}$/);
    expect(await sentBy('one')).toBe(await sentBy('one'));
    expect(await sentBy('one')).not.toBe(await sentBy('other'));
  });

  it('with another key is a call of its own', async () => {
    // The fixture knows one key only, which may come by another header.
    const other = await keyOf({ headers: { Authorization: `bearer ${apiKeyText}` } });
    expect(other?.hash).not.toBe((await keyOf())?.hash);
  });
});
