import { describe, expect, it } from 'vitest';
import type { Caller } from '../../service/api/admit.ts';
import type { ApiRequest } from '../../service/api/request.ts';
import { eventMillis } from '../../service/contract/limits.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import type { EventLog } from '../../service/events/event-store.ts';
import {
  cursorOf,
  type EventPosition,
  type PlacedEvent,
  positionOfCursor,
} from '../../service/events/event.ts';
import { listEvents } from '../../service/events/list-events.ts';
import type { EventServices } from '../../service/events/open.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { type AccountId, type CreationId, eventIdOfEnd } from '../../service/values/ids.ts';
import type { Clock, Log } from '../../service/values/runtime.ts';
import type { TimeBudget } from '../../service/values/time.ts';
import { fakePlaces, type FakePlaces, stub } from '../api/fakes.ts';
import { accountId, aCreation, anAccount, anApiKey, now } from '../fixtures/records.ts';
import { creationIdIn } from '../fixtures/values.ts';
import { resultsOfTests } from '../fixtures/records.ts';

const caller: Caller = {
  account: anAccount({ eventsSince: '2026-11-01T00:00:00.000Z' }),
  apiKey: anApiKey(),
  nowMillis: now,
  state: { rateCount: 0, openCreations: 0, enabledProviders: [] },
  rateSlot: stub({}),
};
const start: EventPosition = { page: 0, index: 0 };
const idOf = (number: number): CreationId =>
  creationIdIn(`019aa5a0-1000-7000-8000-${number.toString(16).padStart(12, '0')}`);
const at = (number: number, millis = now): PlacedEvent => ({
  id: eventIdOfEnd(idOf(number), millis),
  of: idOf(number),
  next: { page: 1, index: number },
});
const ended = (number: number, change: Partial<CreationRecord> = {}): CreationRecord =>
  aCreation({
    id: idOf(number),
    status: 'completed',
    completedAt: new Date(now).toISOString(),
    resultsExpireAt: now + 1,
    results: [{ key: 'results/x.png', width: 1, height: 1, contentType: 'image/png', bytes: 1 }],
    ...change,
  });

interface Page {
  readonly data: readonly { readonly payload: Readonly<Record<string, unknown>> }[];
  readonly next_cursor: string;
}

interface Asked {
  readonly page: Page;
  /** The pauses between the polls, in milliseconds. */
  readonly pauses: readonly number[];
  readonly log: readonly string[];
}

interface Setting {
  readonly records?: readonly CreationRecord[];
  readonly log?: Partial<EventLog>;
  readonly held?: FakePlaces;
}

/** The answer when the log has these events after the first position. Time passes only in pauses. */
async function ask(
  events: readonly PlacedEvent[],
  query: ApiRequest['query'] = {},
  { records = [], log: own = {}, held = fakePlaces() }: Setting = {},
): Promise<Asked> {
  const pauses: number[] = [];
  const log: string[] = [];
  const elapsed = (): number => pauses.reduce((sum, millis) => sum + millis, 0);
  const services = stub<EventServices>({
    events: stub<EventLog>({
      read: (_account, after, limit) =>
        Promise.resolve(
          after.page === 0
            ? events.slice(0, limit)
            : events.filter((one) => one.next.index > after.index).slice(0, limit),
        ),
      subjects: () => Promise.resolve(new Map(records.map((record) => [record.id, record]))),
      ...own,
    }),
    held,
    results: resultsOfTests,
    budget: stub<TimeBudget>({ elapsed, signal: new AbortController().signal }),
    clock: stub<Clock>({
      now: () => now + elapsed(),
      sleep: (millis: number) => {
        pauses.push(millis);
        return Promise.resolve();
      },
    }),
    log: stub<Log>({ info: (event: string) => void log.push(event) }),
  });
  const request = stub<ApiRequest>({ query: { after: cursorOf(accountId, start), ...query } });
  const { body } = await listEvents(request, caller, services);
  return { page: body as Page, pauses, log };
}

const shown = ({ data }: Page): unknown[] => data.map(({ payload }) => payload['id']);
const placeIn = ({ next_cursor: cursor }: Page): unknown => positionOfCursor(accountId, cursor);

