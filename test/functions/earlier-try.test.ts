import { describe, expect, it } from 'vitest';
import type { CreationRecord } from '../../core/creation.ts';
import type { RetryStore } from '../../core/ports/retries.ts';
import type { RetryEntry } from '../../core/retries.ts';
import { findTry, type FoundTry } from '../../functions/operations/generate/earlier-try.ts';
import { accountId, aCreation, creationId, keyId, now } from '../fixtures/records.ts';
import { stub } from './fakes.ts';

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
    'A retry that finds nothing but failed or absent creations is charged in their place',
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
