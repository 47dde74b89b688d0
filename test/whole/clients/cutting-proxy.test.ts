import { once } from 'node:events';
import { createServer } from 'node:http';
import OpenAI, { APIConnectionError, APIError } from 'openai';
import { afterAll, describe, expect, it } from 'vitest';
import { thrownBy } from '../../client/stub.ts';
import { portOf } from '../../fixtures/values.ts';
import { type Cut, cuts, type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';

let received: string[] = [];
const upstream = createServer((incoming, outgoing) => {
  received.push(incoming.url ?? '');
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ object: 'list', data: [{ id: 'one' }] }));
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');
afterAll(() => upstream.close());

async function withProxy<Value>(
  { only, share = 1, seed = 1 }: { readonly only?: readonly Cut[]; share?: number; seed?: number },
  work: (openai: OpenAI, proxy: CuttingProxy) => Promise<Value>,
): Promise<Value> {
  received = [];
  const target = `http://127.0.0.1:${portOf(upstream)}`;
  const proxy = await startCuttingProxy({ target, seed, share, ...(only && { only }) });
  try {
    return await work(new OpenAI({ apiKey: 'k', baseURL: proxy.url, maxRetries: 0 }), proxy);
  } finally {
    await proxy.stop();
  }
}

describe('the cutting proxy', () => {
  /** The status that the library reports, or undefined for a broken connection, and the calls of the service. */
  const expected: Readonly<Record<Cut, readonly [number | undefined, number]>> = {
    'before the request': [undefined, 0],
    'before the answer': [undefined, 1],
    'in the answer': [undefined, 1],
    'before the end': [undefined, 1],
    '429 now': [429, 0],
    '429 in a second': [429, 0],
    '500': [500, 0],
    '503': [503, 0],
  };
  for (const cut of cuts) {
    it(`The cut "${cut}" is what the library sees`, async () => {
      const [error, made] = await withProxy({ only: [cut] }, async (openai, proxy) => [
        await thrownBy(openai.models.list()),
        proxy.made[cut],
      ]);
      const [status, requests] = expected[cut];
      expect(made).toBe(1);
      expect(received).toHaveLength(requests);
      if (status === undefined) expect(error).not.toMatchObject({ status: expect.any(Number) as number });
      else expect(error).toBeInstanceOf(APIError);
      expect((error as APIError).status).toBe(status);
      if (cut.startsWith('before the ') && cut !== 'before the end')
        expect(error).toBeInstanceOf(APIConnectionError);
    });
  }

  it('An answer that is not cut arrives as it was', async () => {
    const models = await withProxy({ share: 0 }, async (openai) => openai.models.list());
    expect(models.data).toEqual([{ id: 'one' }]);
    expect(received).toEqual(['/models']);
  });

  it('The same seed makes the same cuts, and another seed makes others', async () => {
    const run = async (seed: number): Promise<readonly boolean[]> =>
      withProxy({ seed, share: 0.5 }, async (openai) => {
        const arrived: boolean[] = [];
        for (let call = 0; call < 20; call += 1) {
          arrived.push(
            await openai.models.list().then(
              () => true,
              () => false,
            ),
          );
        }
        return arrived;
      });
    const first = await run(1);
    expect(await run(1)).toEqual(first);
    expect(await run(2)).not.toEqual(first);
    expect(new Set(first)).toEqual(new Set([true, false]));
  });
});
