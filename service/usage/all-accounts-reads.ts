/** Reads over all accounts, for the operator's pages. */
import { accountFromItem, ledgerRowFromItem } from '../accounts/account-items.ts';
import type { Account } from '../accounts/account.ts';
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { getItem, queryPage } from '../aws/dynamodb/send.ts';
import {
  type Item,
  keys,
  listingIndex,
  openShards,
  openWorkIndex,
  type Table,
} from '../aws/dynamodb/table.ts';
import { firstIdOf } from '../creations/creation-reads.ts';
import { creationFromItem, listedIdOf } from '../creations/creation-items.ts';
import type { CreationRecord } from '../creations/creation.ts';
import {
  type AccountId,
  type CreationId,
  type NoticeId,
  parseAccountId,
  parseCreationId,
  parseNoticeId,
} from '../values/ids.ts';
import { readBookedRows } from './booked-row-reads.ts';
import { moneyInKinds } from './money-in.ts';
import type { BookedRow, Days } from './booked-row.ts';

const accountsAtOnce = 8;

/** Every function throws Overloaded when the table stayed busy. */
export function createOperatedReads(table: Table) {
  return {
    /** The oldest first. @param after of the page before */
    accounts: (limit: number, after?: string): Promise<AccountPage> => accountPage(table, limit, after),
    /** Those of the oldest accounts, in one read of the index. */
    accountIds: async (limit: number): Promise<readonly AccountId[]> =>
      (await accountRows(table, limit, undefined)).flatMap(
        (row) => parseAccountId(String(row['pk']).replace('ACCOUNT#', '')) ?? [],
      ),
    accountsOf: async (ids: readonly AccountId[]): Promise<readonly Account[]> =>
      (
        await batchGet(
          table,
          [...new Set(ids)].map((id) => keys.account(id)),
        )
      ).map(accountFromItem),
    /** The creations and notices whose webhook waits: the longest wait first, up to a limit. */
    waitingWebhooks: (most: number): Promise<readonly (CreationId | NoticeId)[]> =>
      waitingWebhooks(table, most),
    /** The account to which the operator gave this name (external_id). */
    namedOutside: async (name: string): Promise<AccountId | undefined> => {
      const item = await getItem(table, { pk: `EXTERNAL#${name}`, sk: 'EXTERNAL' });
      return item && parseAccountId(String(item['account']));
    },
    /** The id of the request that made a creation, from the row of its charge. */
    requestOf: async ({ id, accountId, createdAt }: CreationRecord): Promise<string | undefined> => {
      const row = await getItem(table, keys.ledger(accountId, createdAt, 'charge', id));
      return row && ledgerRowFromItem(row).requestId;
    },
    /** The ids of open creations, with a limit for each shard. */
    openCreations: (mostOfShard: number): Promise<OpenIds> => openIds(table, mostOfShard),
    /** Of those that were accepted since this time, RFC 3339. */
    newestCreations: async (
      accounts: readonly AccountId[],
      most: number,
      since: string,
    ): Promise<readonly CreationRecord[]> => {
      const found: CreationId[] = [];
      for (let start = 0; start < accounts.length; start += accountsAtOnce) {
        const some = accounts.slice(start, start + accountsAtOnce);
        found.push(...(await Promise.all(some.map((id) => newestIds(table, id, most, since)))).flat());
      }
      const newest = found.sort().reverse().slice(0, most);
      const items = await batchGet(
        table,
        newest.map((id) => keys.creation(id)),
      );
      return items.map(creationFromItem).sort((a, b) => (a.id < b.id ? 1 : -1));
    },
    bookedRows: (account: AccountId, days: Days): AsyncIterable<readonly BookedRow[]> =>
      readBookedRows(table, account, days, moneyInKinds),
  };
}

/** The index has keys only, and may lag behind the table for a moment. */
async function accountRows(table: Table, limit: number, after: string | undefined): Promise<readonly Item[]> {
  const behind = after === undefined ? '' : ` AND ${listingIndex.sort} > :after`;
  const page = await queryPage(table, {
    IndexName: listingIndex.name,
    KeyConditionExpression: `${listingIndex.partition} = :accounts${behind}`,
    ExpressionAttributeValues: {
      ':accounts': 'ACCOUNTS',
      ...(after !== undefined && { ':after': after }),
    },
    Limit: limit,
  });
  return page.Items ?? [];
}

async function accountPage(table: Table, limit: number, after: string | undefined): Promise<AccountPage> {
  // The one additional row shows whether there are more.
  const rows = await accountRows(table, limit + 1, after);
  const shown = rows.slice(0, limit);
  const items = await batchGet(
    table,
    shown.map((row) => ({ pk: String(row['pk']), sk: String(row['sk']) })),
  );
  const accounts = items.map(accountFromItem);
  const last: unknown = shown.at(-1)?.[listingIndex.sort];
  return {
    accounts: accounts.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)),
    ...(rows.length > limit && typeof last === 'string' && { after: last }),
  };
}

function placeOf({ createdAt, id }: AccountPage['accounts'][number]): string {
  return `${createdAt}#${id}`;
}

async function newestIds(
  table: Table,
  account: AccountId,
  most: number,
  since: string,
): Promise<CreationId[]> {
  const page = await queryPage(table, {
    IndexName: listingIndex.name,
    KeyConditionExpression: `${listingIndex.partition} = :list AND ${listingIndex.sort} >= :since`,
    ExpressionAttributeValues: { ':list': `CREATIONS#${account}`, ':since': firstIdOf(since) },
    ScanIndexForward: false,
    Limit: most,
  });
  return (page.Items ?? []).map(listedIdOf);
}

async function waitingWebhooks(table: Table, most: number): Promise<(CreationId | NoticeId)[]> {
  const shards = await Promise.all(
    openShards('WEBHOOK').map(async (shard) =>
      queryPage(table, {
        IndexName: openWorkIndex.name,
        KeyConditionExpression: `${openWorkIndex.partition} = :shard`,
        ExpressionAttributeValues: { ':shard': shard },
        Limit: most,
      }),
    ),
  );
  const rows = shards.flatMap((page) => page.Items ?? []);
  return rows
    .sort((a, b) => Number(a[openWorkIndex.sort]) - Number(b[openWorkIndex.sort]))
    .slice(0, most)
    .flatMap((row) => {
      const id = String(row['pk']).split('#')[1] ?? '';
      return parseNoticeId(id) ?? parseCreationId(id) ?? [];
    });
}

async function openIds(table: Table, mostOfShard: number): Promise<OpenIds> {
  const pages = await Promise.all(
    openShards('OPEN').map(async (shard) =>
      queryPage(table, {
        IndexName: openWorkIndex.name,
        KeyConditionExpression: `${openWorkIndex.partition} = :shard`,
        ExpressionAttributeValues: { ':shard': shard },
        Limit: mostOfShard,
      }),
    ),
  );
  const rows = pages.flatMap((page) => page.Items ?? []);
  return {
    ids: rows.flatMap((row) => parseCreationId(String(row['pk']).split('#')[1] ?? '') ?? []),
    hasAll: pages.every((page) => page.LastEvaluatedKey === undefined),
  };
}

interface OpenIds {
  readonly ids: readonly CreationId[];
  readonly hasAll: boolean;
}

interface AccountPage {
  readonly accounts: readonly Account[];
  /** The account after which the next page begins. Absent on the last page. */
  readonly after?: string;
}
