import { describe, expect, it } from 'vitest';
import type { CreationId } from '../../core/ids.ts';
import { notedChargeStore, notedCompletions, openNotes, type NoteServices } from '../../core/open-notes.ts';
import type { ChargeStore } from '../../core/ports/charges.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { aCreation } from '../fixtures/records.ts';
import { fakeClock, fakeLog, stub } from '../functions/fakes.ts';

/** In the sample of every capacity, and in the sample of none. */
const sampled = '019aa5a0-1000-7000-8000-000800000000' as CreationId;
const other = '019aa5a0-1000-7000-8000-000100000000' as CreationId;

/** Notes whose changes are kept, over a store that may fail. */
function kept(services: Partial<NoteServices> = {}) {
  const changes: number[] = [];
  const log = fakeLog();
  const notes = openNotes({
    clock: fakeClock(),
    log,
    serviceCapacity: 2_000,
    owed: { sum: 0 },
    openCount: { add: (change) => Promise.resolve(void changes.push(change)) },
    ...services,
  });
  return { changes, log, notes };
}

describe('the notes of the running count', () => {
  it('A start and an end of a sampled creation add and take the same', async () => {
    const { changes, notes } = kept();
    await notes.begun([sampled, other]);
    await notes.ended(sampled);
    expect(changes).toEqual([4, -4]);
  });

  it('A creation that is not in the sample writes nothing', async () => {
    const { changes, notes } = kept();
    await notes.begun([other]);
    await notes.ended(other);
    expect(changes).toEqual([]);
  });

  it('A note that fails is a line of the log, and no error', async () => {
    const { log, notes } = kept({ openCount: { add: () => Promise.reject(new Overloaded('busy')) } });
    await notes.begun([sampled]);
    expect(log.entries).toEqual([['info open_count_not_noted', { change: 4, error: 'Overloaded' }]]);
  });
});

describe('a note that failed', () => {
  it('The next note of the environment carries the failed note, and a success carries it once', async () => {
    const changes: number[] = [];
    let isBusy = true;
    const add = (change: number): Promise<void> => {
      if (isBusy) return Promise.reject(new Overloaded('busy'));
      changes.push(change);
      return Promise.resolve();
    };
    const { notes } = kept({ openCount: { add } });
    await notes.begun([sampled]);
    await notes.begun([sampled]);
    isBusy = false;
    await notes.begun([other]);
    await notes.ended(sampled);
    expect(changes).toEqual([8, -4]);
  });
});

describe('what is noted', () => {
  const creation = aCreation({ id: sampled });
  const ends = {
    refund: ['refunded', 'already_terminal', 'busy'],
    cancel: ['cancelled', 'moved_on', 'busy'],
    complete: ['completed', 'already_terminal', 'busy'],
  } as const;

  it.each(Object.entries(ends))(
    'Of the outcomes of %s, only the one that ends the creation',
    async (name, all) => {
      for (const outcome of all) {
        const { changes, notes } = kept();
        const answer = () => Promise.resolve(outcome as never);
        const charges = notedChargeStore(stub<ChargeStore>({ refund: answer, cancel: answer }), notes);
        const creations = notedCompletions(stub<CreationStore>({ complete: answer }), notes);
        const call = { ...charges, ...creations }[name as keyof typeof ends] as (
          one: typeof creation,
          rest: never,
        ) => Promise<unknown>;
        expect(await call(creation, undefined as never)).toBe(outcome);
        expect([outcome, changes]).toEqual([outcome, outcome === all[0] ? [-4] : []]);
      }
    },
  );

  it('A charge notes all creations of its order, and a refused charge notes none', async () => {
    const order = { creations: [creation, aCreation({ id: other })] } as unknown as Parameters<
      ChargeStore['charge']
    >[0];
    for (const [outcome, expected] of [
      [{ kind: 'charged' }, [4]],
      [{ kind: 'overloaded' }, []],
    ] as const) {
      const { changes, notes } = kept();
      const charges = notedChargeStore(stub<ChargeStore>({ charge: () => Promise.resolve(outcome) }), notes);
      expect(await charges.charge(order)).toEqual(outcome);
      expect(changes).toEqual(expected);
    }
  });
});
