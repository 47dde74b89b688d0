/**
 * A model of one head and its requests. Each request makes its steps as functions/ does: it reads the head, reads the
 * entries, then attaches or charges on the conditions of the store. Between two steps of one request any other
 * request may make its steps.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Attempt,
  attemptOf,
  chargeInPlace,
  decideTry,
  entryIdOf,
  needsEntries,
  type RetryCharge,
  type RetryEntry,
  type RetryHead,
  type Try,
} from '../../service/creations/retries.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { accountId, creationId, keyId, now } from '../fixtures/records.ts';

interface Arrival {
  readonly call: number;
  readonly attempt: number;
  /** Whether its creation fails and is refunded as soon as it is charged. */
  readonly fails: boolean;
}

const callsOf = (tries: readonly Arrival[]): number => new Set(tries.map(({ call }) => call)).size;

/** Far more steps than sixteen requests make. */
const mostTurns = 20_000;

interface Place {
  head: RetryHead | undefined;
  entries: RetryEntry[];
  readonly failed: Set<CreationId>;
  charges: number;
  refusals: number;
}

/** Lets these tries arrive. `order` says which request makes the next step. */
function chargesOf(
  tries: readonly Arrival[],
  order: readonly number[],
): { readonly live: number; readonly entries: number; readonly refusals: number } {
  const place: Place = { head: undefined, entries: [], failed: new Set(), charges: 0, refusals: 0 };
  const running = tries.map((arrival) => stepsOf(arrival, place));
  for (let turn = 0; running.length > 0; turn += 1) {
    if (turn > mostTurns) throw new Error('the requests refuse one another for ever');
    const at = (order[turn % order.length] ?? 0) % running.length;
    if (running[at]?.next().done === true) running.splice(at, 1);
  }
  const live = place.charges - place.failed.size;
  return { live, entries: place.entries.length, refusals: place.refusals };
}

function* stepsOf({ attempt, fails }: Arrival, place: Place): Generator<undefined> {
  const request: Try = { place: { accountId, keyId, bodyHash: 'body' }, attempt, arrivedMillis: now };
  // Each round that fails means that another request has moved on, so this ends.
  for (;;) {
    const { head } = place;
    yield;
    const entries = needsEntries(attempt, head) ? [...place.entries] : [];
    yield;
    const decision = decideTry(request, head, entries);
    if (decision.kind === 'attach') {
      const isFailed = decision.entry.creationIds.every((id) => place.failed.has(id));
      yield;
      if (
        isFailed
          ? charge(place, chargeInPlace(request, decision.entry), fails)
          : see(place, decision.entry, attempt)
      )
        return;
    } else if (charge(place, decision.retry, fails)) return;
    place.refusals += 1;
  }
}

/** As the conditions of the entry say. */
function see(place: Place, read: RetryEntry, attempt: number, instead?: CreationId): boolean {
  const stored = place.entries.find(({ id }) => id === read.id);
  if (!stored || stored.creationIds[0] !== read.creationIds[0] || stored.seen.includes(attempt)) return false;
  const seen = {
    ...stored,
    seen: [...stored.seen, attempt],
    ...(instead && { creationIds: [instead] as const }),
  };
  place.entries = place.entries.map((one) => (one === stored ? seen : one));
  return true;
}

/** As the conditions of the charge say. */
function charge(place: Place, retry: RetryCharge, fails: boolean): boolean {
  const id = `creation ${place.charges}` as CreationId;
  const attempt = retry.attempt ?? 0;
  if (retry.kind === 'same_entry') {
    if (!see(place, retry.entry, attempt, id)) return false;
  } else {
    const { made, madeByRetry } = place.head ?? { made: 0, madeByRetry: 0 };
    const asRead = retry.head ?? { made: 0, madeByRetry: 0 };
    if (attempt > 0 ? made !== asRead.made : madeByRetry !== asRead.madeByRetry) return false;
    place.head = { made: made + 1, madeByRetry: madeByRetry + (attempt > 0 ? 1 : 0) };
    const entry = { id: entryIdOf(retry, id, now), creationIds: [id] as const, madeAt: now, seen: [attempt] };
    place.entries = [entry, ...place.entries];
  }
  place.charges += 1;
  if (fails) place.failed.add(id);
  return true;
}

/** The rule of service/creations/retries.ts, sentence by sentence, and in any order of tries. */
const place = { accountId, keyId, bodyHash: 'body' };

const entry = (id: string, change: Partial<RetryEntry> = {}): RetryEntry => ({
  id,
  creationIds: [creationId],
  madeAt: now - 1_000,
  seen: [0],
  ...change,
});

/** The id of the entry to which the try attaches, or the kind of its charge. */
function decided(attempt: Attempt, entries: readonly RetryEntry[], arrivedMillis = now): string {
  const head = { made: entries.length, madeByRetry: 0 };
  const decision = decideTry({ place, attempt, arrivedMillis }, head, entries);
  return decision.kind === 'attach' ? decision.entry.id : decision.retry.kind;
}

