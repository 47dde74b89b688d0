/** The client against the real local service: its examples and its whole surface. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Darkroom } from '../../client/src/index.ts';
import { InsufficientBalance, InvalidRequest, TimeoutError } from '../../client/src/errors.ts';
import { startBucketServer } from '../../lab/buckets/bucket-server.ts';
import { png } from '../whole/image-origin.ts';
import { adminJson } from '../admin/admin-run.ts';
import { sharedTestService, type TestService } from '../fixtures/service.ts';
import { root } from '../docs/pages.ts';
import { portOf } from '../fixtures/values.ts';
import { docstringExamples, pageExamples, runExample, type Ran } from './doc-examples.ts';
import { everyScope } from '../operator/operator-service.ts';
import { thrownBy } from './stub.ts';

/** A picture takes a tenth of a second of the processor. A prompt with this directive costs none. */
const unpainted = '[sandbox:delay=60s]';
/** The sandbox keeps its last pictures, so a prompt of an example that comes again costs none, too. */
const painted = { 'a lake at dawn': 'a lake', 'a quiet lake at dawn': 'a lake', 'a lighthouse': 'a lake' };

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await sharedTestService();
  vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);
  folder = await mkdtemp(join(tmpdir(), 'darkroom-client-'));
  await writeFile(join(folder, 'lake.png'), png(64, 64));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  await service.end();
  await rm(folder, { recursive: true, force: true });
});

async function newDarkroom(wanted: object = {}): Promise<Darkroom> {
  const { key } = await service.client({ postRate: '1000', ...wanted });
  return new Darkroom({ apiKey: key, baseUrl: service.machine.apiUrl });
}

describe('the examples of the docstrings', () => {
  const examples = docstringExamples('client/src').filter(({ code }) => !code.includes('verifyWebhook'));

  let operatorKey: string;
  let bucket: Awaited<ReturnType<typeof startBucketServer>>;
  beforeAll(async () => {
    bucket = await startBucketServer({
      bucket: 'our-pictures',
      region: 'eu-central-1',
      accessKeyId: 'AKIATEST',
      secretAccessKey: 'secret-of-the-bucket',
      now: () => service.operator.clock.now(),
    });
    const create = ['operator-keys', 'create', '--name', 'examples', '--scopes', everyScope];
    operatorKey = String((await adminJson(service.folder, ...create))['key']);
  });
  afterAll(async () => bucket.end());

  it('Every file with public functions has examples', () => {
    expect(new Set(examples.map(({ name }) => name.split(' ')[0]))).toEqual(
      new Set([
        'ai-sdk/order.ts',
        'ai-sdk/provider.ts',
        'darkroom.ts',
        'errors.ts',
        'http/call.ts',
        'index.ts',
        'operator/darkroom-operator.ts',
        'pages.ts',
        ...[
          'account',
          'bucket',
          'creations',
          'endpoints',
          'events',
          'images',
          'requests',
          'transfers',
          'user-tokens',
        ].map((name) => `resources/${name}.ts`),
      ]),
    );
  });

  for (const example of examples) {
    it(`${example.name} prints what it promises`, async () => {
      const { key } = await service.client();
      vi.stubEnv('DARKROOM_API_KEY', key);
      vi.stubEnv('DARKROOM_OPERATOR_KEY', operatorKey);
      vi.stubEnv('BUCKET_KEY', 'AKIATEST');
      vi.stubEnv('BUCKET_SECRET', 'secret-of-the-bucket');
      vi.stubEnv('DARKROOM_BASE_URL', service.machine.apiUrl);
      const ran = await runExample(example, {
        darkroom: new Darkroom(),
        replaced: {
          ...painted,
          'lake.png': join(folder, 'lake.png'),
          'https://example.com/hooks': service.machine.inboxUrl,
          'https://s3.example.com': bucket.url,
        },
      });
      expect(ran.promised.length).toBeGreaterThan(0);
      expect(ran.printed).toEqual(ran.promised);
    });
  }
});

