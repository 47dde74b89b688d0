/** Reads what is known of the tries of a call. */
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { getItem, type QueryParts } from '../aws/dynamodb/send.ts';
import type { Item, Table } from '../aws/dynamodb/table.ts';
import { retryMillis } from '../contract/limits.ts';
import type { RetryEntry, RetryHead, RetryPlace, Told, Try } from './retries.ts';
import { entryFromItem, headFromItem, retryKeys, saysTold, seesTry } from './retry-items.ts';

/** The tries of calls, beside what charges write (retry-items.ts). */
export function createRetryStore(table: Table): RetryStore {
  return {
    readHead: async (place) => {
      const item = await getItem(table, retryKeys.head(place));
      return item && headFromItem(item);
    },
    entries: async (place, nowMillis) => {
      const items: Item[] = [];
      for await (const page of queryPages(table, youngEntries(place, nowMillis)))
        items.push(...(page.Items ?? []));
      return items
        .filter(({ expiresAt }) => Number(expiresAt) > nowMillis)
        .map((item) => entryFromItem(item, place));
    },
    attach: ({ place, attempt }, entry, nowMillis) => {
      const token = Buffer.from(table.randomBytes(12)).toString('base64url');
      return updateIf(table, retryKeys.entry(place, entry.id), seesTry(entry, { attempt, nowMillis, token }));
    },
    note: async (place, entry, told) => {
      await updateIf(table, retryKeys.entry(place, entry.id), saysTold(entry, told));
    },
  };
}

/** DynamoDB may keep expired items for two days, so the query begins with the oldest entry that may live. */
function youngEntries(place: RetryPlace, nowMillis: number): QueryParts {
  const oldest = retryKeys.entry(place, String(nowMillis - retryMillis.longest));
  return {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': oldest.pk },
    range: { sort: 'sk', from: oldest.sk, to: retryKeys.entry(place, '~').sk },
    ScanIndexForward: false,
  };
}

/** What is kept of the tries of calls (service/creations/retries.ts). Charges write new entries. */
export interface RetryStore {
  /** Consistent. Undefined: no try of this body has come, or its record has expired. */
  readHead(place: RetryPlace): Promise<RetryHead | undefined>;
  /**
   * The entries that have not expired, newest first. Consistent. The head must be read before them: then an
   * entry that is missing here makes the charge fail that names the head.
   */
  entries(place: RetryPlace, nowMillis: number): Promise<readonly RetryEntry[]>;
  /**
   * Notes that the entry has seen the try. False when another request was faster: with the same number, or with
   * a charge in its place. Then head and entries have to be read again.
   */
  attach(request: Try, entry: RetryEntry, nowMillis: number): Promise<boolean>;
  /** Notes what an answer about the entry has said. Changes nothing when it names other creations by now. */
  note(place: RetryPlace, entry: Pick<RetryEntry, 'id' | 'creationIds'>, told: Told): Promise<void>;
}
