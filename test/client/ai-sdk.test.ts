/** The image model of `darkroom-client/ai-sdk`, called by the unmodified `generateImage` of the package `ai`. */
import { APICallError, generateImage, RetryError } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDarkroom, DarkroomCallError, type DarkroomImageOptions } from '../../client/src/ai-sdk.ts';
import { Darkroom } from '../../client/src/index.ts';
import { GenerationFailed, InsufficientBalance } from '../../client/src/errors.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import { png } from '../whole/image-origin.ts';
import { sharedTestService, type Client, type NewClient, type TestService } from '../fixtures/service.ts';
import { json, refusal, stub, thrownBy, type Sent } from './stub.ts';

let service: TestService;
beforeAll(async () => {
  service = await sharedTestService();
});
beforeEach(() => vi.stubGlobal('AI_SDK_LOG_WARNINGS', false));
afterAll(async () => {
  vi.unstubAllGlobals();
  await service.end();
});

interface Customer extends Client {
  readonly provider: ReturnType<typeof createDarkroom>;
  /** The methods and paths of the requests that were sent so far. */
  readonly sent: string[];
  readonly creations: () => Promise<readonly CreationRecord[]>;
}

async function customer(wanted: NewClient = {}): Promise<Customer> {
  const client = await service.client({ postRate: '1000', ...wanted });
  const sent: string[] = [];
  const provider = createDarkroom({
    apiKey: client.key,
    baseUrl: service.machine.apiUrl,
    fetch: async (input, init) => {
      sent.push(`${init?.method ?? 'GET'} ${new URL(input).pathname.replace('/api/public/v1', '')}`);
      return fetch(input, init);
    },
  });
  return {
    ...client,
    provider,
    sent,
    creations: async () => service.operator.creations.list(client.account.id, 100),
  };
}

const generations = (sent: readonly string[]): number =>
  sent.filter((one) => one === 'POST /images/generate').length;

describe('a call of generateImage', () => {
  it('A call gives the picture, its creation and its cost', async () => {
    const { provider, creations, account } = await customer();
    const { image, calls, warnings } = await generateImage({
      model: provider.image('sandbox-sketch'),
      prompt: 'a lake',
      seed: 7,
      aspectRatio: '3:2',
    });
    const [creation] = await creations();
    expect(image.mediaType).toBe('image/png');
    expect(calls[0]?.providerMetadata?.['darkroom']?.images).toEqual([
      {
        creationId: creation?.id,
        cost: 0.01,
        url: expect.stringContaining('http') as string,
        width: 1248,
        height: 832,
        bytes: image.uint8Array.length,
      },
    ]);
    expect(image.providerMetadata?.['darkroom']).toMatchObject({ creationId: creation?.id });
    expect(creation).toMatchObject({ seed: 7, aspectRatio: '3:2' });
    expect([warnings, calls[0]?.response.modelId]).toEqual([[], 'sandbox-sketch']);
    expect((await service.account(account.id)).availableMicros).toBe(24_990_000);
  });

  it('A call for three pictures makes three creations by one call of the model', async () => {
    const { provider, creations } = await customer();
    const { images, calls } = await generateImage({
      model: provider.imageModel('sandbox-sketch'),
      prompt: 'a lake',
      n: 3,
    });
    expect([images.length, calls.length]).toEqual([3, 1]);
    expect(await creations()).toHaveLength(3);
  });

  it('A size becomes the nearest ratio and resolution of the model, and a warning says so', async () => {
    const { provider, creations } = await customer();
    const { warnings } = await generateImage({
      model: provider.image('sandbox-sketch'),
      prompt: 'a lake',
      size: '3840x2160',
    });
    expect(await creations()).toMatchObject([{ aspectRatio: '3:2', resolution: '1K' }]);
    expect(warnings).toEqual([
      {
        type: 'compatibility',
        feature: 'size',
        details: expect.stringMatching(
          /^The image has 1248x832 pixels: .* nearest to 3840x2160\.$/,
        ) as string,
      },
    ]);
  });

  it('A size that the model has gives no warning, and the catalog is read once', async () => {
    const { provider, sent } = await customer();
    const call = { model: provider.image('sandbox-sketch'), prompt: 'a lake', size: '1024x1024' } as const;
    expect((await generateImage(call)).warnings).toEqual([]);
    await generateImage(call);
    expect(sent.filter((one) => one === 'GET /models')).toHaveLength(1);
  });

  it('Files are uploaded once, so that a call that comes again with its key is the same', async () => {
    const { provider, creations, sent } = await customer();
    const call = {
      model: provider.image('sandbox-standard'),
      prompt: { text: 'in winter', images: [png(64, 64), png(64, 65).toString('base64')] },
      headers: { 'idempotency-key': 'one' },
    };
    await generateImage(call);
    await generateImage(call);
    expect(await creations()).toMatchObject([{ sources: [{ height: 64 }, { height: 65 }] }]);
    expect(sent.filter((path) => path === 'POST /uploads')).toHaveLength(2);
  });

  it('The fields of providerOptions.darkroom and the key of the call reach the service', async () => {
    const { provider, creations } = await customer();
    const darkroom: DarkroomImageOptions = {
      resolution: '2K',
      output_format: 'jpeg',
      metadata: { order: '4711' },
      user: 'ada',
      max_cost: 0.08,
      idempotencyKey: 'order-4711',
    };
    const call = {
      model: provider.image('sandbox-standard'),
      prompt: 'a lake [sandbox:delay=1ms]',
      providerOptions: { darkroom },
    };
    const [first, second] = [await generateImage(call), await generateImage(call)];
    expect(second.image.base64).toBe(first.image.base64);
    expect(await creations()).toMatchObject([
      { resolution: '2K', outputFormat: 'jpeg', metadata: { order: '4711' }, user: 'ada' },
    ]);
  });

  it('The header Idempotency-Key is the key, and another header is named in a warning', async () => {
    const { provider, creations } = await customer();
    const call = {
      model: provider.image('sandbox-sketch'),
      prompt: 'a lake',
      headers: { 'Idempotency-Key': 'one', 'X-Trace': 'two' },
    };
    const { warnings } = await generateImage(call);
    await generateImage(call);
    expect(await creations()).toHaveLength(1);
    expect(warnings).toEqual([{ type: 'unsupported', feature: 'headers', details: 'Not sent: x-trace.' }]);
  });

  it('Pictures that the wallet does not cover are named in a warning, and the others arrive', async () => {
    const { provider, creations } = await customer({ balance: '0.02' });
    const { images, warnings } = await generateImage({
      model: provider.image('sandbox-sketch'),
      prompt: 'a lake',
      n: 3,
    });
    expect(images).toHaveLength(2);
    expect(await creations()).toHaveLength(2);
    expect(warnings).toEqual([
      { type: 'other', message: expect.stringMatching(/^1 image is missing of 3: /) as string },
    ]);
  });

  it('An aborted call ends with the reason of its signal, and is not repeated', async () => {
    const { provider, sent } = await customer();
    const controller = new AbortController();
    const call = generateImage({
      model: provider.image('sandbox-sketch'),
      prompt: 'a lake [sandbox:delay=60s]',
      abortSignal: controller.signal,
    });
    await vi.waitFor(() => expect(generations(sent)).toBe(1));
    const reason = new DOMException('enough', 'AbortError');
    controller.abort(reason);
    expect(await thrownBy(call)).toBe(reason);
    expect(generations(sent)).toBe(1);
  });

  it('The model says whether it takes files', async () => {
    const { provider } = await customer();
    expect(await provider.image('sandbox-sketch').supportsFileInputs).toBe(false);
    expect(await provider.image('sandbox-standard').supportsFileInputs).toBe(true);
    expect(await provider.image('none').supportsFileInputs).toBeUndefined();
  });
});

