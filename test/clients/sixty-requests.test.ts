/** Sixty calls of the openai library over connections that break. CI sends a thousand. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stormAccount, stormEnvironment, stormModel } from '../fixtures/storm.ts';
import { startQuickProvider, type QuickProvider } from '../fixtures/quick-provider.ts';
import { startTestService, type TestService } from '../fixtures/service.ts';
import { runCutStorm } from './cut-storm.ts';

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

it('Sixty calls are paid at most once each, and every paid picture can be had', async () => {
  const account = await stormAccount(service.operator, provider.key);
  const { overpaid, paid, had, received, done, made } = await runCutStorm({
    ...{ service, account, model: stormModel },
    ...{ calls: 60, atOnce: 20, seed: 4, share: 0.4 },
  });
  expect(overpaid).toEqual([]);
  expect(had).toBe(paid);
  expect(await service.audit()).toEqual([]);
  expect(paid).toBeGreaterThan(40);
  expect(done).toBeGreaterThan(40);
  expect(received).toBeGreaterThan(60);
  expect(Object.values(made).filter((count) => count > 0).length).toBeGreaterThan(5);
});
