/**
 * The log of an account's events, all of it in the account's own partition and read consistently.
 *
 *   NEW_EVENT#id    an event without a position, as its transaction wrote it
 *   EVENT_LOG       the newest page and its number
 *   EVENT_PAGE#n    the pages before it, which never change
 *
 * Readers give the positions: a reader that has read the newest page n lists the events without a position,
 * and stores them as page n + 1, under the condition that the newest page is still n. So an event that
 * commits late comes after every position that was given before. Of two concurrent readers one wins, and the
 * other reads the winner's page.
 *
 * The items of the new page are deleted afterwards. A crash may leave them. So no page is made before every
 * item of the page before is gone, and a listing leaves out the events of the newest page.
 */
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { deleteItem, getItem, queryPage, updateItem } from '../aws/dynamodb/send.ts';
import { eventKeys, type Item, keyOf, keys, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { mostEvents } from '../contract/limits.ts';
import { creationFromItem } from '../creations/creation-items.ts';
import type { CreationRecord } from '../creations/creation.ts';
import { type EventEntry, eventExpiry } from '../creations/event-items.ts';
import { noticeFromItem } from '../notices/notice-store.ts';
import type { NoticeRecord } from '../notices/notice.ts';
import type { AccountId, EventId } from '../values/ids.ts';
import type { EventPosition, PlacedEvent } from './event.ts';

/** A page of the log. Page 0 is empty: the log before its first event. */
interface LogPage {
  readonly number: number;
  readonly entries: readonly EventEntry[];
}

interface Unplaced {
  readonly fresh: readonly EventEntry[];
  /** Events of the newest page whose items are not deleted yet. */
  readonly placed: readonly EventEntry[];
}

const isStillNewest = '#number = :before';
const isFirst = 'attribute_not_exists(pk)';

export function createEventLog(table: Table) {
  return {
    begin: async (account: AccountId, nowMillis: number) => {
      await updateItem(table, keys.account(account), {
        UpdateExpression: 'SET eventsSince = if_not_exists(eventsSince, :now)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': new Date(nowMillis).toISOString() },
      });
    },
    /**
     * The position after every event that has committed. Gives the events their positions first.
     * @param isTimeLeft false: the work ends, and events without a position come after the returned position
     */
    end: async (account: AccountId, isTimeLeft: () => boolean): Promise<EventPosition> => {
      let newest = await newestPage(table, account);
      while (isTimeLeft() && (await givePositions(table, account, newest)))
        newest = await newestPage(table, account);
      return endOf(newest);
    },
    /** The events after a position, the oldest first. Undefined when the log does not have the position. */
    read: (
      account: AccountId,
      after: EventPosition,
      limit: number,
    ): Promise<readonly PlacedEvent[] | undefined> => read(table, account, after, limit),
    subjects: async (
      entries: readonly EventEntry[],
    ): Promise<ReadonlyMap<string, CreationRecord | NoticeRecord>> => {
      const ids = [...new Set(entries.map(({ of }) => of))];
      const items = await batchGet(table, ids.map(keyOf));
      return new Map(
        items.map((item) => [
          String(item['id']),
          item['sk'] === 'NOTICE' ? noticeFromItem(item) : creationFromItem(item),
        ]),
      );
    },
  };
}

async function read(
  table: Table,
  account: AccountId,
  after: EventPosition,
  limit: number,
): Promise<readonly PlacedEvent[] | undefined> {
  const newest = await newestPage(table, account);
  if (isBehind(after, endOf(newest))) return undefined;
  const found = await collect(table, account, after, newest, limit);
  // A reader with more than a page to read gives no positions.
  if (found.length >= limit || !(await givePositions(table, account, newest))) return found;
  const next = await newestPage(table, account);
  return [...found, ...(await collect(table, account, endOf(newest), next, limit - found.length))];
}

