/**
 * A page of an account's creations. The listing index holds only ids, so a filter must read the records. One
 * call reads a limited number of records and returns where the next page begins.
 */
import { dayAfter } from '../../core/booked-row.ts';
import type { CreationRecord } from '../../core/creation.ts';
import type { AccountId, CreationId } from '../../core/ids.ts';
import type { CreationPage, CreationQuery } from '../../core/ports/creations.ts';
import { batchGet } from './batch-get.ts';
import { creationFromItem, listedIdOf } from './mapping.ts';
import { queryPage } from './send.ts';
import { keys, listingIndex, type Table } from './table.ts';

/** How many records a filter reads at once. */
const readAtOnce = 100;
/** The most records that one call reads. Five reads of 100 take far less than the time of a request. */
const mostRead = 500;

export async function pageOfCreations(
  table: Table,
  accountId: AccountId,
  query: CreationQuery,
): Promise<CreationPage> {
  const { status, model, user, keyId, day } = query;
  const isFiltered = [status, model, user, keyId].some((wanted) => wanted !== undefined);
  const found: CreationRecord[] = [];
  const from = day === undefined ? undefined : firstIdOf(day);
  const behind = day === undefined ? undefined : firstIdOf(dayAfter(day));
  const isInDay = query.before !== undefined && (behind === undefined || query.before < behind);
  let before: string | undefined = isInDay ? query.before : behind;
  for (let read = 0; read < mostRead;) {
    const { ids, goesOn } = await idsBehind(
      table,
      accountId,
      { before, from },
      isFiltered ? readAtOnce : query.limit,
    );
    for (const creation of await recordsOf(table, ids)) {
      if (!isWanted(creation, query)) continue;
      // Only a further matching creation proves that the next page is not empty.
      if (found.length === query.limit) return pageUntil(found, found.at(-1)?.id);
      found.push(creation);
    }
    before = ids.at(-1) ?? before;
    read += ids.length;
    if (!goesOn) return { creations: found };
    if (found.length === query.limit) break;
  }
  return pageUntil(found, before as CreationId | undefined);
}

function pageUntil(creations: readonly CreationRecord[], next: CreationId | undefined): CreationPage {
  return { creations, ...(next !== undefined && { next }) };
}

function isWanted(creation: CreationRecord, { status, model, user, keyId }: CreationQuery): boolean {
  return (
    (status === undefined || creation.status === status) &&
    (model === undefined || creation.model === model) &&
    (user === undefined || creation.user === user) &&
    (keyId === undefined || creation.keyId === keyId)
  );
}

interface Ids {
  /** The newest first. */
  readonly ids: readonly CreationId[];
  /** Whether the index holds older creations than these. */
  readonly goesOn: boolean;
}

interface Bounds {
  /** Ids below this one. */
  readonly before: string | undefined;
  /** And from this one on. */
  readonly from: string | undefined;
}

/** Reads ids from the index, which may lag behind the table for a moment. */
async function idsBehind(
  table: Table,
  accountId: AccountId,
  { before, from }: Bounds,
  count: number,
): Promise<Ids> {
  const isDay = from !== undefined && before !== undefined;
  const behind = before === undefined || isDay ? '' : ` AND ${listingIndex.sort} < :before`;
  const page = await queryPage(table, {
    IndexName: listingIndex.name,
    KeyConditionExpression: `${listingIndex.partition} = :list${behind}`,
    ExpressionAttributeValues: {
      ':list': `CREATIONS#${accountId}`,
      ...(before !== undefined && !isDay && { ':before': before }),
    },
    // The end of a range is included: one digit less excludes it.
    ...(isDay && { range: { sort: listingIndex.sort, from, to: justBelow(before) } }),
    ScanIndexForward: false,
    // The one additional row shows whether there are more.
    Limit: count + 1,
  });
  const ids = (page.Items ?? []).map(listedIdOf);
  return { ids: ids.slice(0, count), goesOn: ids.length > count };
}

/** A text below this id and above all ids that are smaller. Ids are lower-case hex. */
function justBelow(id: string): string {
  return `${id.slice(0, -1)}${String.fromCharCode(id.charCodeAt(id.length - 1) - 1)}~`;
}

/** The beginning of the ids of a UTC day: a UUIDv7 begins with its milliseconds in 12 hex digits. */
export function firstIdOf(day: string): string {
  const time = Date.parse(day).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** Reads the records consistently, the newest first. */
async function recordsOf(table: Table, ids: readonly CreationId[]): Promise<CreationRecord[]> {
  const items = await batchGet(table, ids.map(keys.creation));
  return items.map(creationFromItem).sort((a, b) => (a.id < b.id ? 1 : -1));
}
