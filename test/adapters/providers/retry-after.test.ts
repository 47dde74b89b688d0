/** How long a vendor wants to be left alone, as the adapters read it. */
import { BedrockRuntimeClient, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createVendors } from '../../../adapters/providers/vendors.ts';
import { retryAfterOf } from '../../../adapters/providers/vendor-http.ts';
import { systemClock } from '../../../adapters/system-clock.ts';
import type { ProviderAnswer } from '../../../core/provider.ts';
import { jobsLike } from './vendor-talk.ts';

const date = 'Sat, 21 Nov 2026 12:00:30 GMT';
const withDate = (retryAfter: string): Record<string, string> => ({ date, 'retry-after': retryAfter });

describe('Retry-After', () => {
  it.each<[string, Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '20' }, 20_000],
    ['no seconds at all', { 'retry-after': '0' }, 0],
    ['part of a second', { 'retry-after': '0.25' }, 250],
    ['a date', withDate('Sat, 21 Nov 2026 12:00:50 GMT'), 20_000],
    ['a date that is over', withDate('Sat, 21 Nov 2026 11:00:00 GMT'), 0],
    ['a date in an answer without one', { 'retry-after': date }, undefined],
    ['a date that is none', withDate('Sat, 32 Nov 2026 12:00:50 GMT'), undefined],
    ['a day', { 'retry-after': '86400' }, 120_000],
    ['a date of next year', withDate('Sun, 21 Nov 2027 12:00:50 GMT'), 120_000],
    ['milliseconds of OpenAI', { 'retry-after-ms': '1500', 'retry-after': '2' }, 1_500],
    ['milliseconds that are no number', { 'retry-after-ms': 'soon', 'retry-after': '2' }, 2_000],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['a power of ten', { 'retry-after': '1e3' }, undefined],
    ['a word', { 'retry-after': 'later' }, undefined],
    ['nothing', { 'retry-after': '' }, undefined],
    ['no header', {}, undefined],
  ])('An answer with %s tells %o as %s', (_what, headers, millis) => {
    expect(retryAfterOf({ status: 429, headers: new Headers(headers) })).toBe(millis);
  });

  it('Only 429 and 503 prove that the vendor accepted nothing', () => {
    const headers = new Headers({ 'retry-after': '20' });
    expect([429, 503, 500, 502, 402, 200].map((status) => retryAfterOf({ status, headers }))).toEqual([
      20_000,
      20_000,
      ...Array.from({ length: 4 }, () => undefined),
    ]);
  });
});

describe('an adapter whose vendor throttles us', () => {
  afterEach(() => vi.unstubAllGlobals());
  const vendors = createVendors({
    credentials: { read: async () => Promise.resolve('a-key'), forget: () => undefined },
    clock: systemClock,
    baseUrls: {},
    bedrockRegion: 'us-west-2',
  });
  const job = jobsLike({ providerModel: 'gemini-3-pro-image', outputFormat: 'jpeg' })();
  const submit = async (name: string): Promise<ProviderAnswer | undefined> =>
    (await vendors.get(name))?.submit(job, new AbortController().signal);
  const told = { kind: 'refused', reason: 'unavailable', retryAfterMillis: 20_000 };

  it.each(['openai', 'google', 'bfl', 'fal', 'replicate', 'alibaba', 'ideogram'])(
    'The adapter of %s says how long the vendor wants to be left alone',
    async (name) => {
      for (const status of [429, 503]) {
        vi.stubGlobal('fetch', async () =>
          Promise.resolve(new Response('{}', { status, headers: { 'retry-after': '20' } })),
        );
        expect(await submit(name)).toMatchObject(told);
      }
      vi.stubGlobal('fetch', async () => Promise.resolve(new Response('{}', { status: 429 })));
      expect(await submit(name)).not.toHaveProperty('retryAfterMillis');
    },
  );

  it('The adapter of Bedrock reads the answer that the SDK keeps beside its error', async () => {
    const mocked = mockClient(BedrockRuntimeClient);
    const thrown = { name: 'ThrottlingException', $metadata: { httpStatusCode: 429 } };
    const $response = { statusCode: 429, headers: { 'retry-after': '20' } };
    mocked.on(InvokeModelCommand).rejects(Object.assign(new Error(), thrown, { $response }));
    expect(await submit('bedrock')).toMatchObject(told);
    mocked.on(InvokeModelCommand).rejects(Object.assign(new Error(), thrown));
    expect(await submit('bedrock')).not.toHaveProperty('retryAfterMillis');
    mocked.restore();
  });
});
