/**
 * A page of an account's creations. The listing index holds only ids, so a filter must read the records. One
 * call reads a limited number of records and returns where the next page begins.
 */
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
  const isFiltered = [query.status, query.model, query.user].some((wanted) => wanted !== undefined);
  const found: CreationRecord[] = [];
  let before = query.before;
  for (let read = 0; read < mostRead;) {
    const { ids, goesOn } = await idsBehind(table, accountId, before, isFiltered ? readAtOnce : query.limit);
    for (const creation of await recordsOf(table, ids)) {
      if (!isWanted(creation, query)) continue;
      // Only a further matching creation proves that the next page is not empty.
      if (found.length === query.limit) return pageUntil(found, found.at(-1)?.id);
      found.push(creation);
    }
    before = ids.at(-1);
    read += ids.length;
    if (!goesOn) return { creations: found };
    if (found.length === query.limit) break;
  }
  return pageUntil(found, before);
}

function pageUntil(creations: readonly CreationRecord[], next: CreationId | undefined): CreationPage {
  return { creations, ...(next !== undefined && { next }) };
}

function isWanted(creation: CreationRecord, { status, model, user }: CreationQuery): boolean {
  return (
    (status === undefined || creation.status === status) &&
    (model === undefined || creation.model === model) &&
    (user === undefined || creation.user === user)
  );
}

interface Ids {
  /** The newest first. */
  readonly ids: readonly CreationId[];
  /** Whether the index holds older creations than these. */
  readonly goesOn: boolean;
}

/** Reads ids from the index, which may lag behind the table for a moment. */
async function idsBehind(
  table: Table,
  accountId: AccountId,
  before: CreationId | undefined,
  count: number,
): Promise<Ids> {
  const behind = before === undefined ? '' : ` AND ${listingIndex.sort} < :before`;
  const page = await queryPage(table, {
    IndexName: listingIndex.name,
    KeyConditionExpression: `${listingIndex.partition} = :list${behind}`,
    ExpressionAttributeValues: {
      ':list': `CREATIONS#${accountId}`,
      ...(before !== undefined && { ':before': before }),
    },
    ScanIndexForward: false,
    // The one additional row shows whether there are more.
    Limit: count + 1,
  });
  const ids = (page.Items ?? []).map(listedIdOf);
  return { ids: ids.slice(0, count), goesOn: ids.length > count };
}

/** Reads the records consistently, the newest first. */
async function recordsOf(table: Table, ids: readonly CreationId[]): Promise<CreationRecord[]> {
  const items = await batchGet(table, ids.map(keys.creation));
  return items.map(creationFromItem).sort((a, b) => (a.id < b.id ? 1 : -1));
}
