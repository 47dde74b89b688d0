/** What the compatible adapter reads in the answers of servers of each style. */
import { afterAll, describe, expect, it } from 'vitest';
import type { FakeStyle } from '../../lab/vendors/fakes/compatible/rules.ts';
import { pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import { outputFormats } from '../../service/contract/request-fields.ts';
import { checkCompatible, createCompatible } from '../../service/vendors/compatible/provider.ts';
import { styles } from '../../service/vendors/compatible/styles.ts';
import type { RenderJob } from '../../service/vendors/provider.ts';
import { never, startAnsweringVendor } from './answering-vendor.ts';
import { prompt, startStages } from './compatible-stage.ts';
import { headerOf, jobsLike, lastReceived, outcomeOf } from './vendor-talk.ts';

const [stages, vendor] = await Promise.all([startStages(), startAnsweringVendor()]);
afterAll(async () => Promise.all([stages.stop(), vendor.stop()]));

describe('An answer of a server', () => {
  const rows = stages.all.flatMap(({ style, rows: all }) => all.map((one) => ({ style, ...one })));

  it.each(rows)('$style: "$row" ($says) is $answers', async ({ style, row, answers, sources = 0 }) => {
    const { talk, aJob } = stages.of(style);
    const { answer, forgotten } = await talk.speak(
      aJob({ prompt: `${prompt} [row:${row}]`, sourceCount: sources }),
    );
    expect(outcomeOf(answer)).toBe(answers);
    expect(forgotten).toEqual(answers === 'credentials' ? [style] : []);
    if (answer.kind === 'refused')
      expect(answer.detail).toMatch(/^(HTTP \d{3}( [\w.: -]+)?|[A-Z_]+|an address of another host)$/);
    expect(JSON.stringify(answer)).not.toContain('lighthouse');
  });

  it.each<[FakeStyle, Partial<RenderJob>, number | undefined]>([
    ['xai', { quality: 'low' }, 40_000],
    ['xai', { quality: 'medium', resolution: '2K' }, 80_000],
    ['recraft', {}, 7_000],
    ['litellm', {}, 12_300],
    ['litellm', { prompt: 'A cat [row:address]' }, 12_300],
    ['ark', {}, undefined],
    ['vllm-omni', {}, undefined],
  ])('%s tells with %j that %s micro-dollars are billed', async (style, change, billed) => {
    const { talk, aJob } = stages.of(style);
    const answer = await talk.answerTo(aJob(change));
    expect(answer).toMatchObject({ kind: 'rendered' });
    expect(answer.kind === 'rendered' ? answer.billedMicros : 'none').toBe(billed);
  });

  it('The formats that a server offers come as they were asked for', async () => {
    for (const outputFormat of outputFormats) {
      const { talk, aJob } = stages.of('sglang');
      expect(headerOf(await talk.answerTo(aJob({ outputFormat })))?.contentType).toBe(
        `image/${outputFormat}`,
      );
    }
  });
});

describe('A bill in an answer', () => {
  const job = jobsLike({ providerModel: 'model', prompt })();
  const b64_json = pictureOf('png', 8, 8).toString('base64');
  it.each<[unknown, number | undefined]>([
    [10_000, 1],
    [15_000, 2],
    [4_999, 0],
    [0, 0],
    [-1, undefined],
    ['200000000', undefined],
    [null, undefined],
    [1e30, undefined],
  ])('%j ticks of xAI are %s micro-dollars', async (ticks, billed) => {
    const usage = { cost_in_usd_ticks: ticks };
    vendor.answerWith({ status: 200, body: { data: [{ b64_json }], usage } });
    const answer = (await createCompatible({
      ...vendor.settings,
      style: styles.xai,
      baseUrl: vendor.url,
    }).submit(job, never)) as { readonly billedMicros?: number };
    expect(answer.billedMicros).toBe(billed);
  });
});

describe('The check of a server', () => {
  it.each(stages.all)('$style is asked by the free call of its style', async ({ style, fake, key, talk }) => {
    const server = { ...talk.settings(), baseUrl: fake.url, style: styles[style] };
    const credential = key === null ? 'none' : 'key';
    expect(await checkCompatible({ ...server, credential }, never)).toMatchObject({ verdict: 'accepted' });
    const { method, path, headers } = lastReceived(fake);
    expect([method, path, headers['authorization']]).toEqual([
      'GET',
      styles[style].checkPath,
      key === null ? undefined : `Bearer ${key}`,
    ]);
  });

  it('A server without a free call is not asked', async () => {
    const before = vendor.received.length;
    const style = { ...styles.openai, checkPath: null };
    expect(await checkCompatible({ ...vendor.settings, baseUrl: vendor.url, style }, never)).toEqual({
      verdict: 'unchecked',
      detail: 'the server has no call that costs nothing',
    });
    expect(vendor.received).toHaveLength(before);
  });
});
