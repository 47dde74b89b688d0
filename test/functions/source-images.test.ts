import { describe, expect, it } from 'vitest';
import { allSourcesTimeoutMillis, requestMillis } from '../../core/limits.ts';
import { startBudget } from '../../core/time-budget.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import type { Outbound, SourceResult } from '../../core/ports/outbound.ts';
import type { Problem } from '../../core/problem.ts';
import type { Caller } from '../../functions/http/caller.ts';
import type { Plan } from '../../functions/operations/generate/plan.ts';
import { copySources } from '../../functions/operations/generate/sources.ts';
import type { SubmitServices } from '../../functions/services/submit.ts';
import { pictureOf } from '../../tools/vendors/fakes/pictures.ts';
import { fakeClock, stub, type FakeClock } from './fakes.ts';

interface Fetching {
  readonly clock: FakeClock;
  readonly copied: Promise<unknown>;
  /** The addresses that were fetched, in order. */
  readonly asked: readonly string[];
}

/**
 * Five downloads that each take so many milliseconds of the fake clock. An aborted download fails like a real
 * one.
 */
function fetchFive(millisEach: number): Fetching {
  const clock = fakeClock();
  const asked: string[] = [];
  const fetchSource = async (url: string, signal: AbortSignal): Promise<SourceResult> => {
    asked.push(url);
    const ready = clock.deadline(clock.now() + millisEach);
    await new Promise<void>((resolve) => {
      for (const one of [ready.signal, signal])
        one.addEventListener(
          'abort',
          () => {
            resolve();
          },
          { once: true },
        );
    });
    return signal.aborted
      ? { kind: 'failed', retryable: true }
      : { kind: 'fetched', bytes: pictureOf('png', 64, 64) };
  };
  const services = {
    clock,
    budget: startBudget(clock, requestMillis),
    outbound: stub<Outbound>({ fetchSource }),
    uploads: stub<SubmitServices['uploads']>({}),
    images: stub<ImageStore>({ put: async () => Promise.resolve() }),
    randomBytes: (count: number) => new Uint8Array(count),
  } satisfies Partial<SubmitServices>;
  const imageUrls = [1, 2, 3, 4, 5].map((number) => `https://images.test/${number}`);
  const plan = stub<Plan>({ request: stub<Plan['request']>({ imageUrls }) });
  const caller = stub<Caller>({ place: stub<Caller['place']>({ take: async () => Promise.resolve() }) });
  const copied = copySources(plan, caller, services);
  return { clock, copied, asked };
}

describe('all source images of a request together', () => {
  it('The downloads run four at a time and may take 15 s together', async () => {
    const { clock, copied, asked } = fetchFive(7_000);
    await expect.poll(() => asked.length).toBe(4);
    clock.set(clock.now() + 7_000);
    await expect.poll(() => asked.length).toBe(5);
    clock.set(clock.now() + 7_000);
    await expect(copied).resolves.toHaveLength(5);
  });

  it('The downloads are given up after 15 s: the first missing image is answered 502, retryable', async () => {
    const { clock, copied, asked } = fetchFive(8_000);
    const refused = expect(copied).rejects.toMatchObject({
      status: 502,
      code: 'ERR_INPUT_FETCH_FAILED',
      details: { reason: 'input_fetch_failed', retryable: true, input_index: 4 },
    } satisfies Partial<Problem>);
    await expect.poll(() => asked.length).toBe(4);
    clock.set(clock.now() + 8_000);
    await expect.poll(() => asked.length).toBe(5);
    clock.set(clock.now() + allSourcesTimeoutMillis - 8_000);
    await refused;
  });
});
