/** The addresses at which the vendors are asked. The test replaces `fetch`, so no request leaves the machine. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../service/aws/clock.ts';
import { type ProviderName, providers } from '../../service/catalog/providers.ts';
import { createAlibaba } from '../../service/vendors/alibaba.ts';
import { createBfl } from '../../service/vendors/bfl.ts';
import { createFal } from '../../service/vendors/fal/provider.ts';
import { createIdeogram } from '../../service/vendors/ideogram.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import { checkVendor, createVendors } from '../../service/vendors/vendors.ts';
import { refused } from './answering-vendor.ts';
import { everyVendor, jobsLike, type KeyProvider } from './vendor-talk.ts';

const never = new AbortController().signal;
const credentials = { read: async () => Promise.resolve('a-key'), forget: () => undefined };
const clock = systemClock;
const access = { credentials, clock, baseUrls: {} };

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

/** The addresses of each vendor, in the order of the table of vendors. */
const addresses: Readonly<Record<KeyProvider, { readonly picture: string; readonly check: string }>> = {
  openai: {
    picture: 'https://api.openai.com/v1/images/generations',
    check: 'https://api.openai.com/v1/models',
  },
  google: {
    picture: 'https://generativelanguage.googleapis.com/v1beta/models/model:generateContent',
    check: 'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1',
  },
  bfl: { picture: 'https://api.bfl.ai/v1/model', check: 'https://api.bfl.ai/v1/credits' },
  fal: {
    picture: 'https://queue.fal.run/model',
    check: 'https://api.fal.ai/v1/models/pricing?endpoint_id=fal-ai/flux-2-pro',
  },
  replicate: {
    picture: 'https://api.replicate.com/v1/models/model/predictions',
    check: 'https://api.replicate.com/v1/account',
  },
  alibaba: {
    picture: 'https://dashscope-intl.aliyuncs.com/api/v1/services/aigc/multimodal-generation/generation',
    check: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1/models',
  },
  ideogram: {
    picture: 'https://api.ideogram.ai/v2/image/generate/model',
    check: 'https://api.ideogram.ai/models',
  },
  xai: { picture: 'https://api.x.ai/v1/images/generations', check: 'https://api.x.ai/v1/models' },
  recraft: {
    picture: 'https://external.api.recraft.ai/v1/images/generations',
    check: 'https://external.api.recraft.ai/v1/users/me',
  },
  byteplus: {
    picture: 'https://ark.ap-southeast.bytepluses.com/api/v3/images/generations',
    check: 'https://ark.ap-southeast.bytepluses.com/api/v3/models',
  },
};
const isKeyProvider = (name: string): name is KeyProvider => Object.hasOwn(addresses, name);
const vendorProviders = Object.entries(providers)
  .filter(([, { credential }]) => credential !== 'none')
  .map(([name]) => name);
const keyProviders = Object.keys(providers).filter(isKeyProvider);