describe('a call that fails', () => {
  const failures = [
    {
      what: 'An empty wallet',
      wanted: { balance: '0' },
      prompt: 'a lake',
      error: { statusCode: 402, isRetryable: false, data: { code: 'ERR_INSUFFICIENT_BALANCE' } },
      cause: InsufficientBalance,
    },
    {
      what: 'A declined prompt',
      wanted: {},
      prompt: 'a lake [sandbox:reject-prompt]',
      error: { isRetryable: false, data: { code: 'GenerationFailed' } },
      cause: GenerationFailed,
    },
    {
      what: 'A field that the service does not have',
      wanted: {},
      prompt: 'a lake',
      options: { promt: 'a typo' },
      error: { statusCode: 400, isRetryable: false, data: { code: 'ERR_INVALID_REQUEST' } },
      cause: Error,
    },
  ];
  for (const { what, wanted, prompt, options = {}, error, cause } of failures) {
    it(`${what} is an APICallError, and the call is not repeated`, async () => {
      const { provider, sent } = await customer(wanted);
      const thrown = await thrownBy(
        generateImage({
          model: provider.image('sandbox-sketch'),
          prompt,
          providerOptions: { darkroom: options },
        }),
      );
      expect(APICallError.isInstance(thrown)).toBe(true);
      expect(thrown).toBeInstanceOf(DarkroomCallError);
      expect(thrown).toMatchObject(error);
      expect((thrown as Error).cause).toBeInstanceOf(cause);
      expect(generations(sent)).toBe(1);
    });
  }

  it('A failed and refunded creation is repeated by ai, and costs nothing', async () => {
    const { provider, creations, account } = await customer();
    const call = { model: provider.image('sandbox-sketch'), prompt: 'a lake [sandbox:fail]' };
    const once = await thrownBy(generateImage({ ...call, maxRetries: 0 }));
    expect(once).toMatchObject({ isRetryable: true, data: { creationId: (await creations())[0]?.id } });
    const more = await thrownBy(generateImage({ ...call, maxRetries: 1 }));
    expect(RetryError.isInstance(more)).toBe(true);
    expect(await creations()).toHaveLength(3);
    expect((await service.account(account.id)).availableMicros).toBe(25_000_000);
  });

  it('A mask is refused before anything is sent', async () => {
    const { provider, sent } = await customer();
    const prompt = { text: 'a lake', images: [png(64, 64)], mask: png(64, 64) };
    const thrown = await thrownBy(generateImage({ model: provider.image('sandbox-standard'), prompt }));
    expect(thrown).toMatchObject({ isRetryable: false, message: expect.stringContaining('mask') as string });
    expect(sent).toEqual([]);
  });

  it('A picture that is not ready in time names its creation, and is not paid again', async () => {
    const { provider, creations } = await customer();
    const thrown = await thrownBy(
      generateImage({
        model: provider.image('sandbox-sketch'),
        prompt: 'a lake [sandbox:delay=60s]',
        providerOptions: { darkroom: { timeoutMs: 50 } },
      }),
    );
    const [creation] = await creations();
    expect(thrown).toMatchObject({ isRetryable: false, data: { creationId: creation?.id } });
    expect(await creations()).toHaveLength(1);
  });
});

