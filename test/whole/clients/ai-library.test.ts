/** The unmodified package `ai` with @ai-sdk/openai and @ai-sdk/openai-compatible against the service. */
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateImage, type ImageModel } from 'ai';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { CreationRecord } from '../../../service/creations/creation.ts';
import { thrownBy } from '../../client/stub.ts';
import { type NewClient, sharedTestService } from '../../fixtures/service.ts';
import { png } from '../image-origin.ts';

vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);
const service = await sharedTestService();
afterAll(async () => {
  vi.unstubAllGlobals();
  await service.end();
});

type Package = '@ai-sdk/openai' | '@ai-sdk/openai-compatible';

interface Customer {
  readonly model: (id: string) => ImageModel;
  readonly requests: () => number;
  readonly creations: () => Promise<readonly CreationRecord[]>;
}

async function customer(name: Package, wanted: NewClient = {}): Promise<Customer> {
  const { key, account } = await service.client({ postRate: '1000', ...wanted });
  let requests = 0;
  const options = {
    baseURL: service.machine.openaiUrl,
    apiKey: key,
    fetch: async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
      requests += 1;
      return fetch(input, init);
    },
  };
  const model: Readonly<Record<Package, (id: string) => ImageModel>> = {
    '@ai-sdk/openai': (id) => createOpenAI(options).image(id),
    '@ai-sdk/openai-compatible': (id) =>
      createOpenAICompatible({ name: 'darkroom', ...options }).imageModel(id),
  };
  return {
    model: model[name],
    requests: () => requests,
    creations: async () => service.operator.creations.list(account.id, 100),
  };
}

describe.each(['@ai-sdk/openai', '@ai-sdk/openai-compatible'] as const)('generateImage with %s', (name) => {
  it('A picture is one request and one creation', async () => {
    const { model, requests, creations } = await customer(name);
    const { image } = await generateImage({
      model: model('sandbox-sketch'),
      prompt: 'a lake',
      size: '1024x1024',
    });
    expect(image.mediaType).toBe('image/png');
    expect([requests(), (await creations()).length]).toEqual([1, 1]);
  });

  it('Two pictures of one call are two creations', async () => {
    const { model, requests, creations } = await customer(name);
    const { images } = await generateImage({
      model: model('sandbox-sketch'),
      prompt: 'a lake',
      n: 2,
      maxImagesPerCall: 2,
    });
    expect([images.length, requests(), (await creations()).length]).toEqual([2, 1, 2]);
  });

  it('An edit takes two files', async () => {
    const { model, creations } = await customer(name);
    await generateImage({
      model: model('sandbox-standard'),
      prompt: { text: 'in winter', images: [png(65, 64), png(66, 64)] },
    });
    expect(await creations()).toMatchObject([{ sources: [{ width: 65 }, { width: 66 }] }]);
  });

  it('A call that comes again with its Idempotency-Key is paid once', async () => {
    const { model, creations } = await customer(name);
    const call = {
      model: model('sandbox-sketch'),
      prompt: 'a lake',
      headers: { 'Idempotency-Key': 'order-4711' },
    };
    const [first, second] = [await generateImage(call), await generateImage(call)];
    expect(second.image.base64).toBe(first.image.base64);
    expect(await creations()).toHaveLength(1);
  });

  it('An empty wallet is an APICallError with the message of the service, and is not repeated', async () => {
    const { model, requests } = await customer(name, { balance: '0' });
    const error = await thrownBy(generateImage({ model: model('sandbox-sketch'), prompt: 'a lake' }));
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: 402, isRetryable: false });
    expect((error as Error).message).toMatch(/^The request costs 0.01 USD/);
    expect(requests()).toBe(1);
  });

  it('A declined prompt is not repeated', async () => {
    const { model, requests } = await customer(name);
    const call = { model: model('sandbox-sketch'), prompt: 'a lake [sandbox:reject-prompt]' };
    expect(await thrownBy(generateImage(call))).toMatchObject({ statusCode: 400, isRetryable: false });
    expect(requests()).toBe(1);
  });
});
