/** How Bedrock is called over the AWS SDK, and what each error of the SDK means. */
import type { Agent } from 'node:http';
import { BedrockRuntimeClient, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../service/aws/clock.ts';
import { createBedrock } from '../../service/vendors/bedrock.ts';
import type { ProviderAnswer } from '../../service/vendors/provider.ts';
import { retryAfterOf } from '../../service/vendors/vendor-http.ts';
import { createVendors } from '../../service/vendors/vendors.ts';
import { jobsLike } from './vendor-talk.ts';

const never = new AbortController().signal;

const credentials = { read: async () => Promise.resolve('a-key'), forget: () => undefined };

describe('Bedrock', () => {
  const job = jobsLike({ providerModel: 'model' })();
  const identity = { accessKeyId: 'id', secretAccessKey: 'secret' };

  it.each([
    [undefined, 'https://bedrock-runtime.us-west-2.amazonaws.com'],
    ['https://bedrock.test', 'https://bedrock.test'],
  ])(
    'Bedrock with the endpoint %s is asked once, at %s, over its own connection',
    async (endpoint, origin) => {
      const mocked = mockClient(BedrockRuntimeClient);
      mocked.on(InvokeModelCommand).rejects(Object.assign(new Error(), { name: 'ThrottlingException' }));
      const provider = createBedrock({
        name: 'bedrock',
        region: 'us-west-2',
        credentials: identity,
        ...(endpoint !== undefined && { endpoint }),
      });
      expect(await provider.submit(job, never)).toMatchObject({ reason: 'unavailable' });
      const { config } = mocked.call(0).thisValue as BedrockRuntimeClient;
      const { protocol, hostname } = (await config.endpoint?.()) ?? {};
      expect([
        `${protocol ?? ''}//${hostname ?? ''}`,
        await config.maxAttempts(),
        await config.region(),
      ]).toEqual([origin, 1, 'us-west-2']);
      const { configProvider } = config.requestHandler as unknown as {
        configProvider: Promise<{ httpAgentProvider: () => Promise<Agent>; httpsAgent: Agent }>;
      };
      const { httpAgentProvider, httpsAgent } = await configProvider;
      expect([await httpAgentProvider(), httpsAgent]).toMatchObject([
        { keepAlive: false },
        { keepAlive: false },
      ]);
      mocked.restore();
    },
  );

  it('Bedrock is asked at the address and in the region that are set for it', async () => {
    const mocked = mockClient(BedrockRuntimeClient);
    mocked.on(InvokeModelCommand).rejects(Object.assign(new Error(), { name: 'ThrottlingException' }));
    const provider = await createVendors({
      credentials,
      clock: systemClock,
      baseUrls: { bedrock: 'https://bedrock.test' },
      bedrockRegion: 'eu-west-1',
    }).get('bedrock');
    await provider?.submit(job, never);
    const { config } = mocked.call(0).thisValue as BedrockRuntimeClient;
    expect([(await config.endpoint?.())?.hostname, await config.region()]).toEqual([
      'bedrock.test',
      'eu-west-1',
    ]);
    mocked.restore();
  });

  const refused = async (error: Error): Promise<unknown> => {
    const mocked = mockClient(BedrockRuntimeClient);
    mocked.on(InvokeModelCommand).rejects(error);
    const answer = await createBedrock({
      name: 'bedrock',
      region: 'us-west-2',
      credentials: identity,
    }).submit(job, never);
    mocked.restore();
    return answer;
  };

  it.each([
    ['ThrottlingException', 'unavailable'],
    ['ModelNotReadyException', 'unavailable'],
    ['ServiceUnavailableException', 'unavailable'],
    ['ServiceQuotaExceededException', 'unavailable'],
    ['ModelTimeoutException', 'timed_out'],
    ['ModelErrorException', 'failed'],
    ['InternalServerException', 'failed'],
    ['InternalFailure', 'failed'],
    ['AccessDeniedException', 'credentials'],
    ['ResourceNotFoundException', 'credentials'],
    ['UnrecognizedClientException', 'credentials'],
    ['ExpiredTokenException', 'credentials'],
    ['ExpiredToken', 'credentials'],
    ['IncompleteSignature', 'credentials'],
    ['NotAuthorized', 'credentials'],
    ['RequestExpired', 'credentials'],
    ['CredentialsProviderError', 'credentials'],
  ])('An error of Bedrock named %s is refused as %s, with a status and without', async (name, reason) => {
    const [without, within] = [new Error('a text'), new Error('a text')].map((error) =>
      Object.assign(error, { name }),
    );
    Object.assign(within ?? {}, { $metadata: { httpStatusCode: 418 } });
    expect([await refused(without ?? new Error()), await refused(within ?? new Error())]).toEqual([
      { kind: 'refused', reason, detail: name },
      { kind: 'refused', reason, detail: `HTTP 418 ${name}` },
    ]);
  });

  it.each([
    [401, 'credentials'],
    [402, 'credentials'],
    [403, 'credentials'],
    [418, 'unknown_answer'],
    [429, 'unavailable'],
    [500, 'unknown_answer'],
    [503, 'unavailable'],
  ])('An error of Bedrock with status %i and a new name is refused as %s', async (httpStatusCode, reason) => {
    expect(await refused(Object.assign(new Error(), { name: 'New', $metadata: { httpStatusCode } }))).toEqual(
      {
        kind: 'refused',
        reason,
        detail: `HTTP ${httpStatusCode} New`,
      },
    );
  });

  it.each([
    ['ECONNREFUSED', 'unavailable'],
    ['ENOTFOUND', 'unavailable'],
    ['EAI_AGAIN', 'unavailable'],
    ['EHOSTUNREACH', 'unavailable'],
    ['ENETUNREACH', 'unavailable'],
    ['ECONNRESET', 'unknown_outcome'],
  ])('A call of Bedrock that breaks with the code %s is refused as %s', async (code, reason) => {
    expect(await refused(Object.assign(new Error(), { code }))).toEqual({
      kind: 'refused',
      reason,
      detail: code,
    });
  });

  it('A call of Bedrock that breaks without a code, or after status 200, has an unknown outcome', async () => {
    const answer = { kind: 'refused', reason: 'unknown_outcome', detail: 'UNKNOWN' };
    expect(await refused(new Error())).toEqual(answer);
    expect(await refused(Object.assign(new Error(), { $metadata: { httpStatusCode: 200 } }))).toEqual(answer);
  });

  it.each([
    ['A'.repeat(80), `HTTP 418 ${'A'.repeat(80)}`],
    ['A'.repeat(81), 'HTTP 418'],
    ['a/b', 'HTTP 418'],
    ['a\nb', 'HTTP 418'],
  ])('The detail of an error named %j holds plain words only', async (name, detail) => {
    expect(
      await refused(Object.assign(new Error(), { name, $metadata: { httpStatusCode: 418 } })),
    ).toMatchObject({ detail });
  });
});

const date = 'Sat, 21 Nov 2026 12:00:30 GMT';

const withDate = (retryAfter: string): Record<string, string> => ({ date, 'retry-after': retryAfter });

/** How long a vendor wants to be left alone, as the adapters read it. */
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