describe('The vendors', () => {
  it('The table holds the vendor of every provider but the sandboxes, in the order of the providers', async () => {
    const vendors = await everyVendor({ ...access, bedrockRegion: 'us-west-2' });
    expect(vendors.map(({ name }) => name)).toEqual(vendorProviders);
  });

  it('An adapter is created when it is first asked for, and only once', async () => {
    let created = 0;
    const vendors = createVendors({
      credentials,
      clock,
      // Each adapter reads its address when it is created.
      get baseUrls(): Record<string, string> {
        created += 1;
        return {};
      },
      bedrockRegion: 'us-west-2',
    });
    expect([vendors.get('sandbox'), vendors.get('constructor'), created]).toEqual([undefined, undefined, 0]);
    const fal = await vendors.get('fal');
    expect([fal?.name, (await vendors.get('fal')) === fal, created]).toEqual(['fal', true, 1]);
  });

  it('Each vendor is asked for a picture at its own address', async () => {
    const asked = fetchThat(() => new Response('', { status: 429 }));
    const job = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' })();
    for (const vendor of (await everyVendor({ ...access, bedrockRegion: 'us-west-2' })).slice(1))
      expect(await vendor.submit(job, never)).toEqual(refused('unavailable', 'HTTP 429'));
    expect(asked.map(({ url }) => url)).toEqual(Object.values(addresses).map(({ picture }) => picture));
    expect(asked.map(({ init: { method, redirect, signal } }) => [method, redirect, signal])).toEqual(
      keyProviders.map(() => ['POST', 'manual', never]),
    );
  });

  it('Each vendor is asked about its key at its own address', async () => {
    const asked = fetchThat(() => new Response('', { status: 200 }));
    for (const name of keyProviders)
      expect(await checkVendor(name, access, never)).toEqual({ verdict: 'accepted', detail: 'HTTP 200' });
    expect(asked.map(({ url, init: { method } }) => `${String(method)} ${url}`)).toEqual(
      Object.values(addresses).map(({ check }) => `GET ${check}`),
    );
  });

  it('Each vendor is asked at another address when one is set for it', async () => {
    const asked = fetchThat(() => new Response('', { status: 200 }));
    const baseUrls = Object.fromEntries(keyProviders.map((name) => [name, `https://${name}.test`]));
    for (const name of keyProviders) await checkVendor(name, { credentials, clock, baseUrls }, never);
    const job = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' })();
    const vendors = (await everyVendor({ credentials, clock, baseUrls, bedrockRegion: 'us-west-2' })).slice(
      1,
    );
    for (const vendor of vendors) await vendor.submit(job, never);
    expect(asked.map(({ url }) => new URL(url).origin)).toEqual(
      [...keyProviders, ...keyProviders].map((name) => `https://${name}.test`),
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

describe('An address that an answer of fal names', () => {
  const cancelUrlsCalled = async (host: string): Promise<string[]> => {
    const asked = fetchThat(() => new Response('{}', { status: 200 }));
    const job = jobsLike({ providerModel: 'm' })();
    const jobId = `0 ${host}/s ${host}/r ${host}/c`;
    await createFal({ name: 'fal', credentials, clock }).cancel?.(jobId, job, never);
    return asked.map(({ url }) => url);
  };

  it.each([
    ...['queue.fal.run', 'fal.run', 'eu.queue.fal.run', 'other.fal.run'].map((host) => [host, true] as const),
    ...['fal.media', 'v3.fal.media', 'fal.ai', 'notfal.run', 'fal.run.example.com'].map(
      (host) => [host, false] as const,
    ),
  ])('An address at https://%s is called: %j', async (host, isCalled) =>
    expect(await cancelUrlsCalled(`https://${host}`)).toEqual(isCalled ? [`https://${host}/c`] : []),
  );
});

describe('What verifies callbacks', () => {
  it('fal and Replicate are asked for it at their own addresses, without redirects', async () => {
    const asked = fetchThat(() => new Response('', { status: 500 }));
    const time = String(Math.floor(Date.now() / 1_000));
    const headers = {
      'x-fal-webhook-request-id': 'id',
      'x-fal-webhook-user-id': 'a-key',
      'x-fal-webhook-timestamp': time,
      'x-fal-webhook-signature': 'ab'.repeat(64),
    };
    const request = { headers, body: Buffer.from('{"request_id":"id"}') };
    const { callback } = createFal({ name: 'fal', credentials, clock });
    expect(await callback?.verify(request, Date.now(), never)).toEqual({ kind: 'unverifiable' });
    await createReplicate({ name: 'replicate', credentials, clock }).callback?.ready(never);
    expect(asked.map(({ url, init: { redirect } }) => [url, redirect])).toEqual([
      ['https://rest.fal.ai/.well-known/jwks.json', 'manual'],
      ['https://api.replicate.com/v1/webhooks/default/secret', 'manual'],
    ]);
    expect(asked.map(({ init }) => init.headers)).toEqual([{}, { authorization: 'Bearer a-key' }]);
  });
});

describe('A picture that an answer names', () => {
  const job = jobsLike({ providerModel: 'm' })();
  const json = (body: object): Response =>
    new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  const polls = {
    'Black Forest Labs': async (picture: string) => {
      const asked = fetchThat(() => json({ status: 'Ready', result: { sample: picture } }));
      await createBfl({ name: 'bfl', credentials, clock }).poll?.('0 https://api.eu.bfl.ai/job', job, never);
      return asked;
    },
    fal: async (picture: string) => {
      const asked = fetchThat(() => json({ status: 'COMPLETED', images: [{ url: picture }] }));
      await createFal({ name: 'fal', credentials, clock }).poll?.(
        '0 https://fal.run/s https://fal.run/r https://fal.run/c',
        job,
        never,
      );
      return asked;
    },
    Replicate: async (picture: string) => {
      const asked = fetchThat(() => json({ status: 'succeeded', output: picture }));
      await createReplicate({ name: 'replicate', credentials, clock }).poll?.('0 job', job, never);
      return asked;
    },
    Ideogram: async (picture: string) => {
      const data = [{ url: picture, is_image_safe: true }];
      const asked = fetchThat(() => json({ status: 'completed', data }));
      await createIdeogram({ name: 'ideogram', credentials, clock }).poll?.('0 job', job, never);
      return asked;
    },
    Alibaba: async (picture: string) => {
      const asked = fetchThat(() => new Response('a picture'));
      await createAlibaba({ name: 'alibaba', credentials, clock }).poll?.(`0 ${picture}`, job, never);
      return asked;
    },
  } as const;

  it.each([
    ['Black Forest Labs', 'https://delivery.eu.bfl.ai/a.png', true],
    ['Black Forest Labs', 'https://bfl.ai.example.com/a.png', false],
    ['fal', 'https://v3.fal.media/a.png', true],
    ['fal', 'https://v3b.fal.media/a.png', true],
    ['fal', 'https://fal.media/a.png', true],
    ['fal', 'https://fal.run/a.png', false],
    ['fal', 'https://notfal.media/a.png', false],
    ['fal', 'https://fal.media.example.com/a.png', false],
    ['fal', 'https://storage.googleapis.com/a.png', false],
    ['Replicate', 'https://replicate.delivery/a.png', true],
    ['Replicate', 'https://pbxt.replicate.delivery/a.png', true],
    ['Replicate', 'https://replicate.com/a.png', false],
    ['Replicate', 'https://notreplicate.delivery/a.png', false],
    ['Replicate', 'https://replicate.delivery.example.com/a.png', false],
    ['Ideogram', 'https://ideogram.ai/api/images/ephemeral/a.png?exp=1&sig=2', true],
    ['Ideogram', 'https://notideogram.ai/a.png', false],
    ['Ideogram', 'https://ideogram.ai.example.com/a.png', false],
    ['Alibaba', 'https://dashscope-a717.oss-accelerate.aliyuncs.com/a.png?Expires=1', true],
    ['Alibaba', 'https://dashscope-result-sgp.oss-ap-southeast-1.aliyuncs.com/a.png', true],
    ['Alibaba', 'https://dashscope-result-bj.oss-cn-beijing.aliyuncs.com/a.png', true],
    ['Alibaba', 'https://dashscope.oss-us-east-1.aliyuncs.com/a.png', true],
    ['Alibaba', 'https://dashscope.oss-eu-central-1.aliyuncs.com/a.png', true],
    ['Alibaba', 'https://dashscope.oss-cn-hangzhou.aliyuncs.com/a.png', true],
    ['Alibaba', 'https://dashscope.oss-cn-shanghai.aliyuncs.com/a.png', true],
    ['Alibaba', 'https://dashscope.oss-cn-shenzhen.aliyuncs.com/a.png', true],
    ['Alibaba', 'https://dashscope.oss-cn-wulanchabu.aliyuncs.com/a.png', true],
    ['Alibaba', 'https://dashscope.oss-cn-wulanchabu-acdr-1.aliyuncs.com/a.png', true],
    ['Alibaba', 'http://dashscope-a717.oss-accelerate.aliyuncs.com/a.png', false],
    ['Alibaba', 'https://dashscope-a717.oss-accelerate.aliyuncs.com:8443/a.png', false],
    ['Alibaba', 'https://bucket.oss-ap-southeast-1-internal.aliyuncs.com/a.png', false],
    ['Alibaba', 'https://oss-accelerate.aliyuncs.com.example.com/a.png', false],
    ['Alibaba', 'https://aliyuncs.com/a.png', false],
    ['Alibaba', 'https://169.254.169.254/a.png', false],
  ] as const)(
    'A picture of %s at %s is downloaded without a key: %j',
    async (vendor, picture, isDownloaded) => {
      const asked = await polls[vendor](picture);
      expect(asked.filter(({ url }) => url === picture).map(({ init }) => init.headers)).toEqual(
        isDownloaded ? [{}] : [],
      );
    },
  );
});
