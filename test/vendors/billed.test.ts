/** What each vendor's answer says that a picture costs, over real sockets, and answers that make no sense. */
import { afterAll, describe, expect, it } from 'vitest';
import { readProviderCosts } from '../../admin/catalog/catalog-files.ts';
import { fakes } from '../../lab/vendors/fakes/all-fakes.ts';
import { tokenPricesOf, unitMicrosOf } from '../../service/render/route-costs.ts';
import { fromUsd } from '../../service/values/money.ts';
import { createBfl } from '../../service/vendors/bfl.ts';
import { createFal } from '../../service/vendors/fal/provider.ts';
import { createGoogle } from '../../service/vendors/google.ts';
import { createOpenai } from '../../service/vendors/openai.ts';
import type { ProviderAnswer, RenderJob } from '../../service/vendors/provider.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import { never, startAnsweringVendor } from './answering-vendor.ts';
import { headed, jobsLike, talkTo } from './vendor-talk.ts';

const adapters = {
  openai: createOpenai,
  google: createGoogle,
  bfl: createBfl,
  fal: createFal,
  replicate: createReplicate,
};
type Name = keyof typeof adapters;
const names = Object.keys(adapters) as Name[];
const started = new Map(
  await Promise.all(names.map(async (name) => [name, await fakes[name].start(headed)] as const)),
);
const answering = await startAnsweringVendor();
afterAll(() => Promise.all([answering, ...started.values()].map((vendor) => vendor.stop())));

/** A job with the prices of service/catalog/provider-costs.json. */
function priced(provider: Name, job: Pick<RenderJob, 'providerModel'> & Partial<RenderJob>): RenderJob {
  const { providerModel, quality } = job;
  const route = { provider, providerModel, ...(quality !== undefined && { quality }) };
  const tokenPrices = tokenPricesOf(readProviderCosts(), route);
  const unitMicros = unitMicrosOf(readProviderCosts(), route);
  return jobsLike(job)({
    ...(tokenPrices && { tokenPrices }),
    ...(unitMicros !== undefined && { unitMicros }),
  });
}

async function billed(provider: Name, job: RenderJob): Promise<unknown> {
  const fake = started.get(provider);
  if (!fake) throw new Error(`no fake of ${provider}`);
  const talk = talkTo({ name: provider, create: adapters[provider], fake, key: fakes[provider].key ?? '' });
  const answer = await talk.answerTo(job);
  expect(answer.kind).toBe('rendered');
  return answer.kind === 'rendered' ? answer.billedMicros : undefined;
}

describe('A picture', () => {
  it.each<[Name, Pick<RenderJob, 'providerModel'> & Partial<RenderJob>, number]>([
    ['openai', { providerModel: 'gpt-image-2', quality: 'low' }, 14 * 5 + 196 * 30],
    [
      'openai',
      { providerModel: 'gpt-image-2', quality: 'low', prompt: '[row:long-prompt]' },
      1_014 * 5 + 196 * 30,
    ],
    [
      'google',
      { providerModel: 'gemini-3-pro-image', outputFormat: 'jpeg' },
      12 * 2 + 1_120 * 120 + 200 * 12,
    ],
    ['bfl', { providerModel: 'flux-2-pro' }, 30_000],
    ['bfl', { providerModel: 'flux-2-pro', resolution: '2K' }, 75_000],
    ['bfl', { providerModel: 'flux-2-klein-4b' }, 14_000],
    ['fal', { providerModel: 'fal-ai/flux-2/klein/4b' }, 5_000],
    ['fal', { providerModel: 'fal-ai/flux-2/klein/4b', resolution: '2K' }, 20_000],
  ])('A picture of %s for %j costs %d micro-dollars by its answer', async (provider, job, micros) => {
    expect(await billed(provider, priced(provider, job))).toBe(micros);
  });

  it('A picture of a model of Replicate that is sold by the second costs its seconds', async () => {
    const job = jobsLike({ providerModel: 'black-forest-labs/flux-2-pro' })({ unitMicros: fromUsd(0.001_4) });
    expect(await billed('replicate', job)).toBe(4.25 * 1_400);
  });

  it.each<[Name, string]>([
    ['fal', 'fal-ai/flux-2-pro'],
    ['replicate', 'black-forest-labs/flux-2-pro'],
  ])('A picture of %s for a model whose unit has no price has no bill', async (provider, providerModel) => {
    expect(await billed(provider, priced(provider, { providerModel }))).toBeUndefined();
  });

  it('A picture whose tokens have no price has no bill', async () => {
    expect(await billed('openai', jobsLike({ providerModel: 'gpt-image-2' })())).toBeUndefined();
  });
});

