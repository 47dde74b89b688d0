/**
 * A provider that an operator configures: where its calls go, and where they must not go. The names are resolved by
 * the test. Calls to a public address reach a server on loopback instead, because the test opens the connections.
 */
import { connect as openSocket } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startFakeServer } from '../../lab/vendors/fakes/compatible/server.ts';
import { formOf } from '../../lab/vendors/fakes/openai/server.ts';
import { pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import { systemClock } from '../../service/aws/clock.ts';
import type { ProviderDefinition } from '../../service/catalog/provider-definition.ts';
import { checkConfigured, createConfigured } from '../../service/vendors/configured.ts';
import type { GuardedServices } from '../../service/vendors/guarded-send.ts';
import type { ImageProvider } from '../../service/vendors/provider.ts';
import { never, startAnsweringVendor } from './answering-vendor.ts';
import { headerOf, jobIdOf, jobsLike, lastReceived } from './vendor-talk.ts';

const gpu = await startFakeServer('vllm-omni', (format) => pictureOf(format, 64, 64));
const vendor = await startAnsweringVendor();
afterAll(async () => Promise.all([gpu.stop(), vendor.stop()]));

const gpuPort = new URL(gpu.url).port;
const settings = {
  name: 'gpu',
  credentials: { read: async () => Promise.resolve('a-key'), forget: () => undefined },
  clock: systemClock,
};
const inside: ProviderDefinition = {
  name: 'gpu',
  title: 'Our GPU',
  style: 'vllm-omni',
  baseUrl: `http://gpu.test:${gpuPort}`,
  credential: 'none',
  network: 'private',
  imageHosts: [],
  differences: {},
};
const outside: ProviderDefinition = {
  ...inside,
  style: 'litellm',
  baseUrl: 'https://proxy.test',
  credential: 'key',
  network: 'public',
  imageHosts: ['images.test'],
};
const aJob = jobsLike({ providerModel: 'Qwen/Qwen-Image', prompt: 'a lake' });
const publicAddress = '93.184.216.34';
const refused = { kind: 'refused', reason: 'unavailable', detail: 'ADDRESS_REFUSED' };

let connections = 0;
let resolved: string[] = [];
beforeEach(() => {
  connections = 0;
  resolved = [];
});

/** Each lookup gives the next list of addresses, and the last list again and again. */
function resolving(...lists: readonly (readonly string[])[]): GuardedServices {
  let lookups = 0;
  return {
    resolve: async (host) => {
      resolved.push(host);
      const list = lists[Math.min(lookups, lists.length - 1)] ?? [];
      lookups += 1;
      return Promise.resolve(list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
    },
  };
}

/** The same, with every connection going to the answering vendor. */
function reachingVendor(...lists: readonly (readonly string[])[]): GuardedServices {
  return {
    ...resolving(...lists),
    connect: () => {
      connections += 1;
      return openSocket(Number(new URL(vendor.url).port), '127.0.0.1');
    },
  };
}

const answerAt = (url: string): void =>
  vendor.answerWith((path) =>
    path === '/picture.png'
      ? { status: 200, headers: { 'content-type': 'image/png' }, body: pictureOf('png', 64, 64) }
      : { status: 200, headers: { 'x-litellm-response-cost': '0.01' }, body: { data: [{ url }] } },
  );

/** The picture of a job, which the provider has accepted. */
async function fetched(provider: ImageProvider): Promise<unknown> {
  return provider.poll?.(await jobIdOf(provider, aJob()), aJob(), never);
}

describe('A configured provider on a private network', () => {
  it('A picture comes from a host name that leads to this machine', async () => {
    const provider = createConfigured(inside, settings, resolving(['127.0.0.1']));
    expect(headerOf(await provider.submit(aJob({ seed: 7 }), never))).toMatchObject({ width: 64 });
    const { headers, json } = lastReceived(gpu);
    expect(json).toEqual({
      n: 1,
      response_format: 'b64_json',
      model: 'Qwen/Qwen-Image',
      prompt: 'a lake',
      size: '1024x1024',
      seed: 7,
    });
    expect([headers['authorization'], headers['host'], headers['accept-encoding']]).toEqual([
      undefined,
      `gpu.test:${gpuPort}`,
      'identity',
    ]);
    expect([provider.name, resolved]).toEqual(['gpu', ['gpu.test']]);
  });

  it('Source images go out as the same form as to a vendor that is built in', async () => {
    const provider = createConfigured(inside, settings, resolving(['127.0.0.1']));
    expect(await provider.submit(aJob({ sourceCount: 1 }), never)).toMatchObject({ kind: 'rendered' });
    expect(formOf(lastReceived(gpu)).files).toEqual([
      { field: 'image', name: 'image-1.png', type: 'image/png', bytes: pictureOf('png', 96, 64) },
    ]);
    expect(lastReceived(gpu).headers['content-length']).toBe(String(lastReceived(gpu).body.byteLength));
  });

  it('A difference of the definition overrides the style', async () => {
    const differences = { seed: null, fixed: { num_inference_steps: 20 } };
    const provider = createConfigured({ ...inside, differences }, settings, resolving(['127.0.0.1']));
    await provider.submit(aJob({ seed: 7 }), never);
    expect(lastReceived(gpu).json).toEqual({
      num_inference_steps: 20,
      model: 'Qwen/Qwen-Image',
      prompt: 'a lake',
      size: '1024x1024',
    });
  });

  it('A literal address is called without a lookup', async () => {
    const definition = { ...inside, baseUrl: gpu.url };
    expect(await checkConfigured(definition, settings, never, resolving([]))).toEqual({
      verdict: 'accepted',
      detail: 'HTTP 200',
    });
    expect([lastReceived(gpu).path, resolved]).toEqual(['/v1/models', []]);
  });

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '::ffff:169.254.169.254',
    'fe80::1',
    'fd00:ec2::254',
    '100.100.100.200',
    '224.0.0.1',
    '255.255.255.255',
    '0.0.0.0',
    '::',
  ])('The address %s is refused even there', async (address) => {
    const provider = createConfigured(inside, settings, resolving(['127.0.0.1', address]));
    expect(await provider.submit(aJob(), never)).toEqual(refused);
  });

  it('The metadata service is refused as a literal address, too', async () => {
    const definition = { ...inside, baseUrl: 'http://169.254.169.254' };
    expect(await createConfigured(definition, settings).submit(aJob(), never)).toEqual(refused);
    expect(await checkConfigured(definition, settings, never)).toEqual({
      verdict: 'unreachable',
      detail: 'ADDRESS_REFUSED',
    });
  });

  it('A name without an address makes the provider unavailable', async () => {
    const provider = createConfigured(inside, settings, resolving([]));
    expect(await provider.submit(aJob(), never)).toEqual({ ...refused, detail: 'ENOTFOUND' });
    const failing = { resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'EAI_AGAIN' })) };
    const other = createConfigured(inside, settings, failing);
    expect(await other.submit(aJob(), never)).toEqual({ ...refused, detail: 'EAI_AGAIN' });
  });

  it('A server that does not listen makes the provider unavailable', async () => {
    const definition = { ...inside, baseUrl: 'http://gpu.test:1' };
    const provider = createConfigured(definition, settings, resolving(['127.0.0.1']));
    expect(await provider.submit(aJob(), never)).toEqual({ ...refused, detail: 'ECONNREFUSED' });
  });

  it('A lookup that never ends and a call that never ends stop with the signal', async () => {
    const hanging = { resolve: () => new Promise<never>(() => undefined) };
    const ofLookup = createConfigured(inside, settings, hanging).submit(aJob(), AbortSignal.timeout(20));
    await expect(ofLookup).rejects.toMatchObject({ name: 'TimeoutError' });
    vendor.answerWith({ status: 'hang' });
    const definition = { ...inside, baseUrl: vendor.url };
    const ofCall = createConfigured(definition, settings).submit(aJob(), AbortSignal.timeout(50));
    await expect(ofCall).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('A connection that breaks after the request leaves the outcome unknown', async () => {
    vendor.answerWith({ status: 'break' });
    const provider = createConfigured({ ...inside, baseUrl: vendor.url }, settings);
    expect(await provider.submit(aJob(), never)).toMatchObject({ reason: 'unknown_outcome' });
  });
});

