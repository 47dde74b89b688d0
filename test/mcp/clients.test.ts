import { describe, expect, it } from 'vitest';
import { apiKeyText } from '../fixtures/records.ts';
import { generations, served, type ToolResult } from './clients.ts';
import { mcpStage, processing } from './mcp-fixture.ts';

describe.each(Object.entries(generations))('%s', (_name, connect) => {
  it('finds the tools, and gets a picture', async () => {
    const stage = mcpStage();
    const { url, end } = await served(stage);
    const client = await connect(url, apiKeyText);
    expect(client.getInstructions()).toContain('call get_creation');
    expect((await client.listTools()).tools).toHaveLength(7);
    const call = { name: 'generate_image', arguments: { prompt: 'a lake' } };
    const result = (await client.callTool(call)) as ToolResult;
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'image']);
    expect(result.structuredContent).toMatchObject({ status: 'completed', cost: 0.01 });
    expect(stage.orders).toHaveLength(1);
    await client.close();
    await end();
  });

  it('gets the id when the wait ends first', async () => {
    const stage = mcpStage({ reads: [processing] });
    const { url, end } = await served(stage);
    const client = await connect(url, apiKeyText);
    const call = { name: 'generate_image', arguments: { prompt: 'a lake', wait_seconds: 3 } };
    const result = (await client.callTool(call)) as ToolResult;
    expect(result.structuredContent['id']).toBe(stage.orders[0]?.creations[0].id);
    await client.close();
    await end();
  });

  it('cannot connect without a key', async () => {
    const { url, end } = await served(mcpStage());
    await expect(connect(url, 'nothing')).rejects.toThrow(/401|Unauthorized|API key/);
    await end();
  });
});
