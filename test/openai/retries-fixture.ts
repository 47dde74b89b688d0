/** The tries of calls in memory: what the charges of a stage have written, and what was attached and noted since. */
import { entryIdOf, firstSeen, type RetryEntry, type RetryPlace } from '../../service/creations/retries.ts';
import type { RetryStore } from '../../service/creations/retry-store.ts';
import type { Stage } from '../api/serve-fixture.ts';

/** Every charge of the stage counts as charged. */
export function retriesOf(stage: () => Stage): RetryStore {
  const seen = new Map<string, number[]>();
  const told = new Map<string, RetryEntry['told']>();
  const entriesAt = (place: RetryPlace): RetryEntry[] => {
    const entries = new Map<string, RetryEntry>();
    for (const { retry, creations, nowMillis } of stage().orders) {
      if (!retry || retry.place.bodyHash !== place.bodyHash) continue;
      const id = entryIdOf(retry, creations[0].id, nowMillis);
      const [first, ...others] = creations;
      const before = entries.get(id);
      entries.set(id, {
        id,
        creationIds: [first.id, ...others.map((one) => one.id)],
        madeAt: before?.madeAt ?? nowMillis,
        seen: [...(before?.seen ?? []), firstSeen(retry.attempt)],
      });
    }
    return [...entries.values()].map((entry) => {
      const said = told.get(entry.id);
      return { ...entry, seen: [...entry.seen, ...(seen.get(entry.id) ?? [])], ...(said && { told: said }) };
    });
  };
  return {
    readHead: async (place) => {
      const entries = entriesAt(place);
      const byRetry = entries.filter((entry) => entry.seen[0] !== 0).length;
      return Promise.resolve(entries.length > 0 ? { made: entries.length, madeByRetry: byRetry } : undefined);
    },
    entries: async (place) => Promise.resolve(entriesAt(place)),
    attach: async ({ attempt }, { id }) => {
      seen.set(id, [...(seen.get(id) ?? []), attempt ?? 0]);
      told.delete(id);
      return Promise.resolve(true);
    },
    note: async (_place, { id }, said) => Promise.resolve(void told.set(id, said)),
  };
}
