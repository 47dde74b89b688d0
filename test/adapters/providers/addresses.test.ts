/**
 * Where each vendor is asked when no other address is set: the adapters' own hosts, asked over a fetch of the
 * test.
 */
import { BedrockRuntimeClient, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime';
import { mockClient } from 'aws-sdk-client-mock';
import type { Agent } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBedrock } from '../../../adapters/providers/bedrock/provider.ts';
import { createFal } from '../../../adapters/providers/fal/provider.ts';
import { createReplicate } from '../../../adapters/providers/replicate/provider.ts';
import { createBfl } from '../../../adapters/providers/bfl/provider.ts';
import { checkVendor, createVendors } from '../../../adapters/providers/vendors.ts';
import type { ProviderName } from '../../../core/providers.ts';
import { jobsLike } from './vendor-talk.ts';

const never = new AbortController().signal;
const credentials = { read: async () => Promise.resolve('a-key'), forget: () => undefined };
const access = { credentials, baseUrls: {} };

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Answers every fetch so, and collects the requests. */
function fetchThat(answer: () => Response): { readonly url: string; readonly init: RequestInit }[] {
  const asked: { url: string; init: RequestInit }[] = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    asked.push({ url, init });
    return Promise.resolve(answer());
  });
  return asked;
}

const keyVendors = ['openai', 'google', 'bfl', 'fal', 'replicate'] as const;

describe('The vendors', () => {
  it('The table holds these vendors, in this order', () => {
    const vendors = createVendors({ ...access, bedrockRegion: 'us-west-2' });
    expect(vendors.map(({ name }) => name)).toEqual(['bedrock', ...keyVendors]);
  });

  it('Each vendor is asked for a picture at its own address', async () => {
    const asked = fetchThat(() => new Response('', { status: 429 }));
    const job = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' })();
    for (const vendor of createVendors({ ...access, bedrockRegion: 'us-west-2' }).slice(1))
      expect(await vendor.submit(job, never)).toEqual({
        kind: 'refused',
        reason: 'unavailable',
        detail: 'HTTP 429',
      });
    expect(asked.map(({ url }) => url)).toEqual([
      'https://api.openai.com/v1/images/generations',
      'https://generativelanguage.googleapis.com/v1beta/models/model:generateContent',
      'https://api.bfl.ai/v1/model',
      'https://queue.fal.run/model',
      'https://api.replicate.com/v1/models/model/predictions',
    ]);
    expect(asked.map(({ init: { method, redirect, signal } }) => [method, redirect, signal])).toEqual(
      keyVendors.map(() => ['POST', 'manual', never]),
    );
  });

  it('Each vendor is asked about its key at its own address', async () => {
    const asked = fetchThat(() => new Response('', { status: 200 }));
    for (const name of keyVendors)
      expect(await checkVendor(name, access, never)).toEqual({ verdict: 'accepted', detail: 'HTTP 200' });
    expect(asked.map(({ url, init: { method } }) => `${String(method)} ${url}`)).toEqual([
      'GET https://api.openai.com/v1/models',
      'GET https://generativelanguage.googleapis.com/v1beta/models?pageSize=1',
      'GET https://api.bfl.ai/v1/credits',
      'GET https://api.fal.ai/v1/models/pricing?endpoint_id=fal-ai/flux-2-pro',
      'GET https://api.replicate.com/v1/account',
    ]);
  });

  it('Each vendor is asked at another address when one is set for it', async () => {
    const asked = fetchThat(() => new Response('', { status: 200 }));
    const baseUrls = Object.fromEntries(keyVendors.map((name) => [name, `https://${name}.test`]));
    for (const name of keyVendors) await checkVendor(name, { credentials, baseUrls }, never);
    const job = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' })();
    const vendors = createVendors({ credentials, baseUrls, bedrockRegion: 'us-west-2' }).slice(1);
    for (const vendor of vendors) await vendor.submit(job, never);
    expect(asked.map(({ url }) => new URL(url).origin)).toEqual(
      [...keyVendors, ...keyVendors].map((name) => `https://${name}.test`),
    );
  });

  it.each<[ProviderName, string]>([
    ['sandbox', 'needs no key'],
    ['sandbox-large', 'needs no key'],
    ['bedrock', 'signed with the role; Bedrock has no call that costs nothing'],
  ])('The check of %s, which has no key, says why nothing was asked', async (name, detail) => {
    const asked = fetchThat(() => new Response());
    expect(await checkVendor(name, access, never)).toEqual({ verdict: 'unchecked', detail });
    expect(asked).toEqual([]);
  });
});

