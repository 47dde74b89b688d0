import { retryMillis } from '../../core/limits.ts';
import type { RetryStore } from '../../core/ports/retries.ts';
import type { RetryPlace } from '../../core/retries.ts';
import { updateIf } from './conditional.ts';
import { queryPages } from './query.ts';
import { entryFromItem, headFromItem, retryKeys, saysTold, seesTry } from './retry-items.ts';
import { getItem, type QueryParts } from './send.ts';
import type { Item, Table } from './table.ts';

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