describe('docs/client.md and the page of the package', () => {
  const pages = ['docs/client.md', 'client/README.md'].flatMap(pageExamples);
  const examples = new Map(pages.map((example) => [example.name, example]));
  /** A reader pastes all examples in one terminal, so all have the key of one account. */
  let key: string;
  beforeAll(async () => {
    ({ key } = await service.client());
    process.chdir(folder);
  });
  afterAll(() => process.chdir(root));

  async function run(name: string): Promise<Ran> {
    const example = examples.get(name);
    if (!example) throw new Error(`no page has the example ${name}`);
    vi.stubEnv('DARKROOM_API_KEY', key);
    vi.stubEnv('DARKROOM_BASE_URL', service.machine.apiUrl);
    vi.stubEnv('PORT', '0');
    return runExample(example, { darkroom: new Darkroom(), replaced: painted });
  }

  it('Every example of the page is tested', () => {
    const tested = 'quick-start as-response repeat errors express next lambda worker ai-sdk read-me';
    expect([...examples.keys()]).toEqual(tested.split(' '));
  });

  it.each(['quick-start', 'read-me'])(
    'The program %s has at most ten lines, and saves an image',
    async (name) => {
      await rm('lake.png', { force: true });
      await run(name);
      expect(examples.get(name)?.code.trim().split('\n').length).toBeLessThanOrEqual(10);
      expect((await readFile('lake.png')).subarray(1, 4).toString()).toBe('PNG');
    },
  );

  for (const name of ['as-response', 'repeat', 'errors', 'ai-sdk']) {
    it(`The example ${name} prints what it promises`, async () => {
      const { printed, promised } = await run(name);
      expect(promised).toHaveLength(name === 'ai-sdk' ? 2 : 1);
      expect(printed).toEqual(promised);
    });
  }

  it('The example repeat throws the error of a broken connection, with its key', async () => {
    const darkroom = new Darkroom({ apiKey: key, baseUrl: 'http://127.0.0.1:1', maxRetries: 0 });
    const error = await thrownBy(runExample(examples.get('repeat') ?? { name: '', code: '' }, { darkroom }));
    expect(error).toMatchObject({ name: 'ConnectionError', idempotencyKey: expect.any(String) as string });
  });

  it('The recipe for Express makes one creation of an order that comes twice', async () => {
    const { exported } = await run('express');
    const server = exported['server'] as Server;
    const order = async (): Promise<unknown> =>
      (
        await fetch(`http://127.0.0.1:${portOf(server)}/orders/4711/image`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"prompt":"a lake"}',
        })
      ).json();
    try {
      const first = await order();
      expect(first).toEqual({ creation: expect.any(String) as string });
      expect(await order()).toEqual(first);
    } finally {
      server.close();
    }
  });

  it('The recipe for Next.js answers with the image, or with the failure', async () => {
    const { POST } = (await run('next')).exported as { POST: (request: Request) => Promise<Response> };
    const post = async (prompt: string): Promise<Response> =>
      POST(new Request('http://page.test', { method: 'POST', body: JSON.stringify({ prompt }) }));
    expect(await (await post('a lake')).json()).toEqual({ image: expect.stringContaining('http') as string });
    const failed = await post('a lake [sandbox:reject-prompt]');
    expect([failed.status, await failed.json()]).toMatchObject([422, { code: 'prompt_rejected' }]);
  });

  it('The recipe for Lambda gives one creation for one invocation', async () => {
    const { handler } = (await run('lambda')).exported as {
      handler: (event: object, context: object) => Promise<{ creation: string }>;
    };
    const context = { awsRequestId: 'r1', getRemainingTimeInMillis: () => 30_000 };
    const first = await handler({ prompt: 'a lake' }, context);
    expect(await handler({ prompt: 'a lake' }, context)).toEqual(first);
  });

  it('The worker saves the image, and gives a prompt up that was rejected', async () => {
    const { exported, printed, promised } = await run('worker');
    expect(printed).toEqual(promised);
    const { work } = exported as { work: (job: object) => Promise<string> };
    const file = join(folder, 'work.png');
    const job = (prompt: string): object => ({
      id: prompt,
      file,
      request: { model: 'sandbox-sketch', prompt },
    });
    const [done, rejected] = await Promise.all([work(job('a lake')), work(job('[sandbox:reject-prompt]'))]);
    expect([done, rejected]).toEqual(['done', expect.stringMatching(/^given up: Prompt rejected/)]);
    expect((await readFile(file)).subarray(1, 4).toString()).toBe('PNG');
  });
});

