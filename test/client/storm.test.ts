/** The client behind a proxy that loses answers, kills connections, and throws 429, 502 and 503 in. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Darkroom } from '../../client/src/index.ts';
import { withMachinery } from '../../client/src/http/machinery.ts';
import { hostilities, startHostileProxy } from '../fixtures/hostile-proxy.ts';
import { runStorm, stormAccount, stormBooks, stormEnvironment, stormModel } from '../fixtures/storm.ts';
import { startQuickProvider, type QuickProvider } from '../fixtures/quick-provider.ts';
import { startTestService, type TestService } from '../fixtures/service.ts';

/** `STORM_REQUESTS=1000 npm test -- test/client/storm` sends more. */
const requests = Number(process.env['STORM_REQUESTS'] ?? 200);

let provider: QuickProvider;
let service: TestService;
beforeAll(async () => {
  provider = await startQuickProvider(0);
  service = await startTestService({ environment: stormEnvironment(provider.url) });
});
afterAll(async () => {
  await service.end();
  await provider.stop();
});

it(
  `All of ${requests} requests give their image at the first call, and each is charged once`,
  { timeout: 300_000 },
  async () => {
    const { id, key } = await stormAccount(service.operator, provider.key);
    const proxy = await startHostileProxy({ api: service.machine.apiUrl, seed: 4, share: 0.3 });
    try {
      // Waits are a twentieth of what they are. The other tests state how long they are.
      const sleep = async (millis: number): Promise<void> =>
        new Promise((resolve) => setTimeout(resolve, millis / 20));
      const darkroom = new Darkroom(withMachinery({ apiKey: key, baseUrl: proxy.url }, { sleep }));
      const storm = { darkroom, model: stormModel, requests, atOnce: 40, name: 'test' };
      const ids = await runStorm(storm);
      expect(new Set(ids).size).toBe(requests);
      expect(await stormBooks(service.operator, id)).toEqual({
        chargedOnce: requests,
        others: 0,
        differences: 0,
      });
      expect(hostilities.filter((hostility) => proxy.struck[hostility] === 0)).toEqual([]);
    } finally {
      await proxy.stop();
    }
  },
);
