/** A thousand images with the client, while a proxy loses answers and kills connections. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Darkroom } from '../../client/src/index.ts';
import { startMeasured } from '../machine-bench/measured-service.ts';
import { startQuickProvider } from '../machine-bench/quick-provider.ts';
import { startHostileProxy, type Hostility } from './hostile-proxy.ts';
import {
  runStorm,
  stormAccount,
  stormBooks,
  stormEnvironment,
  stormModel,
  type StormBooks,
  type StormResult,
} from './storm.ts';

export interface BenchOptions {
  /** The folder of the checkout. */
  readonly root: string;
  readonly requests: number;
  readonly atOnce: number;
  readonly seed: number;
  readonly share: number;
}

export interface BenchResult extends Omit<StormResult, 'ids'>, StormBooks {
  /** How many sendings reached the proxy, and what it did to them. */
  readonly sendings: number;
  readonly struck: Readonly<Record<Hostility, number>>;
  readonly retries: number;
  readonly seconds: number;
}

export async function benchClient({ root, seed, share, ...load }: BenchOptions): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-bench-'));
  const provider = await startQuickProvider(0);
  const service = await startMeasured({ root, folder, environment: stormEnvironment(provider.url) });
  const proxy = await startHostileProxy({ api: service.api, seed, share });
  try {
    const { id, key } = await stormAccount(service.operator, provider.key);
    let retries = 0;
    const darkroom = new Darkroom({
      apiKey: key,
      baseUrl: proxy.url,
      onRetry: () => {
        retries += 1;
      },
    });
    const began = performance.now();
    const { ids, ...counts } = await runStorm({ ...load, darkroom, model: stormModel, name: 'bench' });
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    if (new Set(ids).size !== load.requests) throw new Error('two requests gave the same creation');
    return {
      ...counts,
      ...(await stormBooks(service.operator, id)),
      sendings: proxy.received(),
      struck: proxy.struck,
      retries,
      seconds,
    };
  } finally {
    await proxy.stop();
    await service.stop();
    await provider.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
