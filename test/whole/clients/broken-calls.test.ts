/** Hundreds of calls of the openai library over connections that break, identical parallel calls included. */
import { afterAll, expect, it } from 'vitest';
import { startQuickProvider } from '../../fixtures/quick-provider.ts';
import { startTestService } from '../../fixtures/service.ts';
import { stormAccount, stormEnvironment, stormModel } from '../../fixtures/storm.ts';
import { runCutStorm } from './cut-storm.ts';
import { cuts } from './cutting-proxy.ts';

/** `STORM_CALLS=1000 npm test -- test/whole/clients/broken-calls` makes more. */
const calls = Number(process.env['STORM_CALLS'] ?? 300);

const provider = await startQuickProvider(0);
const service = await startTestService({ environment: stormEnvironment(provider.url) });
afterAll(async () => {
  await service.end();
  await provider.stop();
});

it(
  `All of ${calls} calls are paid at most once each, and every paid picture can be had`,
  { timeout: 300_000 },
  async () => {
    const account = await stormAccount(service.operator, provider.key);
    const { overpaid, paid, had, received, done, made } = await runCutStorm({
      ...{ service, account, model: stormModel },
      ...{ calls, atOnce: 40, seed: 4, share: 0.4 },
    });
    expect(overpaid).toEqual([]);
    expect(had).toBe(paid);
    expect(await service.audit()).toEqual([]);
    expect(paid).toBeGreaterThan(0.8 * calls);
    expect(done).toBeGreaterThan(0.75 * calls);
    expect(received).toBeGreaterThan(calls);
    expect(Object.values(made).filter((count) => count > 0).length).toBe(cuts.length);
  },
);
