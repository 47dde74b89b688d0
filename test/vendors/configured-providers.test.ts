import { describe, expect, it, afterAll } from 'vitest';
import type { OperatorCatalog } from '../../service/catalog/operator-catalog.ts';
import type { ProviderDefinition } from '../../service/catalog/provider-definition.ts';
import { configuredProviders, keepForSeconds } from '../../service/vendors/open.ts';
import { isReachableInside } from '../../service/outbound/public-address.ts';
import { sendTo } from '../../service/vendors/guarded-send.ts';
import { never, startAnsweringVendor } from './answering-vendor.ts';

const gpu: ProviderDefinition = {
  name: 'gpu',
  title: 'GPU',
  style: 'openai',
  baseUrl: 'https://gpu.test',
  credential: 'none',
  network: 'public',
  imageHosts: [],
  differences: {},
};

function storedWith(...providers: readonly ProviderDefinition[]): OperatorCatalog {
  return { revision: '1-a', providers, models: {}, costs: [] };
}

describe('what functions that render know of the operator’s catalog', () => {
  it('is read again after ten seconds, and when the clock was set back', async () => {
    let [millis, reads] = [0, 0];
    const kept = keepForSeconds(
      async () => {
        reads += 1;
        return Promise.resolve(storedWith());
      },
      { now: () => millis },
    );
    const readsAt = async (at: number): Promise<number> => {
      millis = at;
      await kept.read();
      return reads;
    };
    expect(await readsAt(50_000)).toBe(1);
    expect(await readsAt(59_999)).toBe(1);
    expect(await readsAt(60_000)).toBe(2);
    expect(await readsAt(20_000)).toBe(3);
  });

  it('is not answered from before when the read breaks', async () => {
    let millis = 0;
    let isBroken = false;
    const kept = keepForSeconds(
      async () => (isBroken ? Promise.reject(new Error('busy')) : Promise.resolve(storedWith())),
      { now: () => millis },
    );
    await kept.read();
    [millis, isBroken] = [10_000, true];
    await expect(kept.read()).rejects.toThrow('busy');
  });
});

describe('the configured providers', () => {
  it('a provider that was added since the last read is found at once', async () => {
    let stored = storedWith();
    const providers = configuredProviders(
      keepForSeconds(async () => Promise.resolve(stored), { now: () => 50_000 }),
      ({ name }) => ({ name, submit: async () => Promise.reject(new Error('not asked')) }),
    );
    await providers.get('other');
    stored = storedWith(gpu);
    expect((await providers.get('gpu'))?.name).toBe('gpu');
  });

  it('are found by their names, and made anew only when their definition changes', async () => {
    let stored: OperatorCatalog | undefined = storedWith(gpu);
    const made: string[] = [];
    const providers = configuredProviders(
      { find: async (pick) => Promise.resolve(pick(stored)) },
      (definition) => {
        made.push(definition.baseUrl);
        return { name: definition.name, submit: async () => Promise.reject(new Error('not asked')) };
      },
    );
    const first = await providers.get('gpu');
    expect(first?.name).toBe('gpu');
    expect(await providers.get('gpu')).toBe(first);
    stored = storedWith({ ...gpu, baseUrl: 'https://other.test' });
    expect(await providers.get('gpu')).not.toBe(first);
    expect(made).toEqual(['https://gpu.test', 'https://other.test']);
    expect([await providers.get('constructor'), await providers.get('nobody')]).toEqual([
      undefined,
      undefined,
    ]);
    stored = undefined;
    expect(await providers.get('gpu')).toBeUndefined();
  });
});

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());

describe('A guarded request', () => {
  it('An answer that is too large is cut off and refused', async () => {
    vendor.answerWith({ status: 200, body: 'x'.repeat(11) });
    const send = sendTo('private');
    const request = { method: 'GET', headers: {}, signal: never } as const;
    await expect(send(vendor.url, { ...request, mostBytes: 10 })).rejects.toMatchObject({
      code: 'TOO_LARGE',
    });
    expect((await send(vendor.url, { ...request, mostBytes: 11 })).bytes.byteLength).toBe(11);
  });

  it.each([
    ['93.184.216.34', true],
    ['10.0.0.7', true],
    ['192.168.0.1', true],
    ['127.0.0.1', true],
    ['100.64.0.1', true],
    ['::1', true],
    ['fd12::7', true],
    ['2606:4700::1111', true],
    ['::ffff:10.0.0.7', true],
    ['169.254.0.1', false],
    ['fe80::1', false],
    ['192.0.2.1', false],
    ['not an address', false],
  ])('On a private network, %s may be called: %s', (address, isAllowed) => {
    expect(isReachableInside(address)).toBe(isAllowed);
  });
});