async function collect(
  table: Table,
  account: AccountId,
  after: EventPosition,
  newest: LogPage,
  limit: number,
): Promise<readonly PlacedEvent[]> {
  const found: PlacedEvent[] = [];
  for await (const page of pagesFrom(table, account, after.page, newest, limit)) {
    const skipped = page.number === after.page ? after.index : 0;
    found.push(...page.entries.map((entry, index) => placed(entry, page.number, index)).slice(skipped));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

function placed(entry: EventEntry, page: number, index: number): PlacedEvent {
  return { ...entry, next: { page, index: index + 1 } };
}

function endOf({ number, entries }: LogPage): EventPosition {
  return { page: number, index: entries.length };
}

function isBehind(one: EventPosition, other: EventPosition): boolean {
  return one.page === other.page ? one.index > other.index : one.page > other.page;
}

async function newestPage(table: Table, account: AccountId): Promise<LogPage> {
  return pageOf(await getItem(table, eventKeys.log(account)));
}

function pageOf(item: Item | undefined): LogPage {
  return {
    number: Number(item?.['number'] ?? 0),
    entries: (item?.['entries'] ?? []) as readonly EventEntry[],
  };
}

/** The pages from a number on. A page moves to an item of its own before a newer page replaces it. */
async function* pagesFrom(
  table: Table,
  account: AccountId,
  from: number,
  newest: LogPage,
  limit: number,
): AsyncGenerator<LogPage> {
  if (from < newest.number) {
    const query = {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keys.account(account).pk },
      range: {
        sort: 'sk',
        from: eventKeys.page(account, from).sk,
        to: eventKeys.page(account, newest.number - 1).sk,
      },
    };
    // Each page has an event. All events of the first page may be before the position.
    let left = limit + 1;
    for await (const { Items: items = [] } of queryPages(table, query, left)) {
      for (const item of items) yield pageOf(item);
      left -= items.length;
    }
    // The newest page comes behind pages that were not read.
    if (left <= 0) return;
  }
  yield newest;
}

/** Makes a new page of the events that are on no page yet. False when there are no such events. */
async function givePositions(table: Table, account: AccountId, newest: LogPage): Promise<boolean> {
  const { fresh, placed: left } = await unplaced(table, account, newest);
  await removeNew(table, account, left);
  if (fresh.length === 0) return false;
  if (newest.number > 0) await keepPage(table, account, newest);
  const isFirstPage = newest.number === 0;
  const isPlaced = await updateIf(table, eventKeys.log(account), {
    UpdateExpression: 'SET #number = :next, entries = :entries',
    ConditionExpression: isFirstPage ? isFirst : isStillNewest,
    ExpressionAttributeNames: { '#number': 'number' },
    ExpressionAttributeValues: {
      ':next': newest.number + 1,
      ':entries': fresh,
      ...(!isFirstPage && { ':before': newest.number }),
    },
  });
  // The positions are given. The reader that makes the next page deletes items that stay here.
  if (isPlaced) await removeNew(table, account, fresh).catch(() => undefined);
  return true;
}

/** Reads at least as far as the last event of the newest page, to find all its items that still exist. */
async function unplaced(table: Table, account: AccountId, newest: LogPage): Promise<Unplaced> {
  const known = new Set(newest.entries.map(({ id }) => id));
  const last = newest.entries.reduce((latest, { id }) => (id > latest ? id : latest), '');
  const [fresh, left]: [EventEntry[], EventEntry[]] = [[], []];
  let from: Item | undefined;
  do {
    const { Items: items = [], LastEvaluatedKey: next } = await queryPage(table, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :beginning)',
      ExpressionAttributeValues: { ':pk': keys.account(account).pk, ':beginning': newEventPrefix },
      Limit: 2 * mostEvents,
      ...(from && { ExclusiveStartKey: from }),
    });
    const entries = items.map(entryOf);
    left.push(...entries.filter(({ id }) => known.has(id)));
    fresh.push(...entries.filter(({ id }) => !known.has(id)));
    from = fresh.length >= mostEvents && (entries.at(-1)?.id ?? '') > last ? undefined : next;
  } while (from);
  return { fresh: fresh.slice(0, mostEvents), placed: left };
}

const newEventPrefix = 'NEW_EVENT#';

function entryOf({ sk, of, again }: Item): EventEntry {
  const id = String(sk).slice(newEventPrefix.length) as EventId;
  return { id, of: of as EventEntry['of'], ...(again === true && { again }) };
}

/** Stores the newest page as an earlier one. A page never changes, so anybody may do so, any number of times. */
async function keepPage(table: Table, account: AccountId, { number, entries }: LogPage): Promise<void> {
  await updateItem(table, eventKeys.page(account, number), {
    UpdateExpression: 'SET #number = :number, entries = :entries, #ttl = :ttl',
    ExpressionAttributeNames: { '#number': 'number', '#ttl': ttlAttribute },
    ExpressionAttributeValues: {
      ':number': number,
      ':entries': entries,
      ':ttl': Math.max(...entries.map(({ id }) => eventExpiry(id))),
    },
  });
}

async function removeNew(table: Table, account: AccountId, entries: readonly EventEntry[]): Promise<void> {
  const removals = entries.map(({ id }) => deleteItem(table, keys.newEvent(account, id)));
  // All are awaited, whatever becomes of the others.
  const failed = (await Promise.allSettled(removals)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Every function throws Overloaded when the table stayed busy. */
export type EventLog = ReturnType<typeof createEventLog>;
