import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Darkroom, version } from '../../client/src/index.ts';
import { DarkroomError } from '../../client/src/errors.ts';
import manifest from '../../client/package.json' with { type: 'json' };
import { json, stub, testKey, thrownBy } from './stub.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

function refusalOf(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(DarkroomError);
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}

describe('the base URL', () => {
  const root = 'https://darkroom.test/api/public/v1';
  for (const [given, used] of [
    ['https://darkroom.test', root],
    ['https://darkroom.test/', root],
    [root, root],
    [`${root}/`, root],
    [` ${root}//?a=b#c\n`, root],
    ['https://darkroom.test/images/', 'https://darkroom.test/images/api/public/v1'],
    ['http://127.0.0.1:8787/api/public/v1', 'http://127.0.0.1:8787/api/public/v1'],
  ] as const) {
    it(`${JSON.stringify(given)} leads to ${used}`, async () => {
      const { darkroom, sent } = stub([json({})], { baseUrl: given });
      await darkroom.balance.get();
      expect([darkroom.baseUrl, sent[0]?.url]).toEqual([used, `${used}/balance`]);
    });
  }

  it('An address that cannot be called is refused', () => {
    const refused = (baseUrl: string): string => refusalOf(() => new Darkroom({ apiKey: testKey, baseUrl }));
    expect(refused('darkroom')).toBe('The base URL is no address: darkroom');
    expect(refused('ftp://darkroom.test')).toContain('must begin with https:// or http://');
    vi.stubEnv('DARKROOM_BASE_URL', ' ');
    expect(refusalOf(() => new Darkroom({ apiKey: testKey }))).toContain('set DARKROOM_BASE_URL');
  });
});

describe('the environment', () => {
  it('Key and address come from the environment, and options win', async () => {
    vi.stubEnv('DARKROOM_API_KEY', `${testKey}\n`);
    vi.stubEnv('DARKROOM_BASE_URL', 'https://environment.test');
    const { darkroom, sent } = stub([json({}), json({})], { apiKey: undefined, baseUrl: undefined });
    await darkroom.balance.get();
    expect(sent[0]?.headers.get('authorization')).toBe(`Bearer ${testKey}`);
    expect(darkroom.baseUrl).toBe('https://environment.test/api/public/v1');
    expect(stub([], { baseUrl: 'https://option.test' }).darkroom.baseUrl).toContain('option.test');
  });

  it('A runtime that lets nobody read the environment needs the options', () => {
    const env = new Proxy(
      {},
      {
        get: () => {
          throw new Error('NotCapable');
        },
      },
    );
    vi.stubGlobal('process', { env });
    expect(refusalOf(() => new Darkroom({ baseUrl: 'https://darkroom.test' }))).toContain(
      'set DARKROOM_API_KEY',
    );
    vi.stubGlobal('process', undefined);
    expect(new Darkroom({ apiKey: testKey, baseUrl: 'https://darkroom.test' }).baseUrl).toContain(
      'darkroom.test',
    );
  });

  it('Without an own fetch, that of the runtime is called at the time of the request', async () => {
    const darkroom = new Darkroom({ apiKey: testKey, baseUrl: 'https://darkroom.test' });
    vi.stubGlobal('fetch', async () => Promise.resolve(json({ available: 7 })));
    expect(await darkroom.balance.get()).toEqual({ available: 7 });
  });
});

describe('the key', () => {
  it('The key is in no text of the client, of its parts and of its errors', async () => {
    const { darkroom } = stub(() => new TypeError('fetch failed'), { maxRetries: 1 });
    const error = await thrownBy(darkroom.balance.get());
    const texts = [darkroom, darkroom.images, darkroom.creations, darkroom.uploads, error].flatMap((one) => [
      String(one),
      JSON.stringify(one),
      inspect(one, { depth: 20, showHidden: true, showProxy: true, getters: true }),
    ]);
    expect(texts.filter((text) => text.includes('kkkk'))).toEqual([]);
    expect(inspect(darkroom)).toBe('Darkroom(https://darkroom.test/api/public/v1)');
    expect(JSON.stringify({ darkroom })).toBe(
      '{"darkroom":{"baseUrl":"https://darkroom.test/api/public/v1"}}',
    );
  });

  it('A key with characters that no header takes is refused without repeating it', () => {
    for (const apiKey of ['dk_live_ä', 'dk_live_a b', 'dk_live_a\nb']) {
      const message = refusalOf(() => new Darkroom({ apiKey, baseUrl: 'https://darkroom.test' }));
      expect(message).toBe('The API key has characters that no key has. Copy it again.');
    }
  });

  it('Each request carries the key, the type of its body and the name of the client', async () => {
    const { darkroom, sent } = stub([json({}), json({})]);
    await darkroom.images.quote({ model: 'm', prompt: 'p' });
    await darkroom.creations.get('a/b?c');
    expect(sent[0]?.headers.get('user-agent')).toBe(`darkroom-client/${manifest.version}`);
    expect(sent[0]?.headers.get('content-type')).toBe('application/json');
    expect(sent[0]?.body).toEqual({ model: 'm', prompt: 'p' });
    expect([sent[1]?.path, sent[1]?.headers.has('content-type')]).toEqual(['/creations/a%2Fb%3Fc', false]);
    expect(version).toBe(manifest.version);
  });
});

describe('a page', () => {
  it('The client refuses to run in a page, unless the danger is accepted', () => {
    vi.stubGlobal('window', { document: {} });
    const options = { apiKey: testKey, baseUrl: 'https://darkroom.test' };
    expect(refusalOf(() => new Darkroom(options))).toContain('dangerouslyAllowBrowser');
    expect(new Darkroom({ ...options, dangerouslyAllowBrowser: true })).toBeInstanceOf(Darkroom);
  });

  it('A worker is no page', () => {
    vi.stubGlobal('window', {});
    expect(new Darkroom({ apiKey: testKey, baseUrl: 'https://darkroom.test' })).toBeInstanceOf(Darkroom);
  });
});