describe('the client at the real service', () => {
  it('A request with an upload gives an image, and the balance pays for it once', async () => {
    const darkroom = await newDarkroom();
    const lake = await darkroom.uploads.create(png(64, 64));
    const done = await darkroom.images.generateAndWait({
      model: 'sandbox-standard',
      prompt: 'in winter',
      image_urls: [lake],
      metadata: { order: '4711' },
    });
    const image = await darkroom.results.download(done.results[0]);
    expect(done).toMatchObject({
      status: 'completed',
      metadata: { order: '4711' },
      cost: expect.any(Number) as number,
    });
    expect([image.type, image.size]).toEqual(['image/png', done.results[0]?.bytes]);
    expect((await darkroom.balance.get()).available).toBeCloseTo(25 - done.cost, 6);
  });

  it('The same key gives the same creation, and another request with it is refused', async () => {
    const darkroom = await newDarkroom();
    const request = { model: 'sandbox-sketch', prompt: `a boat ${unpainted}` };
    const first = await darkroom.images.generate(request, { idempotencyKey: 'one' });
    const second = await darkroom.images.generate(request, { idempotencyKey: 'one' });
    const other = await thrownBy(
      darkroom.images.generate({ ...request, prompt: 'two boats' }, { idempotencyKey: 'one' }),
    );
    expect(second.id).toBe(first.id);
    expect(other).toBeInstanceOf(InvalidRequest);
    expect(other).toMatchObject({ reason: 'idempotency_key_mismatch', idempotencyKey: 'one' });
  });

  it('A wallet that is too small is reported in numbers, without a retry', async () => {
    const error = await thrownBy(
      (await newDarkroom({ balance: '0.005' })).images.generate({
        model: 'sandbox-sketch',
        prompt: 'a boat',
      }),
    );
    expect(error).toBeInstanceOf(InsufficientBalance);
    expect(error).toMatchObject({
      required: 0.01,
      available: 0.005,
      requestId: expect.any(String) as string,
    });
  });

  it('A wait that ends too early names the creation, which then completes', async () => {
    const darkroom = await newDarkroom();
    const error = await thrownBy(
      darkroom.images.generateAndWait(
        { model: 'sandbox-sketch', prompt: 'a boat [sandbox:delay=2s]' },
        { timeoutMs: 100 },
      ),
    );
    expect(error).toBeInstanceOf(TimeoutError);
    const { creationId = '' } = error as TimeoutError;
    expect((await darkroom.creations.wait(creationId)).id).toBe(creationId);
  });

  it('A creation that no provider has begun is cancelled and refunded', async () => {
    const darkroom = await newDarkroom();
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    try {
      const creation = await darkroom.images.generate({ model: 'sandbox-sketch', prompt: 'a boat' });
      const cancelled = await darkroom.creations.cancel(creation);
      expect(cancelled).toMatchObject({ id: creation.id, status: 'failed', amount_refunded: creation.cost });
      expect(cancelled.cancelled_at).not.toBeNull();
    } finally {
      service.machine.faults.clear();
    }
  });

  it('The list has every creation once, page by page', async () => {
    const darkroom = await newDarkroom();
    const made: string[] = [];
    for (const prompt of ['one', 'two', 'three']) {
      const request = { model: 'sandbox-sketch', prompt: `${prompt} ${unpainted}` };
      made.unshift((await darkroom.images.generate(request)).id);
    }
    const listed: string[] = [];
    for await (const { id } of darkroom.creations.list({ limit: 1 })) listed.push(id);
    expect(listed).toEqual(made);
  });
});
