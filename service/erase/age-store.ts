/** What the erasure by age reads and writes: its progress, the creations of some days, and their records. */
import { batchGetAtOnce } from '../aws/dynamodb/batch-get.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { getItem, putItem } from '../aws/dynamodb/send.ts';
import { type ItemKey, keys, listingIndex, type Table } from '../aws/dynamodb/table.ts';
import { listedIdOf } from '../creations/creation-items.ts';
import { firstIdOf } from '../creations/creation-reads.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { AccountId, CreationId } from '../values/ids.ts';

/** In a partition of its own. Only EraseContent reads and writes the item. */
const progressKey: ItemKey = { pk: 'ERASE', sk: 'BY_AGE' };
const creationsAtOnce = 100;
const attributes = [
  'v',
  'id',
  'accountId',
  'createdAt',
  'completedAt',
  'erasedAt',
  'webhook',
] as const satisfies readonly (keyof CreationRecord)[];

export type AgedCreation = Pick<CreationRecord, (typeof attributes)[number]>;

/** Days of UTC, "2026-11-21". */
export interface AgeProgress {
  /** Every creation that was accepted before this day is erased. */
  readonly doneUntil: string;
  /** The current run erases creations that were accepted before this day. Absent between two runs. */
  readonly until?: string;
  /** The earliest day of a creation that this run could not erase yet. */
  readonly leftFrom?: string;
  /** The run continues after this account of the list. */
  readonly after?: string;
}

export function createAgeStore(table: Table) {
  return {
    read: async (): Promise<AgeProgress> => {
      const { pk, sk, ...progress } = (await getItem(table, progressKey)) ?? {};
      return { doneUntil: '1970-01-01', ...progress };
    },
    save: async (progress: AgeProgress) => {
      await putItem(table, { ...progressKey, ...progress });
    },
    /** The oldest first, with their positions in the list of all accounts. */
    accounts: async function* (after: string | undefined): AsyncGenerator<ListedAccount> {
      const query = {
        IndexName: listingIndex.name,
        KeyConditionExpression:
          `${listingIndex.partition} = :list` +
          (after === undefined ? '' : ` AND ${listingIndex.sort} > :after`),
        ExpressionAttributeValues: { ':list': 'ACCOUNTS', ...(after !== undefined && { ':after': after }) },
      };
      for await (const { Items = [] } of queryPages(table, query))
        for (const row of Items)
          yield { id: String(row['pk']).slice('ACCOUNT#'.length) as AccountId, place: String(row['listed']) };
    },
    /** The creations of an account that were accepted on these days, without the last one. */
    accepted: async function* (
      account: AccountId,
      from: string,
      until: string,
    ): AsyncGenerator<readonly AgedCreation[]> {
      const query = {
        IndexName: listingIndex.name,
        KeyConditionExpression: `${listingIndex.partition} = :list`,
        ExpressionAttributeValues: { ':list': `CREATIONS#${account}` },
        // No id equals this prefix, so the last day is not included.
        range: { sort: listingIndex.sort, from: firstIdOf(from), to: firstIdOf(until) },
        Limit: creationsAtOnce,
      };
      for await (const { Items = [] } of queryPages(table, query)) {
        const ids: readonly CreationId[] = Items.map(listedIdOf);
        yield (await batchGetAtOnce(table, ids.map(keys.creation), attributes)) as unknown as AgedCreation[];
      }
    },
  };
}

interface ListedAccount {
  readonly id: AccountId;
  readonly place: string;
}
