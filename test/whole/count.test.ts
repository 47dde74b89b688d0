/** Several images of one request: a creation each, all charged or none, and a list as the answer. */
import { afterAll, describe, expect, it } from 'vitest';
import { sharedTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { settled } from './workflow/creations.ts';
import type { CreationId } from '../../service/values/ids.ts';

const service = await sharedTestService();
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await service.end();
});

interface Shown {
  readonly id: string;
  readonly seed: number | null;
  readonly status: string;
  readonly cost: number;
}
interface Several {
  readonly data: readonly Shown[];
}

const boat = { model: 'sandbox-standard', prompt: 'a boat', seed: 7 };

const clientWith = (balance: string) => service.client({ balance, creditLine: '0' });
const order = async (key: string, body: object, headers: Record<string, string> = {}) =>
  service.send('/images/generate', { key, method: 'POST', body, headers });
const availableOf = async (key: string): Promise<number> =>
  ((await service.send('/balance', { key })).body as { available: number }).available;

describe('count', () => {
  it('Each image is a creation with the next seed, and all are charged together', async () => {
    const { key } = await clientWith('1');
    const answer = await order(key, { ...boat, count: 3 });
    const { data } = answer.body as Several;
    const headers = ['x-darkroom-cost', 'location'].map((name) => answer.headers.get(name));
    expect([answer.status, ...headers]).toEqual([202, '0.12', null]);
    expect(data.map(({ seed, status, cost }) => [seed, status, cost])).toEqual([
      [7, 'queued', 0.04],
      [8, 'queued', 0.04],
      [9, 'queued', 0.04],
    ]);
    for (const { id } of data)
      expect(await settled(service, id as CreationId)).toMatchObject({ status: 'completed' });
    expect(await availableOf(key)).toBe(0.88);
  });

  it('A request that names 1 gets a list of one, and a request that names none gets its creation', async () => {
    const { key } = await clientWith('1');
    expect((await order(key, { ...boat, count: 1 })).body).toMatchObject({ data: [{ seed: 7 }] });
    expect((await order(key, boat)).body).toMatchObject({ seed: 7 });
    expect((await order(key, { ...boat, count: null })).body).toMatchObject({ seed: 7 });
  });

  it('Without money for all, none is made and nothing is charged', async () => {
    const { key } = await clientWith('0.1');
    expect(await order(key, { ...boat, count: 3 })).toMatchObject({
      status: 402,
      body: { error: { details: { required: 0.12, available: 0.1 } } },
    });
    expect(await availableOf(key)).toBe(0.1);
    expect((await service.send('/creations', { key })).body).toMatchObject({ data: [] });
  });

  it('A quote names the price of all, and max_cost limits it', async () => {
    const { key } = await clientWith('0.1');
    const quote = (body: object) => service.send('/images/quote', { key, method: 'POST', body });
    expect((await quote({ ...boat, count: 2 })).body).toMatchObject({ cost: 0.08, sufficient: true });
    expect((await quote({ ...boat, count: 3 })).body).toMatchObject({ cost: 0.12, sufficient: false });
    expect(await order(key, { ...boat, count: 2, max_cost: 0.07 })).toMatchObject({
      status: 400,
      body: { error: { details: { reason: 'max_cost_exceeded' } } },
    });
    expect(await order(key, { ...boat, count: 2, max_cost: 0.08 })).toMatchObject({ status: 202 });
  });

  it('The same Idempotency-Key gives the same creations again, and another count is another request', async () => {
    const { key } = await clientWith('1');
    const named = { 'idempotency-key': 'boats' };
    const first = (await order(key, { ...boat, count: 2 }, named)).body as Several;
    const again = await order(key, { ...boat, count: 2 }, named);
    expect((again.body as Several).data.map(({ id }) => id)).toEqual(first.data.map(({ id }) => id));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await order(key, { ...boat, count: 3 }, named)).toMatchObject({
      status: 400,
      body: { error: { details: { reason: 'idempotency_key_mismatch' } } },
    });
    expect(await availableOf(key)).toBe(0.92);
  });

  it('A request that waits gets all of them ended', async () => {
    const { key } = await clientWith('1');
    const answer = await order(key, { ...boat, count: 2 }, { prefer: 'wait=20' });
    expect(answer).toMatchObject({
      status: 200,
      body: { data: [{ status: 'completed' }, { status: 'completed' }] },
    });
  });

  it('A request that waits for failures alone gets the refusal, and its charges back', async () => {
    const { key } = await clientWith('1');
    const failing = { ...boat, prompt: 'a boat [sandbox:fail]', count: 2 };
    expect(await order(key, failing, { prefer: 'wait=20' })).toMatchObject({ status: 502 });
    expect(await availableOf(key)).toBe(1);
  });
});

everyAnswer(() => service);
