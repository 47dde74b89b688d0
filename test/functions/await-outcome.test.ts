import { describe, expect, it } from 'vitest';
import type { CreationRecord } from '../../core/creation.ts';
import { requestMillis } from '../../core/limits.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { startBudget } from '../../core/time-budget.ts';
import { awaitOutcome, waitSeconds } from '../../functions/operations/generate/await-outcome.ts';
import type { ApiServices } from '../../functions/services/api.ts';
import { failures } from '../../core/failure.ts';
import { aCompletedCreation, aCreation, creationId } from '../fixtures/records.ts';
import { fakeClock, fakeLog, stub, type FakeClock } from './fakes.ts';

function waiting(
  clock: FakeClock,
  read: CreationStore['read'] = async () => Promise.resolve(aCreation({ status: 'processing' })),
): ApiServices {
  const creations = stub<CreationStore>({ read });
  return stub<ApiServices>({
    clock,
    creations,
    budget: startBudget(clock, requestMillis),
    log: fakeLog(),
    resultsBaseUrl: 'https://results.test',
  });
}

const queued = aCreation({ status: 'queued' });

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

  it.each([undefined, '', 'respond-async', 'wait', 'wait=soon', 'await=5', 'wait=-1'])(
    '%s asks for none',
    (header) => {
      expect(waitSeconds(header)).toBeUndefined();
    },
  );
});

describe('a creation that ended', () => {
  const ended = (creation: CreationRecord): ReturnType<typeof awaitOutcome> =>
    awaitOutcome(
      queued,
      5,
      waiting(fakeClock(), async () => Promise.resolve(creation)),
    );

  it.each<[string, CreationRecord]>([
    ['completed', aCompletedCreation()],
    ['failed by its prompt', aCreation({ status: 'failed', failure: 'PromptRejected' })],
    ['failed by its source image', aCreation({ status: 'failed', failure: 'SourceImageRejected' })],
  ])('%s is answered 200, with its Location and without Retry-After', async (_how, creation) => {
    const answer = await ended(creation);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.headers ?? {})).toContain('location');
    expect(answer.headers).not.toHaveProperty('retry-after');
  });

  it.each(['GenerationFailed', 'NothingRendered', 'GenerationTimedOut', 'InternalFailure'] as const)(
    'by %s is a 502 that says which creation',
    async (failure) => {
      const { message: error, retryable } = failures[failure];
      await expect(ended(aCreation({ status: 'failed', failure }))).rejects.toMatchObject({
        code: 'ERR_GENERATION_FAILED',
        status: 502,
        details: { creation_id: creationId, error, retryable },
      });
    },
  );

  it('by a service that was out is a 503 with Retry-After', async () => {
    const { message: error, retryable } = failures.ServiceUnavailable;
    await expect(ended(aCreation({ status: 'failed', failure: 'ServiceUnavailable' }))).rejects.toMatchObject(
      {
        code: 'ERR_PROVIDER_UNAVAILABLE',
        status: 503,
        details: { reason: 'provider_unavailable', creation_id: creationId, error, retryable },
        headers: { 'retry-after': '30' },
      },
    );
  });
});

describe('a creation that goes on', () => {
  it('is looked at after pauses that grow by half and stay at a second, the last one as short as what is left', async () => {
    const clock = fakeClock();
    await awaitOutcome(queued, 5, waiting(clock));
    expect(clock.sleeps).toEqual([150, 225, 337.5, 506.25, 759.375, 1_000, 1_000, 1_000, 21.875]);
  });

  it('is looked at once when no second was asked for', async () => {
    const clock = fakeClock();
    expect(await awaitOutcome(queued, 0, waiting(clock))).toMatchObject({ status: 202 });
    expect(clock.sleeps).toEqual([]);
  });

  it('is answered 202 once the seconds asked for have passed', async () => {
    const clock = fakeClock();
    const arrived = clock.elapsed();
    expect(await awaitOutcome(queued, 4, waiting(clock))).toMatchObject({
      status: 202,
      body: { status: 'processing' },
    });
    expect(clock.elapsed() - arrived).toBe(4_000);
  });

  it('is answered 25 s after the request arrived at the latest, however long its source images took', async () => {
    const clock = fakeClock();
    const arrived = clock.elapsed();
    const services = waiting(clock);
    clock.set(arrived + 15_000);
    expect(await awaitOutcome(queued, 20, services)).toMatchObject({ status: 202 });
    expect(clock.elapsed() - arrived).toBe(25_000);
  });

  it.each([
    ['a busy table', new Overloaded('busy')],
    ['a broken connection', new Error('socket hang up')],
  ])(
    'is answered 202 with its Location when %s stands in the way of a look: it is charged',
    async (_what, error) => {
      const looks = [aCreation({ status: 'processing' })];
      const read = async (): Promise<CreationRecord> => {
        const look = looks.shift();
        return look ? Promise.resolve(look) : Promise.reject(error);
      };
      expect(await awaitOutcome(queued, 10, waiting(fakeClock(), read))).toMatchObject({
        status: 202,
        headers: { location: `/api/public/v1/creations/${creationId}` },
        body: { status: 'processing' },
      });
    },
  );

  it('is not looked at any more once the time of the request is used up', async () => {
    const clock = fakeClock();
    let looks = 0;
    const services = waiting(clock, async () => {
      looks += 1;
      services.budget.end();
      return Promise.resolve(aCreation({ status: 'processing' }));
    });
    expect(await awaitOutcome(queued, 10, services)).toMatchObject({ status: 202 });
    expect(looks).toBe(1);
  });
});
