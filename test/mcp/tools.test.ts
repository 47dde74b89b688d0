import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { CreationRecord } from '../../service/creations/creation.ts';
import type { McpServices } from '../../service/mcp/open.ts';
import { tools } from '../../service/mcp/tools/tools.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { stub } from '../api/fakes.ts';
import { aCreation, creationId, now } from '../fixtures/records.ts';
import {
  callTool,
  completed,
  failed,
  mcpEvent,
  type McpSetting,
  mcpStage,
  type McpStage,
  processing,
  rpc,
  sendEvent,
} from './mcp-fixture.ts';

/** A stage whose table has these creations of the account. */
function having(...creations: CreationRecord[]): McpStage {
  const [creation] = creations;
  const setting: McpSetting = {
    ...(creation && { state: { creation } }),
    requests: { stampPoll: () => Promise.resolve(true) },
    services: {
      creations: stub<McpServices['creations']>({
        read: () => Promise.resolve(creation),
        page: (_account, { limit }) => Promise.resolve({ creations: creations.slice(0, limit) }),
      }),
    },
  };
  return mcpStage(setting);
}

const open = aCreation({ prompt: 'é'.repeat(300) });

describe('the tools', () => {
  it('are those of the page, with the annotations by which a host asks a person first', async () => {
    const { body } = await sendEvent(mcpStage(), mcpEvent(rpc('tools/list')));
    const listed = body.result.tools.map(({ name, annotations, inputSchema }) => {
      const required = inputSchema.required.join(' ');
      return [name, Object.keys(inputSchema.properties).join(' '), required, annotations];
    });
    const reads = { readOnlyHint: true, openWorldHint: false };
    const image =
      'prompt model aspect_ratio resolution image_urls mask_url seed negative_prompt quality background count max_cost';
    expect(listed).toEqual([
      ['list_models', '', '', reads],
      ['quote_image', image, 'prompt', reads],
      [
        'generate_image',
        `${image} wait_seconds`,
        'prompt',
        { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
      ],
      ['get_creation', 'id wait_seconds', 'id', reads],
      ['list_creations', 'limit status', '', reads],
      [
        'cancel_creation',
        'id',
        'id',
        { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      ],
      ['get_balance', '', '', reads],
    ]);
  });

  it('come with the name of the server, and instructions that say what a wait that ends means', async () => {
    const { body } = await sendEvent(mcpStage(), mcpEvent(rpc('server/discover')));
    expect(body.result.instructions).toContain('call get_creation with the id');
    expect(body.result._meta).toEqual({
      'io.modelcontextprotocol/serverInfo': { name: 'darkroom', title: 'Darkroom', version: '1.0.0' },
    });
  });

  it.each([
    ['list_models', {}, mcpStage()],
    ['quote_image', { prompt: 'a lake' }, mcpStage()],
    ['generate_image', { prompt: 'a lake' }, mcpStage()],
    ['generate_image', { prompt: 'a lake', wait_seconds: 0 }, mcpStage()],
    ['get_creation', { id: creationId }, having(completed(open))],
    ['get_creation', { id: creationId, wait_seconds: 0 }, having(processing(open))],
    ['get_creation', { id: creationId }, having(failed(open))],
    ['get_creation', { id: creationId }, having({ ...completed(open), resultsExpireAt: 1 })],
    ['list_creations', {}, having(open, completed(open), failed(open))],
    ['cancel_creation', { id: creationId }, having({ ...failed(open), cancelledAt: open.createdAt })],
    ['get_balance', {}, mcpStage()],
    ['get_balance', {}, mcpStage({ apiKey: { monthlyCapMicros: open.costMicros } })],
  ])('answer %s with %j in the form that they promise', async (name, args, stage) => {
    const { body, text } = await callTool(stage, name, args);
    expect(body.result.isError, text).toBeUndefined();
    const schema = tools.find((tool) => tool.name === name)?.output;
    const fits = new Ajv2020({ allErrors: true }).compile(schema ?? false);
    fits(body.result.structuredContent);
    expect(fits.errors).toBeNull();
    expect(body.result.content[0]?.text).not.toBe('');
  });

  it('know only the creations of the account', async () => {
    const others = having({ ...open, accountId: 'Another001' as AccountId });
    for (const name of ['get_creation', 'cancel_creation']) {
      const { body, said } = await callTool(others, name, { id: creationId });
      expect(body.result.isError).toBe(true);
      expect(said).toBe(
        'There is no creation with this id (ERR_NOT_FOUND). list_creations lists the creations.',
      );
    }
  });
});

describe('get_creation', () => {
  it('waits for the end, within the time of the call', async () => {
    const stage = having(processing(open));
    const { said } = await callTool(stage, 'get_creation', { id: creationId, wait_seconds: 3 });
    expect(stage.clock.now() - now).toBe(3_000);
    expect(said).toContain(`The creation ${creationId} is processing`);
  });

  it('gives the picture of a creation that is completed', async () => {
    const { body } = await callTool(having(completed(open)), 'get_creation', { id: creationId });
    expect(body.result.content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'image']);
  });

  it('says of a failed creation that its charge was refunded', async () => {
    const { body, said } = await callTool(having(failed(open)), 'get_creation', { id: creationId });
    expect(body.result.isError).toBeUndefined();
    expect(said).toContain('was given back in full');
  });
});

describe('list_creations', () => {
  it('passes limit and status on, and shortens prompts', async () => {
    const queries: unknown[] = [];
    const stage = mcpStage({
      services: {
        creations: stub<McpServices['creations']>({
          page: (_account, query) => {
            queries.push(query);
            return Promise.resolve({ creations: [open], next: creationId });
          },
        }),
      },
    });
    const { body } = await callTool(stage, 'list_creations', { limit: 3, status: 'failed' });
    expect(queries).toEqual([{ limit: 3, status: 'failed' }]);
    const { creations, has_more } = body.result.structuredContent;
    expect(has_more).toBe(true);
    expect(creations).toMatchObject([{ id: creationId, prompt: 'é'.repeat(200) }]);
  });
});