describe('the answer of GET /events', () => {
  it('An event that has expired is passed over, also while its item is still there', async () => {
    const events = [at(1, now - eventMillis), at(2, now - eventMillis + 1), at(3)];
    const { page } = await ask(events, {}, { records: [1, 2, 3].map((number) => ended(number)) });
    expect([shown(page), placeIn(page)]).toEqual([[idOf(2), idOf(3)], { page: 1, index: 3 }]);
    const old = await ask(events.slice(0, 1), {}, { records: [ended(1)] });
    expect([shown(old.page), placeIn(old.page)]).toEqual([[], { page: 1, index: 1 }]);
  });

  it('A page of expired events is no end: the answer has the events behind it', async () => {
    const events = [at(1, 0), at(2, 0), at(3)];
    const { page } = await ask(events, { limit: '1' }, { records: [ended(3)] });
    expect(shown(page)).toEqual([idOf(3)]);
  });

  it('The payload keeps the addresses of the results after the results have expired', async () => {
    const { page } = await ask([at(1)], {}, { records: [ended(1)], log: {} });
    expect(page.data[0]?.payload).toMatchObject({ result_urls: ['https://results.test/results/x.png'] });
  });

  it('A redelivery names the first event of its creation, also when nobody ever stored that event', async () => {
    const redelivery: PlacedEvent = { ...at(1), id: eventIdOfEnd(idOf(9), now + 1), again: true };
    const { page } = await ask([redelivery], {}, { records: [ended(1)] });
    expect(page.data[0]).toMatchObject({ id: redelivery.id, redelivery_of: at(1).id });
  });

  it('The answer stays below 5 MB as Lambda sends it, and its cursor is behind the last event shown', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 16 }, (_, index) => [`${'"'.repeat(38)}${index + 10}`, '"'.repeat(500)]),
    );
    const events = Array.from({ length: 100 }, (_, index) => at(index + 1));
    const records = events.map((_, index) =>
      ended(index + 1, { metadata: { ...metadata, x: '"'.repeat(40_000) } }),
    );
    const { page } = await ask(events, { limit: '100' }, { records });
    const bytes = Buffer.byteLength(JSON.stringify({ body: JSON.stringify(page) }));
    expect(bytes).toBeLessThanOrEqual(5_000_200);
    expect(bytes + bytes / page.data.length).toBeGreaterThan(5_000_000);
    expect(placeIn(page)).toEqual({ page: 1, index: page.data.length });
  });

  it.each([
    ...['0', '101', '1000', '-1', '1.5', 'x', ''].map((text) => ['limit', text] as const),
    ...['21', '1000', '-1', '1.5', 'x', ''].map((text) => ['wait', text] as const),
    ['include', 'everything'] as const,
  ])('The parameter %s=%j is refused', async (field, text) => {
    await expect(ask([], { [field]: text })).rejects.toMatchObject({
      details: { errors: [{ field, code: 'invalid_value' }] },
    });
  });

  it('A position that the log does not have is refused like a broken cursor', async () => {
    const asking = ask([], {}, { log: { read: () => Promise.resolve(undefined) } });
    await expect(asking).rejects.toMatchObject({
      code: 'ERR_INVALID_REQUEST',
      details: { errors: [{ field: 'after' }] },
    });
  });
});

describe('a held read', () => {
  it('The polls come after 1 and 2.5 s and then every 2 s, for the seconds of the request', async () => {
    const { page, pauses } = await ask([], { wait: '7' });
    expect(pauses).toEqual([1_000, 1_500, 2_000, 2_000, 500]);
    expect(page).toEqual({ data: [], next_cursor: cursorOf(accountId, start) });
  });

  it('A read of an account without a free slot is answered at once', async () => {
    const { page, pauses, log } = await ask([], { wait: '20' }, { held: fakePlaces(0) });
    expect([pauses, log]).toEqual([[], ['request_not_held']]);
    expect(page).toEqual({ data: [], next_cursor: cursorOf(accountId, start) });
  });

  it('A poll that the busy table refuses ends the wait with the last known cursor', async () => {
    let looks = 0;
    const read = (): Promise<readonly PlacedEvent[]> => {
      looks += 1;
      return looks < 3 ? Promise.resolve([]) : Promise.reject(new Overloaded('busy'));
    };
    const { page, pauses, log } = await ask([], { wait: '20' }, { log: { read } });
    expect([pauses.length, log]).toEqual([2, ['wait_broken_off']]);
    expect(placeIn(page)).toEqual(start);
  });
});

describe('the cursor', () => {
  it('A cursor is read by its own account alone, and only as it was given out', () => {
    const place = { page: 12, index: 34 };
    const cursor = cursorOf(accountId, place);
    expect(positionOfCursor(accountId, cursor)).toEqual(place);
    expect(positionOfCursor('Acc0unt002' as AccountId, cursor)).toBeUndefined();
    for (const wrong of [
      `${cursor}=`,
      `${cursor} `,
      cursor.slice(0, -1),
      cursorOf(accountId, { page: 12, index: 0.5 }),
    ])
      expect(positionOfCursor(accountId, wrong), wrong).toBeUndefined();
  });
});
