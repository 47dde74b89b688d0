/** The unmodified openai library against the service: pictures, edits, streams, models and long renders. */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakes } from '../../../lab/vendors/fakes/all-fakes.ts';
import { pictureOf } from '../../../lab/vendors/fakes/fake-vendor.ts';
import { fakeOpenaiKey } from '../../../lab/vendors/fakes/openai/server.ts';
import { environmentOf } from '../../../lab/vendors/fleet.ts';
import { startTestService } from '../../fixtures/service.ts';
import { png } from '../image-origin.ts';
import { openaiCustomer, type OpenaiCustomer, typeOf } from './openai-customer.ts';

/** What the vendor paints: 15 MB when it has to paint 4K. */
const largeBytes = 15_000_000;
const large = Buffer.concat([pictureOf('png', 2880, 2880), randomBytes(largeBytes)]).subarray(0, largeBytes);

const model = 'sandbox-sketch';
const vendor = await fakes.openai.start((format, width, height) =>
  width * height > 6_000_000 ? large : pictureOf(format, width, height),
);
const service = await startTestService({ environment: environmentOf([['openai', vendor]]) });
await service.operator.credentials.set('openai', fakeOpenaiKey);
await service.operator.providers.enable('openai');
/** A render of 40 s waits, and takes no time of a processor. It begins with the file, beside the other tests. */
const longRender = renderLong();
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await service.end();
  await vendor.stop();
});

interface LongRender {
  readonly seconds: number;
  readonly type: string;
  readonly customer: OpenaiCustomer;
}

async function renderLong(): Promise<LongRender> {
  const customer = await openaiCustomer(service);
  const began = performance.now();
  const { data } = await customer.openai.images.generate({ model, prompt: 'a lake [sandbox:delay=40s]' });
  const seconds = (performance.now() - began) / 1_000;
  return { seconds, type: typeOf(data?.[0]?.b64_json), customer };
}

const file = async (name: string, width = 64): Promise<File> =>
  toFile(png(width, 64), name, { type: 'image/png' });

async function base64At(url: string | undefined): Promise<string> {
  const answer = await fetch(url ?? '');
  return Buffer.from(await answer.arrayBuffer()).toString('base64');
}

describe('images.generate', () => {
  it('A picture arrives as base64, with its size, its creation and its price', async () => {
    const { openai, creations, sent } = await openaiCustomer(service);
    const answer = await openai.images.generate({ model, prompt: 'a lake', size: '1024x1024' });
    const [creation] = await creations();
    expect(typeOf(answer.data?.[0]?.b64_json)).toBe('png');
    expect(answer).toMatchObject({
      size: '1024x1024',
      output_format: 'png',
      darkroom: { creation_ids: [creation?.id], cost: 0.01, currency: 'USD' },
    });
    expect(sent).toMatchObject([{ path: '/images/generations', tries: 0, status: 200 }]);
    expect(sent[0]?.headers?.get('x-darkroom-creation-id')).toBe(creation?.id);
    expect(sent[0]?.headers?.get('x-darkroom-cost')).toBe('0.01');
  });

  it('Three pictures are three creations, charged together', async () => {
    const { openai, creations, account } = await openaiCustomer(service);
    const { data = [] } = await openai.images.generate({ model, prompt: 'a lake', n: 3 });
    expect(data.map(({ b64_json }) => typeOf(b64_json))).toEqual(['png', 'png', 'png']);
    expect(await creations()).toHaveLength(3);
    expect((await service.account(account.id)).availableMicros).toBe(24_970_000);
  });

  it('An address instead of base64 leads to the picture', async () => {
    const { openai } = await openaiCustomer(service);
    const order = { model, prompt: 'a lake', response_format: 'url' } as const;
    const { data } = await openai.images.generate(order);
    expect(data?.[0]?.b64_json).toBeUndefined();
    expect(typeOf(await base64At(data?.[0]?.url))).toBe('png');
  });

  it.each([model, 'dall-e-3', undefined])(
    'A request with the model %s that names no format gets both forms of each picture',
    async (named) => {
      const { openai } = await openaiCustomer(service);
      const order = { prompt: 'a lake', n: 2, ...(named !== undefined && { model: named }) };
      const { data = [] } = await openai.images.generate(order);
      expect(data.map(({ b64_json }) => typeOf(b64_json))).toEqual(['png', 'png']);
      // A program that reads only the address, as LangChain for Python does.
      expect(await Promise.all(data.map(async ({ url }) => base64At(url)))).toEqual(
        data.map(({ b64_json }) => b64_json),
      );
    },
  );

  it('A model of OpenAI by its name is the default model of the service', async () => {
    const { openai, creations } = await openaiCustomer(service);
    const { data } = await openai.images.generate({ model: 'gpt-image-1', prompt: 'a lake' });
    expect(Object.keys(data?.[0] ?? {})).toEqual(['b64_json']);
    expect(await creations()).toMatchObject([{ model: 'sandbox-standard' }]);
  });

  it('A stream gives the picture as one event', async () => {
    const { openai } = await openaiCustomer(service);
    const stream = await openai.images.generate({ model, prompt: 'a lake', stream: true, partial_images: 0 });
    const events: string[] = [];
    for await (const event of stream) events.push(`${event.type} ${typeOf(event.b64_json)}`);
    expect(events).toEqual(['image_generation.completed png']);
  });
});

