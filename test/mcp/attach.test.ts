import { describe, expect, it } from 'vitest';
import type { ChargeOrder } from '../../service/creations/charges.ts';
import { apiKeyText } from '../fixtures/records.ts';
import { callTool, mcpEvent, mcpStage, processing, rpc, sendEvent, type Sent } from './mcp-fixture.ts';

const args = { prompt: 'a lake', wait_seconds: 0 };

async function keyOf(
  change: Sent & { readonly id?: string | number; readonly args?: object } = {},
): Promise<ChargeOrder['idempotency']> {
  const stage = mcpStage();
  await callTool(stage, 'generate_image', { ...args, ...change.args }, change);
  return stage.orders[0]?.idempotency;
}

describe('a call that is sent again', () => {
  it('has a key for 60 s, which no other request can have', async () => {
    const key = await keyOf();
    expect(key).toMatchObject({ seconds: 60, requestHash: key?.hash });
    expect(key?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await keyOf({ args: { wait_seconds: 0, prompt: 'a lake' } })).toEqual(key);
  });

  it.each([
    ['another id', { id: 2 }],
    ['the same id as a text', { id: '1' }],
    ['other arguments', { args: { prompt: 'a hill' } }],
  ])('with %s is a call of its own', async (_name, change) => {
    expect((await keyOf(change))?.hash).not.toBe((await keyOf())?.hash);
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

  it('gets the creation of the first one, and charges nothing', async () => {
    const first = mcpStage({ reads: [processing] });
    await callTool(first, 'generate_image', args);
    const [order] = first.orders;
    if (!order?.idempotency) throw new Error('nothing was charged');
    const {
      creations: [creation],
      idempotency,
    } = order;
    const record = {
      creationIds: [creation.id] as const,
      requestHash: idempotency.requestHash,
      expiresAt: Infinity,
    };
    const second = mcpStage({
      state: { idempotency: record },
      services: { creations: { read: () => Promise.resolve(creation) } as never },
    });
    const { body } = await callTool(second, 'generate_image', args);
    expect(body.result.structuredContent['id']).toBe(creation.id);
    expect(second.questions[0]?.idempotencyHash).toBe(idempotency.hash);
    expect(second.orders).toEqual([]);
    expect(second.counted).toBe(1);
  });
});
