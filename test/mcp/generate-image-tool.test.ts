import { describe, expect, it } from 'vitest';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { McpServices } from '../../service/mcp/open.ts';
import { asMicros } from '../../service/values/money.ts';
import { stub } from '../api/fakes.ts';
import { catalogOf, routeOf } from '../catalog/catalog-fixture.ts';
import { callTool, completed, failed, mcpStage, processing } from './mcp-fixture.ts';

const prompt = 'a quiet lake';
const idOf = (stage: ReturnType<typeof mcpStage>): string => stage.orders[0]?.creations[0].id ?? 'no charge';

describe('generate_image', () => {
  it('charges once and gives the picture, its link and its data', async () => {
    const stage = mcpStage();
    const { body } = await callTool(stage, 'generate_image', { prompt });
    const id = idOf(stage);
    expect(body.result.isError).toBeUndefined();
    expect(body.result.structuredContent).toEqual({
      id,
      status: 'completed',
      model: 'sandbox-sketch',
      cost: 0.01,
      amount_refunded: 0,
      result_url: 'https://results.test/results/lake.png',
      width: 1024,
      height: 1024,
      error: null,
    });
    const [text, link, picture] = body.result.content;
    expect(text?.text).toContain('is ready: https://results.test/results/lake.png');
    expect(link).toMatchObject({ type: 'resource_link', uri: 'https://results.test/results/lake.png' });
    expect(picture).toMatchObject({ type: 'image', mimeType: 'image/png' });
    expect(
      Buffer.from(picture?.data ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    expect(stage.orders).toHaveLength(1);
    expect(stage.started).toEqual([id]);
  });

  it.each([
    ['a picture of more than 1 MB', { bytes: 1_000_001 }],
    ['a picture that not every host shows', { contentType: 'image/webp' }],
  ])('only links %s', async (_name, change) => {
    const reads = [
      (charged: Parameters<typeof completed>[0]) => {
        const done = completed(charged);
        return { ...done, results: done.results.map((image) => ({ ...image, ...change })) };
      },
    ];
    const { body } = await callTool(mcpStage({ reads }), 'generate_image', { prompt });
    expect(body.result.content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
  });

  it('shows a picture of exactly 1 MB', async () => {
    const reads = [
      (charged: Parameters<typeof completed>[0]) => {
        const done = completed(charged);
        return { ...done, results: done.results.map((image) => ({ ...image, bytes: 1_000_000 })) };
      },
    ];
    const { body } = await callTool(mcpStage({ reads }), 'generate_image', { prompt });
    expect(body.result.content).toHaveLength(3);
  });

  it('leaves the link when the picture cannot be read', async () => {
    const images = stub<ImageStore>({ get: () => Promise.reject(new Error('gone')) });
    const stage = mcpStage({ services: { images } });
    const { body } = await callTool(stage, 'generate_image', { prompt });
    expect(body.result.content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
    expect(body.result.structuredContent['status']).toBe('completed');
    expect(stage.log.lines).toContain('info picture_not_read');
  });

  it.each([
    ['45 s when the call names no time', {}, 45_000],
    ['the seconds of the call', { wait_seconds: 7 }, 7_000],
    ['not at all for 0', { wait_seconds: 0 }, 0],
  ])('waits %s, and then gives the id', async (_name, args, millis) => {
    const stage = mcpStage({ reads: [processing] });
    const began = stage.clock.now();
    const { body, said } = await callTool(stage, 'generate_image', { prompt, ...args });
    expect(stage.clock.now() - began).toBe(millis);
    expect(body.result.isError).toBeUndefined();
    expect(body.result.structuredContent).toMatchObject({
      id: idOf(stage),
      status: millis === 0 ? 'queued' : 'processing',
      result_url: null,
    });
    expect(said).toContain(idOf(stage));
    expect(said).toContain('Call get_creation with this id');
  });

  it('counts its wait from the arrival of the request on', async () => {
    const stage = mcpStage({
      reads: [processing],
      fetchSource: async () => {
        await stage.clock.sleep(12_000);
        return { kind: 'failed', retryable: true };
      },
    });
    const slow = mcpStage({ reads: [processing], startAt: stage.clock.now() });
    await callTool(slow, 'generate_image', { prompt, wait_seconds: 5 });
    expect(slow.clock.sleeps.reduce((sum, one) => sum + one, 0)).toBe(5_000);
    const { said } = await callTool(stage, 'generate_image', {
      prompt,
      model: 'sandbox-standard',
      image_urls: ['https://a.test/b.png'],
    });
    expect(said).toContain('(ERR_INPUT_FETCH_FAILED, input_fetch_failed)');
  });

  it('gives the id when the creation cannot be read any more', async () => {
    const broken = (): never => {
      throw new Error('the table is gone');
    };
    const stage = mcpStage({ reads: [processing, broken] });
    const { body, said } = await callTool(stage, 'generate_image', { prompt });
    expect(body.result.isError).toBeUndefined();
    expect(body.result.structuredContent).toMatchObject({ id: idOf(stage), status: 'processing' });
    expect(said).not.toContain('the table is gone');
    expect(stage.log.lines).toContain('info wait_broken_off');
  });

  it('returns a failed creation as an error, with its id and its refund', async () => {
    const stage = mcpStage({ reads: [failed] });
    const { body, said } = await callTool(stage, 'generate_image', { prompt });
    expect(body.result.isError).toBe(true);
    expect(said).toContain(`The creation ${idOf(stage)} failed: `);
    expect(said).toContain('Its charge of 0.01 USD was given back in full. Change the request');
    expect(body.result.structuredContent).toMatchObject({ id: idOf(stage), amount_refunded: 0.01 });
  });

  it.each([
    ['the cheapest model', {}, 'sandbox-sketch'],
    ['the cheapest model of the size', { resolution: '4K' }, 'sandbox-pro'],
    ['the cheapest model that takes the field', { negative_prompt: 'boats' }, 'sandbox-standard'],
    ['the cheapest model of the quality', { quality: 'high' }, 'sandbox-standard'],
    ['the cheapest model with a transparent background', { background: 'transparent' }, 'sandbox-standard'],
    ['the cheapest model of the shape', { aspect_ratio: '21:9' }, 'sandbox-pro'],
    ['the model that the call names', { model: 'sandbox-standard' }, 'sandbox-standard'],
  ])('orders %s', async (_name, args, model) => {
    const stage = mcpStage();
    await callTool(stage, 'generate_image', { prompt, ...args });
    expect(stage.orders[0]?.creations[0].model).toBe(model);
  });

  it('orders a JPEG, which hosts show, where the model renders one', async () => {
    const stage = mcpStage();
    await callTool(stage, 'generate_image', { prompt, model: 'sandbox-standard' });
    expect(stage.orders[0]?.creations[0].outputFormat).toBe('jpeg');
    const [model] = catalogOf({ default_output_format: 'png', routes: routeOf({ output_formats: ['png'] }) })
      .catalog.models;
    const only = mcpStage({ services: { catalog: { models: model ? [model] : [] } } });
    await callTool(only, 'generate_image', { prompt });
    expect(only.orders[0]?.creations[0].outputFormat).toBe('png');
  });

  it('cannot choose when no model is available', async () => {
    const { said } = await callTool(mcpStage({ services: { catalog: { models: [] } } }), 'generate_image', {
      prompt,
    });
    expect(said).toContain(
      'No model is available. Nothing was charged (ERR_PROVIDER_UNAVAILABLE, no_provider_enabled).',
    );
  });

  it('treats an argument that is null as left out', async () => {
    const stage = mcpStage();
    await callTool(stage, 'generate_image', { prompt, seed: null, model: null, wait_seconds: null });
    expect(stage.orders).toHaveLength(1);
  });
});

describe('a refusal of generate_image', () => {
  it.each([
    [
      'The request costs 0.01 USD, of which 0.00 USD are available (ERR_INSUFFICIENT_BALANCE). A person can add money at https://portal.test/wallet.',
      { account: { availableMicros: asMicros(0) } },
      {},
    ],
    [
      'The total budget of this key, 0.000001 USD, does not cover the request (ERR_INSUFFICIENT_BALANCE, total_budget_exceeded).',
      { apiKey: { totalCapMicros: asMicros(1) } },
      {},
    ],
    [
      'The request costs 0.01 USD, more than its max_cost. Nothing was charged (ERR_INVALID_REQUEST, max_cost_exceeded).',
      {},
      { max_cost: 0.001 },
    ],
    [
      'The model "none" is not available to this account (ERR_MODEL_NOT_FOUND). list_models lists the models.',
      {},
      { model: 'none' },
    ],
    [
      'This account may have 20 creations open at once (ERR_QUOTA_EXCEEDED, concurrent_creations). Call again in 5 s.',
      { account: { inFlight: 20 } },
      {},
    ],
    [
      'resolution: must be one of "1K", "2K", "4K"; seed: at least 0 (ERR_INVALID_REQUEST).',
      {},
      { seed: -1, resolution: '9K' },
    ],
    ['wait_seconds: must be a number from 0 to 50 (ERR_INVALID_REQUEST).', {}, { wait_seconds: 51 }],
    ['size: not an argument of this tool, which takes prompt, model,', {}, { size: '1K' }],
    ['Call again in 2 s.', { outcome: { kind: 'overloaded' } as const }, {}],
  ])(
    'is an error of the tool that names the reason, and charges nothing: %s',
    async (sentence, setting, args) => {
      const stage = mcpStage(setting);
      const { status, body, said } = await callTool(stage, 'generate_image', { prompt, ...args });
      expect(status).toBe(200);
      expect(body.result.isError).toBe(true);
      expect(said).toContain(sentence);
      expect(stage.started).toEqual([]);
    },
  );

  it('of a closed service has the words of the operator, and does not ask to call again', async () => {
    const stage = mcpStage({ state: { closed: { message: 'We move.', since: 's' } } });
    const { said } = await callTool(stage, 'generate_image', { prompt });
    expect(said).toBe('We move (ERR_PROVIDER_UNAVAILABLE, overloaded).');
  });

  it('for the rate is an error of the tool, and nothing else is checked', async () => {
    const stage = mcpStage({ state: { rateCount: 60 } });
    const { body, said } = await callTool(stage, 'generate_image', { prompt });
    expect(body.result.isError).toBe(true);
    expect(said).toBe(
      'This account may send 60 POST requests a minute (ERR_RATE_LIMIT, account_rate). Call again in 30 s.',
    );
    expect(stage.orders).toEqual([]);
  });

  it('that nobody expected says nothing of its cause, and wakes an operator', async () => {
    const stage = mcpStage({
      services: {
        randomBytes: () => {
          throw new Error('secret cause');
        },
      },
    });
    const { body, said, text } = await callTool(stage, 'generate_image', { prompt });
    expect(body.result.isError).toBe(true);
    expect(said).toContain('(ERR_INTERNAL). list_creations shows whether a creation was made.');
    expect(text).not.toContain('secret cause');
    expect(stage.log.lines).toContain('alarm request_failed');
  });

  it('of the start gives the id, and says that the charge was given back', async () => {
    const stage = mcpStage({
      services: {
        executions: stub<McpServices['executions']>({ start: () => Promise.resolve('refused' as const) }),
        charges: stub<McpServices['charges']>({
          countStart: () => Promise.resolve(),
          charge: () => Promise.resolve({ kind: 'charged' as const }),
          refund: () => Promise.resolve('refunded' as const),
        }),
      },
    });
    const { body, said } = await callTool(stage, 'generate_image', { prompt });
    expect(body.result.isError).toBe(true);
    expect(said).toMatch(
      /Its charge was given back in full .* It was the creation [\w-]{36}\. Call again in 30 s\./,
    );
  });
});