describe('the number of a try', () => {
  it.each([
    ['0', 0],
    ['2', 2],
    ['99', 99],
    ['100', undefined],
    ['', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['one', undefined],
    [undefined, undefined],
  ])('The header %j is the number %j', (header, attempt) => {
    expect(attemptOf(header)).toBe(attempt);
  });
});

describe('a retry', () => {
  it('A retry attaches to an entry that has not seen its number', () => {
    expect(decided(1, [entry('a')])).toBe('a');
    expect(decided(2, [entry('a', { seen: [0, 1] })])).toBe('a');
  });

  it('A retry that arrives after a later one attaches, too', () => {
    expect(decided(1, [entry('a', { seen: [0, 2] })])).toBe('a');
  });

  it('A retry does not attach to an entry that has seen its number, and is charged when there is no other', () => {
    expect(decided(1, [entry('a', { seen: [0, 1] })])).toBe('new_entry');
    expect(decided(1, [entry('a', { seen: [0, 1] }), entry('b')])).toBe('b');
    expect(decided(1, [])).toBe('new_entry');
  });

  it('A retry takes an entry that asked for a retry, then an open one, a failed one, and one with pictures', () => {
    const told = [
      entry('pictures', { told: 'pictures', madeAt: now }),
      entry('failure', { told: 'failure', madeAt: now - 1 }),
      entry('open', { madeAt: now - 2 }),
      entry('rendering', { told: 'rendering', madeAt: now - 3 }),
    ];
    expect([4, 3, 2, 1].map((count) => decided(1, told.slice(0, count)))).toEqual([
      'rendering',
      'open',
      'failure',
      'pictures',
    ]);
  });

  it('A retry takes the newest of several open entries', () => {
    const open = [1_000, 9, 2_000].map((age) => entry(`${age} ms old`, { madeAt: now - age }));
    expect(decided(1, open)).toBe('9 ms old');
  });
});

describe('a first try', () => {
  it('A first try is charged beside any number of other first tries', () => {
    expect(decided(0, [entry('a'), entry('b', { seen: [0, 1, 2] })])).toBe('new_entry');
  });

  it('A first try takes an entry that a retry made within the last 60 seconds', () => {
    const made = entry('a', { seen: [1], madeAt: now - 59_999 });
    expect(decided(0, [made])).toBe('a');
    expect(decided(0, [made], now + 1)).toBe('new_entry');
    expect(decided(0, [{ ...made, seen: [1, 0] }])).toBe('new_entry');
    expect(decided(0, [{ ...made, madeAt: now + 90_000 }])).toBe('a');
  });
});

describe('a request without a number', () => {
  it('A request without a number is charged beside everything but an answer that the pictures are rendering', () => {
    expect(
      decided(undefined, [entry('a'), entry('b', { seen: [1] }), entry('c', { told: 'pictures' })]),
    ).toBe('new_entry');
    expect(decided(undefined, [entry('a'), entry('b', { told: 'rendering' })])).toBe('b');
  });
});

describe('the read of entries', () => {
  it.each<[Attempt, RetryHead | undefined, boolean]>([
    [0, undefined, false],
    [1, undefined, false],
    [undefined, undefined, false],
    [0, { made: 5, madeByRetry: 0 }, false],
    [0, { made: 5, madeByRetry: 1 }, true],
    [1, { made: 1, madeByRetry: 0 }, true],
    [undefined, { made: 1, madeByRetry: 0 }, true],
  ])('A try with number %j and the head %j needs the entries: %j', (attempt, head, needs) => {
    expect(needsEntries(attempt, head)).toBe(needs);
  });
});

describe('the charge of a try', () => {
  it('The charge names the head as it was read', () => {
    const head = { made: 3, madeByRetry: 1 };
    expect(decideTry({ place, attempt: 1, arrivedMillis: now }, head, [])).toEqual({
      kind: 'charge',
      retry: { kind: 'new_entry', place, attempt: 1, head },
    });
  });

  it('The creations of a try whose entry has failed replace the failed ones', () => {
    const failed = entry('a');
    const retry = chargeInPlace({ place, attempt: 1 }, failed);
    expect(retry).toEqual({ kind: 'same_entry', place, attempt: 1, entry: failed });
    expect(entryIdOf(retry, 'other' as CreationId, now)).toBe('a');
  });

  it('The id of a new entry has its time first, so that entries stand in the order of time', () => {
    const retry = { kind: 'new_entry', place, attempt: 0, head: undefined } as const;
    expect(entryIdOf(retry, creationId, now)).toBe(`${now}#${creationId}`);
  });
});

/** Tries of up to four calls with the same body. A try may be lost before it arrives. */
const arrivals = fc
  .array(
    fc.record({
      tries: fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 4 }),
      failing: fc.array(fc.boolean(), { maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((calls) =>
    calls.flatMap(({ tries, failing }, call) =>
      tries.map((attempt, index): Arrival => ({ call, attempt, fails: failing[index] ?? false })),
    ),
  );

describe('any interleaving of the tries of calls', () => {
  it('There are never more unrefunded charges than calls, whatever arrives, in whatever order', () => {
    fc.assert(
      fc.property(arrivals, fc.array(fc.nat(), { minLength: 80, maxLength: 80 }), (tries, order) => {
        const { live, entries } = chargesOf(tries, order);
        expect(entries).toBeLessThanOrEqual(callsOf(tries));
        expect(live).toBeLessThanOrEqual(callsOf(tries));
      }),
      { numRuns: 2_000 },
    );
  });

  it('Calls whose first tries all arrive get an entry each', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
        (count, order) => {
          const firsts = Array.from({ length: count }, (_, call): Arrival => ({
            call,
            attempt: 0,
            fails: false,
          }));
          expect(chargesOf(firsts, order)).toMatchObject({ live: count, entries: count, refusals: 0 });
        },
      ),
    );
  });
});
