/**
 * A page of an account's creations. The listing index knows ids alone, so a filter has to
 * read the records: a call reads a bounded number of them and says where to go on.
 */
import type { CreationRecord } from '../../core/creation.ts';
import type { AccountId, CreationId } from '../../core/ids.ts';
import type { CreationPage, CreationQuery } from '../../core/ports/creations.ts';
import { batchGet } from './batch-get.ts';
import { creationFromItem } from './mapping.ts';
import { queryPage } from './send.ts';
import { keys, listingIndex, type Item, type Table } from './table.ts';

/** Records that a filter looks at together. */
const readAtOnce = 100;
/** Records that one call reads at most: five reads, well within the time of a request. */
const mostRead = 500;

export async function pageOfCreations(
  table: Table,
  accountId: AccountId,
  query: CreationQuery,
): Promise<CreationPage> {
  const isFiltered = query.status !== undefined || query.model !== undefined;
  const found: CreationRecord[] = [];
  let before = query.before;
  for (let read = 0; read < mostRead;) {
    const { ids, goesOn } = await idsBehind(table, accountId, before, isFiltered ? readAtOnce : query.limit);
    for (const creation of await recordsOf(table, ids)) {
      if (!isWanted(creation, query)) continue;
      // Only one more that is wanted proves that the page behind this one is not empty.
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

function isWanted(creation: CreationRecord, { status, model }: CreationQuery): boolean {
  return (
    (status === undefined || creation.status === status) && (model === undefined || creation.model === model)
  );
}

interface Ids {
  /** The newest first. */
  readonly ids: readonly CreationId[];
  /** Whether the index has more behind them. */
  readonly goesOn: boolean;
}

/** From the index, which may lag by a moment. */
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
    // One more than asked for tells whether there are more.
    Limit: count + 1,
  });
  const ids = (page.Items ?? []).map((item: Item) => String(item['listed']) as CreationId);
  return { ids: ids.slice(0, count), goesOn: ids.length > count };
}

/** The records themselves are read consistently. */
async function recordsOf(table: Table, ids: readonly CreationId[]): Promise<CreationRecord[]> {
  const items = await batchGet(table, ids.map(keys.creation));
  return items.map(creationFromItem).sort((a, b) => (a.id < b.id ? 1 : -1));
}