describe('Bedrock', () => {
  const job = jobsLike({ providerModel: 'model' })();
  const identity = { accessKeyId: 'id', secretAccessKey: 'secret' };

  it.each([
    [undefined, 'https://bedrock-runtime.us-west-2.amazonaws.com'],
    ['https://bedrock.test', 'https://bedrock.test'],
  ])(
    'Bedrock with the endpoint %s is asked once, at %s, over a connection of its own',
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
    const [provider] = createVendors({
      credentials,
      baseUrls: { bedrock: 'https://bedrock.test' },
      bedrockRegion: 'eu-west-1',
    });
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
  ])(
    'An error of Bedrock with status %i and an unknown name is refused as %s',
    async (httpStatusCode, reason) => {
      expect(
        await refused(Object.assign(new Error(), { name: 'New', $metadata: { httpStatusCode } })),
      ).toEqual({
        kind: 'refused',
        reason,
        detail: `HTTP ${httpStatusCode} New`,
      });
    },
  );

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

describe('An address that an answer of fal names', () => {
  const cancelUrlsCalled = async (host: string): Promise<string[]> => {
    const asked = fetchThat(() => new Response('{}', { status: 200 }));
    await createFal({ name: 'fal', credentials }).cancel?.(
      `0 ${host}/s ${host}/r ${host}/c`,
      jobsLike({ providerModel: 'm' })(),
      never,
    );
    return asked.map(({ url }) => url);
  };

  it.each(['https://queue.fal.run', 'https://fal.run', 'https://eu.queue.fal.run', 'https://other.fal.run'])(
    'An address at %s, a host of the API, is called',
    async (host) => expect(await cancelUrlsCalled(host)).toEqual([`${host}/c`]),
  );

  it.each([
    'https://fal.media',
    'https://v3.fal.media',
    'https://fal.ai',
    'https://notfal.run',
    'https://fal.run.example.com',
    'http://fal.run',
    'https://fal.run:444',
    'https://user@fal.run',
    'https://:secret@fal.run',
  ])('An address at %s is not called', async (host) => expect(await cancelUrlsCalled(host)).toEqual([]));
});

describe('A picture that an answer names', () => {
  const job = jobsLike({ providerModel: 'm' })();
  const json = (body: object): Response =>
    new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  const polls = {
    'Black Forest Labs': async (picture: string) => {
      const asked = fetchThat(() => json({ status: 'Ready', result: { sample: picture } }));
      await createBfl({ name: 'bfl', credentials }).poll?.('0 https://api.eu.bfl.ai/job', job, never);
      return asked;
    },
    fal: async (picture: string) => {
      const asked = fetchThat(() => json({ status: 'COMPLETED', images: [{ url: picture }] }));
      await createFal({ name: 'fal', credentials }).poll?.(
        '0 https://fal.run/s https://fal.run/r https://fal.run/c',
        job,
        never,
      );
      return asked;
    },
    Replicate: async (picture: string) => {
      const asked = fetchThat(() => json({ status: 'succeeded', output: picture }));
      await createReplicate({ name: 'replicate', credentials }).poll?.('0 job', job, never);
      return asked;
    },
  } as const;

  it.each([
    ['Black Forest Labs', 'https://delivery.eu.bfl.ai/a.png', true],
    ['Black Forest Labs', 'https://bfl.ai.example.com/a.png', false],
    ['fal', 'https://v3.fal.media/a.png', true],
    ['fal', 'https://fal.run/a.png', false],
    ['Replicate', 'https://replicate.delivery/a.png', true],
    ['Replicate', 'https://pbxt.replicate.delivery/a.png', true],
    ['Replicate', 'https://replicate.com/a.png', false],
  ] as const)(
    'A picture of %s at %s is downloaded without a credential: %j',
    async (vendor, picture, isDownloaded) => {
      const asked = await polls[vendor](picture);
      expect(asked.filter(({ url }) => url === picture).map(({ init }) => init.headers)).toEqual(
        isDownloaded ? [{}] : [],
      );
    },
  );
});
