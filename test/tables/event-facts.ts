/** Facts about the log of events: what writes an event, and the positions that readers give. */
import { expect } from 'vitest';
import { eventKeys, keys, type Table } from '../../service/aws/dynamodb/table.ts';
import { transact } from '../../service/aws/dynamodb/transaction.ts';
import { eventMillis } from '../../service/contract/limits.ts';
import type { Completion } from '../../service/creations/creation-reads.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import { type EventEntry, eventItem } from '../../service/creations/event-items.ts';
import { createEventLog } from '../../service/events/event-store.ts';
import type { EventPosition, PlacedEvent } from '../../service/events/event.ts';
import { type EventId, uuidV7 } from '../../service/values/ids.ts';
import { accountId, aCreation, now, storedImage } from '../fixtures/records.ts';
import { type Facts, idOf, orderOf, type Stores } from './facts.ts';

const beginning: EventPosition = { page: 0, index: 0 };
const done: Completion = {
  results: [storedImage],
  resultsExpireAt: now + 1_000_000,
  attempts: [],
  nowMillis: now,
};
const always = (): boolean => true;

/** The nth event, at its own time unless the test gives another. */
function entry(number: number, at = now + number): EventEntry {
  const random = new Uint8Array(16).fill(number % 256);
  return { id: `evt_${uuidV7(at, random)}` as EventId, of: idOf(number % 256) };
}

async function write(table: Table, ...entries: readonly EventEntry[]): Promise<void> {
  for (let start = 0; start < entries.length; start += 100) {
    const items = entries.slice(start, start + 100).map((one) => eventItem(table, accountId, one));
    expect(await transact(table, items)).toEqual({ kind: 'done' });
  }
}

/** All events after a position, by pages of this size. */
async function behind(table: Table, after: EventPosition, limit = 100): Promise<PlacedEvent[]> {
  const found: PlacedEvent[] = [];
  for (let place: EventPosition | undefined = after; place;) {
    const page: readonly PlacedEvent[] = (await createEventLog(table).read(accountId, place, limit)) ?? [];
    expect(page.length).toBeLessThanOrEqual(limit);
    found.push(...page);
    place = page.at(-1)?.next;
  }
  return found;
}

const ids = (events: readonly EventEntry[]): string[] => events.map(({ id }) => id);

/** A charged creation, and its record as it was read. */
async function charged({ charges }: Stores, number: number, tellsEvents?: true): Promise<CreationRecord> {
  const mark = tellsEvents ? { tellsEvents } : {};
  await charges.charge(orderOf(number, {}, mark));
  return aCreation({ id: idOf(number), ...mark });
}

export const eventFacts: Facts = {
  'Every kind of end writes an event if and only if somebody has read events before it': async (stores) => {
    const { table, creations, charges } = stores;
    expect(await creations.complete(await charged(stores, 1), done)).toBe('completed');
    expect(await behind(table, beginning)).toEqual([]);
    // These were charged before the first read. Only one of them knows of it.
    const [unaware, refunded, cancelled] = [
      await charged(stores, 2),
      await charged(stores, 3),
      await charged(stores, 4),
    ];
    await createEventLog(table).begin(accountId, now);
    const aware = await charged(stores, 5, true);
    const refund = { failure: 'GenerationFailed', nowMillis: now, announce: false } as const;
    expect(await creations.complete(unaware, done)).toBe('completed');
    expect(await charges.refund(refunded, refund)).toBe('refunded');
    expect(await charges.cancel(cancelled, { nowMillis: now, attempts: [] })).toBe('cancelled');
    expect(await creations.complete(aware, done)).toBe('completed');
    // No end that is repeated writes a second event.
    expect(await creations.complete(unaware, done)).toBe('already_terminal');
    expect(await charges.refund(aware, refund)).toBe('already_terminal');
    const events = await behind(table, beginning);
    expect(events.map(({ of }) => of)).toEqual([2, 3, 4, 5].map(idOf));
  },

  'An event that is written late comes after every position that was given before': async ({ table }) => {
    await write(table, entry(5), entry(6));
    const [five, six] = await behind(table, beginning);
    await write(table, entry(1));
    expect(ids(await behind(table, six?.next ?? beginning))).toEqual([entry(1).id]);
    expect(ids(await behind(table, five?.next ?? beginning))).toEqual([entry(6).id, entry(1).id]);
    expect(ids(await behind(table, beginning))).toEqual([5, 6, 1].map((number) => entry(number).id));
  },

  'Of many readers at once each sees every event once, in the same order': async ({ table }) => {
    for (let round = 0; round < 5; round += 1) {
      await write(table, ...[1, 2, 3].map((number) => entry(10 * round + number)));
      await Promise.all(
        Array.from({ length: 6 }, () => createEventLog(table).read(accountId, beginning, 100)),
      );
    }
    const seen = ids(await behind(table, beginning));
    expect(seen).toHaveLength(15);
    expect(new Set(seen).size).toBe(15);
    expect(ids(await behind(table, beginning, 2))).toEqual(seen);
  },

  'Three hundred events have their places in the order of their times, by whatever pages they are read':
    async ({ table }) => {
      const entries = Array.from({ length: 300 }, (_, index) => entry(index));
      await write(table, ...entries);
      for (const limit of [7, 100]) expect(ids(await behind(table, beginning, limit))).toEqual(ids(entries));
      const places = await behind(table, beginning);
      expect(ids(await behind(table, places[149]?.next ?? beginning))).toEqual(ids(entries.slice(150)));
    },

  'An item that a dead reader left is neither shown again nor placed again': async ({ table, item }) => {
    const left = [entry(1), entry(200)];
    await write(table, ...left);
    await behind(table, beginning);
    // As if the reader had died before it deleted the items.
    await write(table, ...left);
    expect(await behind(table, { page: 1, index: 2 })).toEqual([]);
    await write(table, ...left);
    // More new events than a page takes are in front of one of the items.
    const fresh = Array.from({ length: 120 }, (_, index) => entry(index + 2));
    await write(table, ...fresh);
    expect(ids(await behind(table, { page: 1, index: 2 }))).toEqual(ids(fresh));
    expect(await item(keys.newEvent(accountId, entry(200).id))).toBeUndefined();
  },

  'The first cursor is behind every event that is there, and a place that the log does not have is refused':
    async ({ table }) => {
      const log = createEventLog(table);
      await write(table, ...Array.from({ length: 120 }, (_, index) => entry(index)));
      expect(await log.end(accountId, () => false)).toEqual(beginning);
      expect(await log.end(accountId, always)).toEqual({ page: 2, index: 20 });
      expect(await log.read(accountId, { page: 2, index: 20 }, 1)).toEqual([]);
      for (const place of [
        { page: 2, index: 21 },
        { page: 3, index: 0 },
      ])
        expect(await log.read(accountId, place, 1)).toBeUndefined();
    },

  'Events, and the pages with them, are kept for 30 days': async ({ table, item }) => {
    const expiry = (at: number): number => Math.ceil((at + eventMillis) / 1000);
    await write(table, entry(1), entry(2, now + 5_000));
    const stored = await item(keys.newEvent(accountId, entry(1).id));
    expect(stored?.['expiresAtSeconds']).toBe(expiry(now + 1));
    await behind(table, beginning);
    await write(table, entry(3, now + 9_000));
    await behind(table, beginning);
    expect(await item(eventKeys.page(accountId, 1))).toMatchObject({
      number: 1,
      expiresAtSeconds: expiry(now + 5_000),
    });
    // The newest page has the number, so it stays.
    expect(await item(eventKeys.log(accountId))).not.toHaveProperty('expiresAtSeconds');
  },
};