describe('A configured provider on a public network', () => {
  it.each([
    ['a private address', ['10.0.0.7']],
    ['this machine', ['127.0.0.1']],
    ['a private address beside a public one', [publicAddress, '192.168.1.1']],
    ['an IPv4 address within an IPv6 address', ['::ffff:10.0.0.7']],
    ['a shared address', ['100.64.0.1']],
  ])('A name that leads to %s is refused before a connection', async (_what, addresses) => {
    const provider = createConfigured(outside, settings, reachingVendor(addresses));
    expect(await provider.submit(aJob(), never)).toEqual(refused);
    expect(connections).toBe(0);
  });

  it('A definition with plain http, which no command stores, is refused', async () => {
    const definition = { ...outside, baseUrl: 'http://proxy.test' };
    const provider = createConfigured(definition, settings, reachingVendor([publicAddress]));
    expect([await provider.submit(aJob(), never), connections]).toEqual([refused, 0]);
  });

  it('A picture is downloaded from the host of the base URL, and the key is not sent there', async () => {
    answerAt('https://proxy.test/picture.png');
    const provider = createConfigured(outside, settings, reachingVendor([publicAddress]));
    const jobId = await jobIdOf(provider, aJob());
    expect(lastReceived(vendor).headers['authorization']).toBe('Bearer a-key');
    expect(jobId).toBe('0 https://proxy.test/picture.png 10000');
    expect(await provider.poll?.(jobId, aJob(), never)).toMatchObject({
      kind: 'rendered',
      billedMicros: 10_000,
    });
    expect([connections, lastReceived(vendor).headers['authorization']]).toEqual([2, undefined]);
  });

  it('A name that leads to a private address after the submission is not followed there', async () => {
    answerAt('https://proxy.test/picture.png');
    const provider = createConfigured(outside, settings, reachingVendor([publicAddress], ['10.0.0.7']));
    const polled = await fetched(provider);
    expect(polled).toEqual({ kind: 'refused', reason: 'unknown_answer', detail: 'ADDRESS_REFUSED' });
    expect([connections, resolved]).toEqual([1, ['proxy.test', 'proxy.test']]);
  });

  it('One call looks a name up once, and connects to the address of that lookup', async () => {
    answerAt('https://proxy.test/picture.png');
    const services = reachingVendor([publicAddress], ['10.0.0.7']);
    const hosts: unknown[] = [];
    const provider = createConfigured(outside, settings, {
      ...services,
      connect: (options, done) => {
        const { lookup } = options as { readonly lookup: (...given: unknown[]) => void };
        lookup('proxy.test', { all: true }, (_error: unknown, addresses: unknown) => hosts.push(addresses));
        return services.connect?.(options, done);
      },
    });
    expect(await provider.submit(aJob(), never)).toMatchObject({ kind: 'pending' });
    expect([hosts, resolved]).toEqual([[[{ address: publicAddress, family: 4 }]], ['proxy.test']]);
  });

  it.each([301, 302, 303, 307, 308])(
    'A redirect with %i to another address is not followed',
    async (status) => {
      vendor.answerWith({ status, headers: { location: 'http://10.0.0.7/latest/meta-data' } });
      const provider = createConfigured(outside, settings, reachingVendor([publicAddress]));
      expect(await provider.submit(aJob(), never)).toEqual({
        kind: 'refused',
        reason: 'unknown_answer',
        detail: `HTTP ${status}`,
      });
      expect([connections, resolved]).toEqual([1, ['proxy.test']]);
    },
  );

  it.each([
    'https://10.0.0.7/picture.png',
    'https://169.254.169.254/picture.png',
    'https://elsewhere.test/picture.png',
    'http://proxy.test/picture.png',
    'https://proxy.test:8443/picture.png',
    'http://images.test/picture.png',
    'https://user@images.test/picture.png',
    'https://notimages.test/picture.png',
    'file:///etc/passwd',
  ])('A picture at %s is not asked for', async (url) => {
    answerAt(url);
    const provider = createConfigured(outside, settings, reachingVendor([publicAddress]));
    expect(await provider.submit(aJob(), never)).toMatchObject({ reason: 'unknown_answer' });
    expect(connections).toBe(1);
  });

  it.each([
    [publicAddress, { kind: 'rendered' }],
    ['10.0.0.9', { kind: 'refused', reason: 'unknown_answer', detail: 'ADDRESS_REFUSED' }],
  ])('A host of pictures that leads to %s gives %j', async (address, outcome) => {
    answerAt('https://cdn.images.test/picture.png');
    const provider = createConfigured(outside, settings, reachingVendor([publicAddress], [address]));
    const polled = await fetched(provider);
    expect(polled).toMatchObject(outcome);
    expect(resolved).toEqual(['proxy.test', 'cdn.images.test']);
  });
});
