import { describe, expect, it } from 'vitest';
import type { HoldServices } from '../../service/api/hold.ts';
import type { ApiServices } from '../../service/api/open.ts';
import { requestMillis } from '../../service/contract/limits.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import type { RetryEntry } from '../../service/creations/retries.ts';
import type { RetryStore } from '../../service/creations/retry-store.ts';
import type { Made } from '../../service/api/answer.ts';
import { awaitOutcome } from '../../service/generate/await-outcome.ts';
import { findTry, type FoundTry } from '../../service/generate/earlier-request.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { startBudget } from '../../service/values/time.ts';
import { fakeClock, type FakeClock, fakeLog, fakePlaces, type FakePlaces, stub } from '../api/fakes.ts';
import { accountId, aCompletedCreation, aCreation, creationId, keyId, now } from '../fixtures/records.ts';
import { resultsOfTests } from '../fixtures/records.ts';

function waiting(
  clock: FakeClock,
  read: CreationStore['read'] = async () => Promise.resolve(aCreation({ status: 'processing' })),
  held: FakePlaces = fakePlaces(),
): ApiServices & HoldServices {
  const creations = stub<CreationStore>({ read });
  return stub<ApiServices & HoldServices>({
    clock,
    held,
    creations,
    budget: startBudget(clock, requestMillis),
    log: fakeLog(),
    results: resultsOfTests,
  });
}

const queued = aCreation({ status: 'queued' });

const one = (creation: CreationRecord): Made => ({ creations: [creation], isList: false });

describe('a creation that has not ended yet', () => {
  it('The pauses between two reads grow by half up to one second, and the last pause is as short as the time left', async () => {
    const clock = fakeClock();
    await awaitOutcome(one(queued), 5, waiting(clock));
    expect(clock.sleeps).toEqual([150, 225, 337.5, 506.25, 759.375, 1_000, 1_000, 1_000, 21.875]);
  });

  it('A wait of no seconds reads the creation once', async () => {
    const clock = fakeClock();
    expect(await awaitOutcome(one(queued), 0, waiting(clock))).toMatchObject({ status: 202 });
    expect(clock.sleeps).toEqual([]);
  });

  it('The answer comes 25 s after the request arrived at the latest, however long its source images took', async () => {
    const clock = fakeClock();
    const arrived = clock.elapsed();
    const services = waiting(clock);
    clock.set(arrived + 15_000);
    expect(await awaitOutcome(one(queued), 20, services)).toMatchObject({ status: 202 });
    expect(clock.elapsed() - arrived).toBe(25_000);
  });

  it.each([
    ['a busy table', new Overloaded('busy')],
    ['a broken connection', new Error('socket hang up')],
  ])(
    'The answer is 202 with Location when %s prevents a read, because the creation is charged',
    async (_what, error) => {
      const looks = [aCreation({ status: 'processing' })];
      const read = async (): Promise<CreationRecord> => {
        const look = looks.shift();
        return look ? Promise.resolve(look) : Promise.reject(error);
      };
      expect(await awaitOutcome(one(queued), 10, waiting(fakeClock(), read))).toMatchObject({
        status: 202,
        headers: { location: `/api/public/v1/creations/${creationId}` },
        body: { status: 'processing' },
      });
    },
  );

  it('A creation that has ended needs no slot', async () => {
    const completed = aCompletedCreation();
    const services = waiting(fakeClock(), undefined, fakePlaces(0));
    expect(await awaitOutcome(one(completed), 20, services)).toMatchObject({ status: 200 });
  });

  it('The creation is not read again once the time of the request is used up', async () => {
    const clock = fakeClock();
    let looks = 0;
    const services = waiting(clock, async () => {
      looks += 1;
      services.budget.end();
      return Promise.resolve(aCreation({ status: 'processing' }));
    });
    expect(await awaitOutcome(one(queued), 10, services)).toMatchObject({ status: 202 });
    expect(looks).toBe(1);
  });
});

const place = { accountId, keyId, bodyHash: 'body' };

const head = { made: 1, madeByRetry: 0 };

const entry: RetryEntry = { id: 'entry', creationIds: [creationId], madeAt: now, seen: [0] };

interface Stage {
  readonly looks: string[];
  readonly found: Promise<FoundTry>;
}

/** A retry that finds the entry. `attached`: whether each of its attempts to attach succeeds. */
function retried(attached: readonly boolean[], made: readonly CreationRecord[] = [aCreation()]): Stage {
  const looks: string[] = [];
  const retries = stub<RetryStore>({
    readHead: () => {
      looks.push('head');
      return Promise.resolve(head);
    },
    entries: () => {
      looks.push('entries');
      return Promise.resolve([entry]);
    },
    attach: () => {
      looks.push('attach');
      return Promise.resolve(attached[looks.filter((look) => look === 'attach').length - 1] ?? false);
    },
  });
  const creations = { read: () => Promise.resolve(made[0]) };
  const found = findTry({ place, attempt: 1, arrivedMillis: now }, head, {
    retries,
    creations,
    clock: { now: () => now },
  });
  return { looks, found };
}

describe('the earlier try of a call', () => {
  it('A retry attaches to the creations of the entry', async () => {
    const { looks, found } = retried([true]);
    expect(await found).toEqual({ kind: 'attached', entry, creations: [aCreation()] });
    expect(looks).toEqual(['entries', 'attach']);
  });

  it('A retry that another one has overtaken reads the head and then the entries again', async () => {
    const { looks, found } = retried([false, true]);
    expect(await found).toMatchObject({ kind: 'attached' });
    expect(looks).toEqual(['entries', 'attach', 'head', 'entries', 'attach']);
  });

  it('A retry that is overtaken three times is refused with 503', async () => {
    const { looks, found } = retried([]);
    await expect(found).rejects.toMatchObject({ status: 503 });
    expect(looks.filter((look) => look === 'attach')).toHaveLength(3);
  });

  it.each([[[aCreation({ status: 'failed', failure: 'GenerationFailed' })]], [[]]])(
    'A retry that finds only failed or absent creations is charged for new ones',
    async (made) => {
      const stage = retried([true], made);
      expect(await stage.found).toEqual({
        kind: 'charge',
        retry: { kind: 'same_entry', place, attempt: 1, entry },
      });
      expect(stage.looks).not.toContain('attach');
    },
  );
});
