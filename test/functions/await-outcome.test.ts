import { describe, expect, it } from 'vitest';
import type { CreationStore } from '../../core/ports/creations.ts';
import { awaitOutcome, waitSeconds } from '../../functions/api/await-outcome.ts';
import type { ApiServices } from '../../functions/services.ts';
import { aCreation, creationId } from '../fixtures/records.ts';
import { fakeClock, stub, type FakeClock } from './fakes.ts';

function waiting(clock: FakeClock): ApiServices {
  const creations = stub<CreationStore>({ read: async () => Promise.resolve(aCreation({ status: 'processing' })) });
  return stub<ApiServices>({ clock, creations, resultsBaseUrl: 'https://results.test' });
}

describe('the seconds of Prefer: wait', () => {
  it.each([
    ['wait=5', 5],
    ['respond-async, wait=10', 10],
    ['wait=3;foo', 3],
    ['WAIT = "7"', 7],
    ['wait=600', 20],
    ['wait=0', 0],
  ])('%s is %i', (header, seconds) => {
    expect(waitSeconds(header)).toBe(seconds);
  });

  it.each([undefined, '', 'respond-async', 'wait', 'wait=soon', 'await=5', 'wait=-1'])('%s asks for none', (header) => {
    expect(waitSeconds(header)).toBeUndefined();
  });
});

describe('a creation that goes on', () => {
  it('is answered 202 once the seconds asked for have passed', async () => {
    const clock = fakeClock();
    const arrived = clock.elapsed();
    expect(await awaitOutcome(creationId, 4, arrived, waiting(clock))).toMatchObject({ status: 202, body: { status: 'processing' } });
    expect(clock.elapsed() - arrived).toBe(4_000);
  });

  it('is answered 25 s after the request arrived at the latest, however long its source images took', async () => {
    const clock = fakeClock();
    const arrived = clock.elapsed() - 15_000;
    expect(await awaitOutcome(creationId, 20, arrived, waiting(clock))).toMatchObject({ status: 202 });
    expect(clock.elapsed() - arrived).toBe(25_000);
  });
});
