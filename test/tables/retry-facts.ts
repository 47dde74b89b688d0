/** Facts about the tries of calls (service/creations/retries.ts): what is written with a charge, and what attaches to it. */
import { expect } from 'vitest';
import { retryMillis } from '../../service/contract/limits.ts';
import type { ItemKey } from '../../service/aws/dynamodb/table.ts';
import type { ChargeOrder, NewCreation } from '../../service/creations/charge.ts';
import {
  type Attempt,
  entryIdOf,
  type RetryEntry,
  type RetryHead,
  type Told,
} from '../../service/creations/retries.ts';
import { createRetryStore, retryKeys } from '../../service/creations/retry-store.ts';
import { findTry, type FoundTry } from '../../service/generate/earlier-request.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId, aCreation, keyId, now } from '../fixtures/records.ts';
import { type Facts, idOf, losingAnswer, orderOf, type Stores } from './facts.ts';

const place = { accountId, keyId, bodyHash: 'body' };
const minute = 60_000;

/** The tries with one body, as the function sends them. */
function triesOf(stores: Stores) {
  const retries = createRetryStore(stores.table);
  let nextNumber = 1;

  const find = (attempt: Attempt, head: RetryHead | undefined, at: number): Promise<FoundTry> =>
    findTry({ place, attempt, arrivedMillis: at }, head, {
      retries,
      creations: stores.creations,
      clock: { now: () => at },
    });

  /** The order of a try. Its creations get the next numbers. */
  const orderFor = (found: FoundTry, at: number, count = 1): ChargeOrder => {
    if (found.kind === 'attached') throw new Error('the try has attached');
    const creations = Array.from({ length: count }, () => {
      nextNumber += 1;
      return aCreation({ id: idOf(nextNumber - 1) });
    });
    const [first, ...rest] = creations as [NewCreation, ...NewCreation[]];
    return orderOf(1, { creations: [first, ...rest], retry: found.retry, nowMillis: at });
  };

  return {
    retries,
    find,
    orderFor,
    /** Sends a try to its end: the ids of the creations that it gets. */
    send: async (attempt: Attempt, at = now, count = 1): Promise<readonly string[]> => {
      for (let round = 1; round <= 5; round += 1) {
        const found = await find(attempt, await retries.readHead(place), at);
        if (found.kind === 'attached') return found.creations.map(({ id }) => id);
        const order = orderFor(found, at, count);
        const outcome = await stores.charges.charge(order);
        if (outcome.kind === 'charged') return order.creations.map(({ id }) => id);
        expect(outcome.kind).toBe('retry_moved');
      }
      throw new Error('the try found no rest');
    },
    fail: async (id: string): Promise<void> => {
      const creation = await stores.creations.read(id as NewCreation['id']);
      if (!creation) throw new Error(`there is no creation ${id}`);
      const refund = { failure: 'GenerationFailed', announce: true, nowMillis: now } as const;
      expect(await stores.charges.refund(creation, refund)).toBe('refunded');
    },
    /** Notes what the answer about the newest entry, or about the entry of this creation, has said. */
    tell: async (told: Told, id?: string): Promise<void> => {
      const entries = await retries.entries(place, now);
      const entry = entries.find(
        ({ creationIds }) => id === undefined || creationIds.some((one) => one === id),
      );
      if (!entry) throw new Error('there is no such entry');
      await retries.note(place, entry, told);
    },
    charges: async (): Promise<number> =>
      (await stores.wallet.ledger(accountId)).filter(({ kind }) => kind === 'charge').length,
  };
}

/** An entry without its id, which holds a time and the id of a creation. */
const shown = ({ id: _, ...entry }: RetryEntry): Omit<RetryEntry, 'id'> => entry;