describe('The lines of docs/openai.md after 504 still_rendering', () => {
  const [, section = ''] = readFileSync('docs/openai.md', 'utf8').split('### How long it takes');

  it.each([
    ['sh', 'sh'],
    ['python', 'python3'],
  ])('The lines of %s fetch the paid picture with the same key', async (language, program) => {
    const [, lines = ''] = new RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\``).exec(section) ?? [];
    const { key, account } = await service.client();
    const answer = await fetch(`${service.machine.openaiUrl}/images/generations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        // The request is held for half of a short limit.
        'x-stainless-read-timeout': '1',
      },
      body: JSON.stringify({ model, prompt: 'a lake [sandbox:delay=3s]' }),
    });
    expect(answer.status).toBe(504);
    const folder = await mkdtemp(join(tmpdir(), 'darkroom-after-504-'));
    await writeFile(join(folder, 'answer.json'), await answer.text());
    const env = { ...process.env, OPENAI_API_KEY: key };
    await promisify(execFile)(program, ['-c', lines], { cwd: folder, env, timeout: 60_000 });
    const [creation] = await service.operator.creations.list(account.id, 10);
    const [image] = creation?.results ?? [];
    expect(typeOf(await readFile(join(folder, 'image.png'), 'base64'))).toBe('png');
    expect((await stat(join(folder, 'image.png'))).size).toBe(image?.bytes);
    expect((await service.account(account.id)).availableMicros).toBe(24_990_000);
    await rm(folder, { recursive: true });
  });
});

describe('images.edit', () => {
  it('One file is a source image', async () => {
    const { openai, creations } = await openaiCustomer(service);
    const { data } = await openai.images.edit({
      model: 'sandbox-standard',
      prompt: 'in winter',
      image: await file('lake.png'),
    });
    expect(typeOf(data?.[0]?.b64_json)).toBe('png');
    expect(await creations()).toMatchObject([{ sources: [{ width: 64 }] }]);
  });

  it('Two files are source images in their order', async () => {
    const { openai, creations } = await openaiCustomer(service);
    const image = [await file('a.png', 65), await file('b.png', 66)];
    await openai.images.edit({ model: 'sandbox-standard', prompt: 'both', image });
    expect(await creations()).toMatchObject([{ sources: [{ width: 65 }, { width: 66 }] }]);
  });

  it('A stream of an edit gives the picture as one event', async () => {
    const { openai } = await openaiCustomer(service);
    const image = await file('lake.png');
    const stream = await openai.images.edit({
      model: 'sandbox-standard',
      prompt: 'at night',
      image,
      stream: true,
    });
    const events: string[] = [];
    for await (const event of stream) events.push(`${event.type} ${typeOf(event.b64_json)}`);
    expect(events).toEqual(['image_edit.completed png']);
  });
});

describe('models', () => {
  it('The list has the models of the account, and each can be read', async () => {
    const { openai } = await openaiCustomer(service);
    const ids: string[] = [];
    for await (const { id } of openai.models.list()) ids.push(id);
    expect(ids).toEqual(expect.arrayContaining(['sandbox-sketch', 'gpt-image-2']));
    expect(await openai.models.retrieve('sandbox-sketch')).toMatchObject({ object: 'model' });
  });
});

describe('a render that takes long', () => {
  /** A busy machine may need more than two tries, but only the last one gets the picture. */
  function expectLateAnswer(sent: OpenaiCustomer['sent'], before: number | undefined): void {
    const tries = sent.map(({ tries: count, status }) => [count, status]);
    expect(tries.length).toBeGreaterThan(1);
    expect(tries).toEqual(tries.map((_try, index) => [index, index === tries.length - 1 ? 200 : before]));
  }

  it('The library gets an answer before the time limit of its request, and its retry gets the same picture', async () => {
    const { openai, sent, creations } = await openaiCustomer(service, { library: { maxRetries: 6 } });
    const order = { model, prompt: 'a lake [sandbox:delay=4s]' };
    const { data } = await openai.images.generate(order, { timeout: 6_000 });
    expect(typeOf(data?.[0]?.b64_json)).toBe('png');
    expectLateAnswer(sent, 504);
    expect(await creations()).toHaveLength(1);
  });

  it('A library that does not send its time limit breaks off, and its retry gets the same picture', async () => {
    const library = { timeout: 3_000, maxRetries: 6 };
    const { openai, sent, creations } = await openaiCustomer(service, { library });
    const { data } = await openai.images.generate({ model, prompt: 'a lake [sandbox:delay=4s]' });
    expect(typeOf(data?.[0]?.b64_json)).toBe('png');
    expectLateAnswer(sent, undefined);
    expect(await creations()).toHaveLength(1);
  });
});

describe('a 4K PNG of 15 MB', () => {
  const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const order = { model: 'gpt-image-2-low', prompt: 'a lake', size: '2880x2880' } as const;
  let customer: OpenaiCustomer;
  beforeAll(async () => {
    customer = await openaiCustomer(service);
  });

  it('The picture arrives whole as base64', async () => {
    const { data } = await customer.openai.images.generate(order);
    const picture = Buffer.from(data?.[0]?.b64_json ?? '', 'base64');
    expect([picture.length, sha(picture)]).toEqual([largeBytes, sha(large)]);
  });

  it('The picture arrives whole through the stream', async () => {
    const stream = await customer.openai.images.generate({ ...order, stream: true });
    const pictures: Buffer[] = [];
    for await (const { b64_json } of stream) pictures.push(Buffer.from(b64_json, 'base64'));
    expect(pictures.map(sha)).toEqual([sha(large)]);
  });
});

it('A render of 40 s is one request and one creation', async () => {
  const { seconds, type, customer } = await longRender;
  expect(type).toBe('png');
  expect(seconds).toBeGreaterThanOrEqual(40);
  expect([customer.sent.length, (await customer.creations()).length]).toEqual([1, 1]);
});
