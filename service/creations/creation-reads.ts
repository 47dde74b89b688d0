/** A page of an account's creations. A call reads a limited number of records, for filters as well. */
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { getItem, queryPage } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, listingIndex, type Table } from '../aws/dynamodb/table.ts';
import type { AccountId, CreationId, KeyId } from '../values/ids.ts';
import { dayAfter } from '../values/time.ts';
import { creationFromItem, listedIdOf } from './creation-items.ts';
import type { CreationRecord, CreationStatus, RouteAttempt, StoredImage } from './creation.ts';
import { withLease } from './lease.ts';

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
  readonly before: string | undefined;
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

async function recordsOf(table: Table, ids: readonly CreationId[]): Promise<CreationRecord[]> {
  const items = await batchGet(table, ids.map(keys.creation));
  return items.map(creationFromItem).sort((a, b) => (a.id < b.id ? 1 : -1));
}

export function createCreationReader(table: Table) {
  return { read: (id: CreationId): Promise<CreationRecord | undefined> => readCreation(table, id) };
}

/** Reads creations. It is apart from the writes, which the functions of the API do not need. */
export function createCreationReads(table: Table) {
  return {
    ...createCreationReader(table),
    /** The creations of these ids that exist, with their leases, consistently and in this order. */
    readAll: (ids: readonly CreationId[]): Promise<readonly CreationRecord[]> => readCreations(table, ids),
    /** The creations of an account, the newest first, from the one after `before` on. */
    list: async (
      accountId: AccountId,
      limit: number,
      before?: CreationId,
    ): Promise<readonly CreationRecord[]> => {
      const page = await pageOfCreations(table, accountId, {
        limit,
        ...(before !== undefined && { before }),
      });
      return page.creations;
    },
    page: (accountId: AccountId, query: CreationQuery): Promise<CreationPage> =>
      pageOfCreations(table, accountId, query),
  };
}

async function readCreation(table: Table, id: CreationId): Promise<CreationRecord | undefined> {
  const item = await getItem(table, keys.creation(id));
  return item && creationFromItem(item);
}

/** Consistent reads. A creation and its lease are in the same batch, fifty of each at once. */
async function readCreations(table: Table, ids: readonly CreationId[]): Promise<readonly CreationRecord[]> {
  const items = await batchGet(
    table,
    ids.flatMap((id) => [keys.creation(id), keys.lease(id)]),
  );
  const found = new Map(items.map((item) => [`${String(item['pk'])} ${String(item['sk'])}`, item]));
  const itemOf = ({ pk, sk }: ItemKey): Item | undefined => found.get(`${pk} ${sk}`);
  return ids.flatMap((id) => {
    const item = itemOf(keys.creation(id));
    return item ? [withLease(creationFromItem(item), itemOf(keys.lease(id)))] : [];
  });
}

/** The records of creations, and the lease under which an execution works on a creation. */
export type LeaseOutcome =
  /** `turn` is higher than that of every earlier lease of the creation. */
  | { readonly kind: 'leased'; readonly creation: CreationRecord; readonly turn: number }
  | { readonly kind: 'terminal' }
  | { readonly kind: 'leased_by_another' }
  | { readonly kind: 'absent' };

export interface CreationQuery {
  readonly limit: number;
  /** The page begins after this creation. */
  readonly before?: CreationId;
  readonly status?: CreationStatus;
  readonly model?: string;
  readonly user?: string;
  readonly keyId?: KeyId;
  /** The UTC day of the acceptance, "2026-11-21". */
  readonly day?: string;
}

export interface CreationPage {
  readonly creations: readonly CreationRecord[];
  /** The creation after which the next page begins. Absent on the last. A page with a filter may be short. */
  readonly next?: CreationId;
}

export type CreationReads = ReturnType<typeof createCreationReads>;

export interface Completion {
  readonly results: readonly StoredImage[];
  readonly resultsExpireAt: number;
  readonly attempts: readonly RouteAttempt[];
  readonly nowMillis: number;
}