export const retryFacts: Facts = {
  'A charge makes the entry of its try in the same transaction, and a refused charge makes none': async (
    stores,
  ) => {
    const { send, retries, find, orderFor } = triesOf(stores);
    await stores.wallet.adjust(accountId, asMicros(-24_990_000), 'test');
    const refused = orderFor(await find(0, undefined, now), now, 2);
    expect(await stores.charges.charge(refused)).toMatchObject({ kind: 'over_balance' });
    expect(await retries.readHead(place)).toBeUndefined();
    expect(await retries.entries(place, now)).toEqual([]);
    await stores.wallet.adjust(accountId, asMicros(24_990_000), 'back');
    const ids = await send(0, now, 2);
    expect(await retries.readHead(place)).toEqual({ made: 1, madeByRetry: 0 });
    expect((await retries.entries(place, now)).map(shown)).toEqual([
      { creationIds: ids, madeAt: now, seen: [0] },
    ]);
  },

  'Every retry of a call, in any order, attaches to the creations of its first try without a noted answer':
    async (stores) => {
      const { send, charges, retries } = triesOf(stores);
      const ids = await send(0, now, 3);
      expect(await send(2)).toEqual(ids);
      expect(await send(1)).toEqual(ids);
      expect(await charges()).toBe(3);
      expect((await retries.entries(place, now))[0]?.seen).toEqual([0, 1, 2]);
    },

  'A first try that arrives after its retry takes what the retry has made, within a minute and once': async (
    stores,
  ) => {
    const { send, charges } = triesOf(stores);
    const ids = await send(1);
    expect(await send(0, now + minute - 1)).toEqual(ids);
    expect(await send(0, now + minute - 1)).not.toEqual(ids);
    expect(await charges()).toBe(2);
    await send(1, now, 1);
    expect(await charges()).toBe(2);
  },

  'A new first try more than a minute after a retry is a new call': async (stores) => {
    const { send } = triesOf(stores);
    const ids = await send(1);
    expect(await send(0, now + minute)).not.toEqual(ids);
  },

  'Other bodies and other keys have heads of their own': async (stores) => {
    const { send, retries } = triesOf(stores);
    await send(0);
    for (const other of [
      { ...place, bodyHash: 'bod' },
      { ...place, bodyHash: 'body2' },
      { ...place, keyId: 'Key002' as typeof keyId },
    ]) {
      expect(await retries.readHead(other)).toBeUndefined();
      expect(await retries.entries(other, now)).toEqual([]);
    }
  },

  'Twelve identical first tries at once are twelve charges: none is refused because of another': async (
    stores,
  ) => {
    const { find, orderFor, retries } = triesOf(stores);
    const orders = await Promise.all(
      Array.from({ length: 12 }, async () => orderFor(await find(0, undefined, now), now)),
    );
    // Conflicts may last through all tries of the store. The account is in each of the transactions anyway.
    const outcomes = await Promise.all(orders.map((order) => stores.charges.charge(order)));
    const kinds = outcomes.map(({ kind }) => kind);
    expect(kinds).not.toContain('retry_moved');
    const charged = kinds.filter((kind) => kind === 'charged').length;
    expect(await retries.readHead(place)).toEqual({ made: charged, madeByRetry: 0 });
    expect(await retries.entries(place, now)).toHaveLength(charged);
  },

  'A first try and its own retry at once make one charge, whichever is first and whatever was made before':
    async (stores) => {
      const { find, orderFor, send, charges, retries } = triesOf(stores);
      const rounds = [[], [0, 1], [1, 0]].flatMap((before) => [
        { before, order: [0, 1] },
        { before, order: [1, 0] },
      ]);
      for (const { before, order } of rounds) {
        for (const attempt of before) await send(attempt);
        const [head, earlier] = [await retries.readHead(place), await charges()];
        // Both have read that there is no entry for them, and then both send their charge.
        const both = [];
        for (const attempt of order) both.push(orderFor(await find(attempt, head, now), now));
        const kinds = [];
        for (const one of both) kinds.push((await stores.charges.charge(one)).kind);
        expect(kinds, JSON.stringify([before, order])).toEqual(['charged', 'retry_moved']);
        expect(await send(order[1])).toEqual([both[0]?.creations[0].id]);
        expect(await charges()).toBe(earlier + 1);
      }
    },

  'A try that loses to another try is not refused for a lack of money': async (stores) => {
    const { find, orderFor, send } = triesOf(stores);
    await stores.wallet.adjust(accountId, asMicros(-24_960_000), 'test');
    const late = orderFor(await find(1, undefined, now), now);
    await send(0);
    expect(await stores.charges.charge(late)).toEqual({ kind: 'retry_moved' });
  },

  'Of two calls whose first tries were lost, each retry is charged once': async (stores) => {
    const { send, charges } = triesOf(stores);
    const [one, two] = [await send(1), await send(1)];
    expect(one).not.toEqual(two);
    expect(new Set([...(await send(2)), ...(await send(2))])).toEqual(new Set([...one, ...two]));
    expect(await charges()).toBe(2);
  },

  'Two retries with the same number that attach at once get two entries': async (stores) => {
    const { send, charges } = triesOf(stores);
    const calls = [await send(0), await send(0)].flat();
    const retried = await Promise.all([send(1), send(1)]);
    expect(retried.flat().sort()).toEqual(calls.sort());
    expect(await charges()).toBe(2);
  },

  'A retry prefers the entry that was not answered to one that was answered with pictures': async (
    stores,
  ) => {
    const { send, tell } = triesOf(stores);
    const open = await send(0, now - 5_000);
    const answered = await send(0);
    await tell('pictures', answered[0]);
    expect(await send(1)).toEqual(open);
    expect(await send(1)).toEqual(answered);
  },

  'A retry after a failure is charged in the place of the failed creation, and later tries attach to it':
    async (stores) => {
      const { send, fail, tell, charges, retries } = triesOf(stores);
      const [failed = ''] = await send(0, now, 2);
      await fail(failed);
      // One of two is left.
      expect(await send(1)).toContain(failed);
      const [, other = ''] = await send(2);
      await fail(other);
      await tell('failure');
      const again = await send(3);
      expect(again).not.toContain(failed);
      expect(await charges()).toBe(3);
      expect(await send(4)).toEqual(again);
      expect(await retries.readHead(place)).toEqual({ made: 1, madeByRetry: 0 });
      const stored = await retries.entries(place, now);
      expect(stored.map(shown)).toEqual([{ creationIds: again, madeAt: now, seen: [0, 1, 2, 3, 4] }]);
      // The next call does not get what the retry of this one has paid for.
      const next = await send(0);
      expect(next).not.toEqual(again);
      await fail(next[0] ?? '');
      const two = await send(1, now, 2);
      expect((await retries.entries(place, now)).map(({ creationIds }) => creationIds)).toContainEqual(two);
    },

  'Of two retries that find the same failed creation one replaces it': async (stores) => {
    const { send, fail, find, orderFor, retries, charges } = triesOf(stores);
    const [failed = ''] = await send(0);
    await fail(failed);
    const head = await retries.readHead(place);
    const both = [orderFor(await find(1, head, now), now), orderFor(await find(2, head, now), now)];
    const outcomes = await Promise.all(both.map((order) => stores.charges.charge(order)));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['charged', 'retry_moved']);
    expect(await charges()).toBe(2);
  },

  'A request without a number is charged each time, except once after an answer that it is still rendering':
    async (stores) => {
      const { send, tell, charges, retries } = triesOf(stores);
      const first = await send(1);
      const second = await send(undefined);
      expect(second).not.toEqual(first);
      await tell('rendering', first[0]);
      expect(await send(undefined)).toEqual(first);
      expect((await retries.entries(place, now)).map(({ seen }) => seen)).toContainEqual([1]);
      expect([first, second]).not.toContainEqual(await send(undefined));
      expect(await charges()).toBe(3);
    },

  'A repeated attach, whose first answer was lost, attaches once more, and another request does not': async (
    stores,
  ) => {
    const { send, retries, charges } = triesOf(stores);
    const ids = await send(0);
    const losing = losingAnswer(stores, 'UpdateItemCommand');
    expect(await send(1)).toEqual(ids);
    expect([losing.answers, await charges()]).toEqual([1, 1]);
    const [entry] = await retries.entries(place, now);
    if (!entry) throw new Error('the call has an entry');
    expect(await retries.attach({ place, attempt: 1, arrivedMillis: now }, entry, now)).toBe(false);
  },

  'A note about creations that were replaced changes nothing': async (stores) => {
    const { send, fail, retries } = triesOf(stores);
    const [failed = ''] = await send(0);
    const [before] = await retries.entries(place, now);
    await fail(failed);
    await send(1);
    if (!before) throw new Error('the call has an entry');
    await retries.note(place, before, 'failure');
    expect((await retries.entries(place, now))[0]?.told).toBeUndefined();
  },

  'An entry lives fifteen minutes after its last try, and thirty minutes at most': async (stores) => {
    const { send, retries } = triesOf(stores);
    const ids = await send(0);
    const stored = async (key: ItemKey): Promise<unknown> => (await stores.item(key))?.['expiresAtSeconds'];
    const alive = async (at: number): Promise<number> => (await retries.entries(place, at)).length;
    const { afterTry, longest } = retryMillis;
    const made = { kind: 'new_entry', place, attempt: 0, head: undefined } as const;
    const entry = retryKeys.entry(place, entryIdOf(made, idOf(1), now));
    expect(await stored(entry)).toBe(Math.ceil((now + afterTry) / 1000));
    expect([await alive(now + afterTry - 1), await alive(now + afterTry)]).toEqual([1, 0]);
    expect(await send(1, now + afterTry - 1)).toEqual(ids);
    expect([await alive(now + 2 * afterTry - 2), await alive(now + 2 * afterTry - 1)]).toEqual([1, 0]);
    expect(await send(2, now + 2 * afterTry - 2)).toEqual(ids);
    expect([await alive(now + longest - 1), await alive(now + longest)]).toEqual([1, 0]);
    expect([await stored(entry), await stored(retryKeys.head(place))]).toEqual([
      Math.ceil((now + longest) / 1000),
      Math.ceil((now + longest) / 1000),
    ]);
  },
};
