/** The key that signs addresses of results is replaced while the service goes on. */
import { afterAll, describe, expect, it } from 'vitest';
import { type ResultKeyAccess, rotateResultKey } from '../../admin/result-keys.ts';
import { startTestService } from '../fixtures/service.ts';
import { submit } from '../whole/workflow/creations.ts';
import { adminJson } from './admin-run.ts';

const service = await startTestService();
afterAll(() => service.end());
const client = await service.client({ getRate: '1000000' });
await service.operator.accounts.change(client.account.id, { results: 'signed', resultsMinutes: 10_080 });
/** The newest creation of the list. */
async function order(): Promise<void> {
  await service.ended(await submit(service, client.key, { model: 'sandbox-sketch', prompt: 'a lake' }));
}
await order();

const rotate = (...more: string[]): ReturnType<typeof adminJson> =>
  adminJson(service.folder, 'results', 'rotate-key', ...more);
/** An address as the list of creations gives it now. */
async function freshAddress(): Promise<string> {
  const answer = await service.send('/creations', { key: client.key });
  return (answer.body as { data: { result_urls: string[] }[] }).data[0]?.result_urls[0] ?? '';
}
async function opened(address: string): Promise<number> {
  const response = await fetch(address);
  await response.arrayBuffer();
  return response.status;
}
const keyOf = (address: string): string => new URL(address).searchParams.get('Key-Pair-Id') ?? '';

/** Readers that ask for addresses and open them until the work is done. Gives the statuses, and the keys that signed. */
async function duringStorm(
  work: () => Promise<void>,
): Promise<{ statuses: Set<number>; keys: Set<string>; count: number }> {
  const seen = { statuses: new Set<number>(), keys: new Set<string>(), count: 0 };
  let isOver = false;
  const readers = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const address = await freshAddress();
      seen.keys.add(keyOf(address));
      seen.statuses.add(await opened(address));
      seen.count += 1;
    }
  });
  // The readers have addresses from before the work. They read on after it: their first answers may be older.
  await expect.poll(() => seen.count).toBeGreaterThan(readers.length);
  await work();
  const atEnd = seen.count;
  await expect.poll(() => seen.count).toBeGreaterThan(atEnd + 2 * readers.length);
  isOver = true;
  await Promise.all(readers);
  return seen;
}

const quarter = 15 * 60;
const kept = 5 * 60;

describe('results rotate-key', () => {
  it('A replacement in the middle of a storm refuses nobody, and the old addresses live as long as promised', async () => {
    const before = await freshAddress();
    let next = '';
    const storm = await duringStorm(async () => {
      const begun = await rotate();
      expect(begun).toMatchObject({ signs: keyOf(before), replaced: [] });
      next = String(begun['next']);
      // Another run does not hurry: the edges learn of the key first.
      expect(await rotate()).toEqual(begun);
      service.jump(quarter);
      expect(await rotate()).toEqual({
        ...{ signs: next, next: null, next_run_after: null, replaced: [keyOf(before)] },
      });
      for (let minutes = 0; minutes < 6; minutes += 1) {
        service.jump(60);
        expect(await opened(await freshAddress())).toBe(200);
      }
    });
    expect(storm.count).toBeGreaterThan(20);
    expect([...storm.statuses]).toEqual([200]);
    expect([...storm.keys].sort()).toEqual([keyOf(before), next].sort());
    expect(keyOf(await freshAddress())).toBe(next);
    expect(await opened(before)).toBe(200);
  });

  it('A replaced key is retired after the longest life of an address, and not before', async () => {
    const [old] = (await rotate('--retire'))['replaced'] as string[];
    service.jump(7 * 86_400 - 600);
    expect(await rotate('--retire')).toMatchObject({ replaced: [old] });
    service.jump(2 * quarter);
    expect(await rotate('--retire')).toMatchObject({ replaced: [] });
    expect(await opened(await freshAddress())).toBe(200);
  });

  it('A run that breaks before or after any call leaves a service that works, and the next one goes on', async () => {
    const access = service.operator.resultKeys();
    for (const when of ['before', 'after'] as const)
      for (let broken = 1; ; broken += 1) {
        // The results of the runs before have ended.
        await order();
        const first = keyOf(await freshAddress());
        const isWhole = await breaking(access, broken, when);
        service.jump(kept);
        expect(await opened(await freshAddress()), `${when} ${broken}`).toBe(200);
        await rotate();
        service.jump(quarter);
        await rotate();
        service.jump(kept + 1);
        const second = await freshAddress();
        expect(keyOf(second), `${when} ${broken}`).not.toBe(first);
        expect(await opened(second), `${when} ${broken}`).toBe(200);
        // Keys of the runs before are retired, or CloudFront would soon have too many.
        service.jump(8 * 86_400);
        expect(await rotate('--retire')).toMatchObject({ replaced: [] });
        if (isWhole) break;
      }
  });
});

/** A run whose n-th call breaks. True: it has fewer calls. */
async function breaking(access: ResultKeyAccess, broken: number, when: 'before' | 'after'): Promise<boolean> {
  let calls = 0;
  const cut = <Client extends { send: (command: never) => unknown }>(sdk: Client): Client =>
    ({
      send: async (command: never) => {
        calls += 1;
        if (calls === broken && when === 'before') throw new Error('cut off');
        const answer = await sdk.send(command);
        if (calls === broken) throw new Error('cut off');
        return answer;
      },
    }) as unknown as Client;
  const run = rotateResultKey({
    ...access,
    cloudFront: cut(access.cloudFront),
    secrets: cut(access.secrets),
  });
  return run.then(
    () => true,
    () => false,
  );
}