describe('what ai may repeat', () => {
  const call = async (
    reply: (sent: Sent) => Response | Error,
    options: DarkroomImageOptions = {},
    n = 1,
  ): Promise<unknown> => {
    const { darkroom } = stub(reply);
    const model = createDarkroom(darkroom).image('m');
    const prompt = 'a lake';
    return thrownBy(
      generateImage({ model, prompt, n, maxRetries: 0, providerOptions: { darkroom: options } }),
    );
  };
  const broken = (): Error => new TypeError('fetch failed');
  const busy = (): Response => refusal(503, 'ERR_PROVIDER_UNAVAILABLE', {}, { 'retry-after': '5' });

  it('A connection that breaks leaves the payment open: only a call with a key is repeated', async () => {
    expect(await call(broken)).toMatchObject({ isRetryable: false, data: { code: 'ConnectionError' } });
    expect(await call(broken, { idempotencyKey: 'one' })).toMatchObject({
      isRetryable: true,
      data: { idempotencyKey: 'one' },
    });
  });

  it('An internal error leaves the payment open, too', async () => {
    const internal = (): Response => refusal(500, 'ERR_INTERNAL');
    expect(await call(internal)).toMatchObject({ isRetryable: false, statusCode: 500 });
    expect(await call(internal, { idempotencyKey: 'one' })).toMatchObject({ isRetryable: true });
  });

  it('A refusal that costs nothing is repeated after the wait that it names, up to a minute', async () => {
    expect(await call(busy)).toMatchObject({ isRetryable: true, responseHeaders: { 'retry-after': '5' } });
    const tomorrow = (): Response => refusal(429, 'ERR_QUOTA_EXCEEDED', {}, { 'retry-after': '7200' });
    expect(await call(tomorrow)).toMatchObject({ isRetryable: false, statusCode: 429 });
  });

  it('A refusal that costs nothing is repeated only with a key, if an answer before it was lost', async () => {
    let calls = 0;
    const lostThenBusy = (): Response | Error => ((calls += 1) === 1 ? broken() : busy());
    expect(await call(lostThenBusy)).toMatchObject({ isRetryable: false, statusCode: 503 });
    calls = 0;
    expect(await call(lostThenBusy, { idempotencyKey: 'one' })).toMatchObject({ isRetryable: true });
  });

  it('Three pictures are repeated only if nothing is paid for any of them', async () => {
    const one = ({ headers }: Sent): Response | Error =>
      headers.get('idempotency-key') === 'uuid-3' ? broken() : busy();
    expect(await call(busy, {}, 3)).toMatchObject({ isRetryable: true });
    expect(await call(one, {}, 3)).toMatchObject({ isRetryable: false });
  });

  it('Each picture of a call has a key of its own, made from the key of the call', async () => {
    const keys: (string | null)[] = [];
    const refused = ({ headers }: Sent): Response => {
      keys.push(headers.get('idempotency-key'));
      return refusal(402, 'ERR_INSUFFICIENT_BALANCE');
    };
    await call(refused, { idempotencyKey: 'one' }, 3);
    expect(keys).toEqual(['one', 'one-2', 'one-3']);
  });

  it('A picture that was paid and cannot be downloaded is not paid again', async () => {
    const reply = ({ path }: Sent): Response | Error =>
      path === '/images/generate'
        ? json({ id: 'paid', status: 'completed', cost: 1, results: [{ url: 'https://results.test/1' }] })
        : broken();
    expect(await call(reply)).toMatchObject({ isRetryable: false, data: { creationId: 'paid' } });
  });
});

it('A client and its options give the same provider', async () => {
  const { key } = await customer();
  const darkroom = new Darkroom({ apiKey: key, baseUrl: service.machine.apiUrl });
  const { image } = await generateImage({
    model: createDarkroom(darkroom).image('sandbox-sketch'),
    prompt: 'a lake',
  });
  expect(image.mediaType).toBe('image/png');
});