describe('An answer that makes no sense gives its picture without a bill', () => {
  const tokenPrices = { text_in: 1, image_in: 1, image_out: 1, text_out: 1 };
  const picture = { kind: 'rendered', bytes: Buffer.from('b') };
  const b64 = picture.bytes.toString('base64');
  const aJob = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' });

  const counting = (text: unknown, output: number): object => ({
    input_tokens_details: { text_tokens: text, image_tokens: 0 },
    output_tokens: output,
  });
  it.each<[string, object | undefined]>([
    ['no usage', undefined],
    ['no details', { output_tokens: 5 }],
    ['a negative number', counting(-1, 5)],
    ['a text', counting('1', 5)],
    ['no tokens', counting(1, 0)],
    ['too many', counting(1, 1e15)],
  ])('OpenAI counts %s', async (_what, usage) => {
    answering.answerWith({ status: 200, body: { data: [{ b64_json: b64 }], usage } });
    expect(await createOpenai(answering.settings).submit(aJob({ tokenPrices }), never)).toEqual(picture);
  });

  const usageOf = (prompt: number | undefined, picture: number, tokenCount: unknown = 1_120): object => ({
    promptTokenCount: prompt,
    candidatesTokenCount: picture,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount }],
  });
  it.each<[string, object | undefined]>([
    ['no usage', undefined],
    ['no details', { promptTokenCount: 12, candidatesTokenCount: 1_120 }],
    ['no prompt', usageOf(undefined, 1_120)],
    ['fewer tokens in all than for the picture', usageOf(12, 3)],
    ['a text', usageOf(12, 1_120, 'many')],
  ])('Google counts %s', async (_what, usageMetadata) => {
    const parts = [{ inlineData: { data: b64 } }];
    const candidates = [{ finishReason: 'STOP', content: { parts } }];
    answering.answerWith({ status: 200, body: { candidates, usageMetadata } });
    expect(await createGoogle(answering.settings).submit(aJob({ tokenPrices }), never)).toEqual(picture);
  });

  it.each(['-1', 'NaN', 'many', '1e999', '99999999999', ''])('fal bills "%s" units', async (units) => {
    const { url } = answering;
    answering.answerWith((path) => ({
      status: 200,
      headers: { 'x-fal-billable-units': units },
      body: path === '/picture' ? 'b' : { status: 'COMPLETED', images: [{ url: `${url}/picture` }] },
    }));
    const jobId = `0 ${url}/status ${url}/result ${url}/cancel`;
    const job = aJob({ unitMicros: fromUsd(0.01) });
    expect(await createFal(answering.settings).poll?.(jobId, job, never)).toEqual(picture);
  });

  it.each([-1, '4', null, {}, 1e300])('Replicate counts %j seconds', async (seconds) => {
    const output = `${answering.url}/picture`;
    answering.answerWith((path) => ({
      status: 200,
      body: path === '/picture' ? 'b' : { status: 'succeeded', output, metrics: { predict_time: seconds } },
    }));
    const job = aJob({ unitMicros: fromUsd(0.01) });
    const answer = await createReplicate(answering.settings).poll?.('0 id', job, never);
    // A number in quotes is still a number.
    expect(answer).toEqual(seconds === '4' ? { ...picture, billedMicros: 40_000 } : picture);
  });

  it.each([-3, '3 4', null, {}, 1e300, [3]])('Black Forest Labs says that a job costs %j', async (cost) => {
    const { url } = answering;
    const submit = async (): Promise<ProviderAnswer> => createBfl(answering.settings).submit(aJob(), never);
    answering.answerWith({ status: 200, body: { polling_url: `${url}/poll`, cost } });
    expect(await submit()).toMatchObject({ kind: 'pending', jobId: `0 ${url}/poll` });
  });

  it('A job of Black Forest Labs that an older release submitted has no bill', async () => {
    const { url } = answering;
    answering.answerWith((path) => ({
      status: 200,
      body: path === '/picture' ? 'b' : { status: 'Ready', result: { sample: `${url}/picture` } },
    }));
    expect(await createBfl(answering.settings).poll?.(`3 ${url}/poll`, aJob(), never)).toEqual(picture);
  });
});
