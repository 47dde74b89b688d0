/** Reads the books of accounts for the audit, page by page. Nothing is written. */
import { apiKeyFromItem, userCounterFromItem } from '../accounts/account-items.ts';
import type { UserCounter } from '../accounts/account.ts';
import { batchGetAtOnce } from '../aws/dynamodb/batch-get.ts';
import { queryAll, queryPages } from '../aws/dynamodb/query.ts';
import { getItem, type QueryParts } from '../aws/dynamodb/send.ts';
import { type Item, keys, listingIndex, type Table } from '../aws/dynamodb/table.ts';
import { listedIdOf } from '../creations/creation-items.ts';
import { type AccountId, type CreationId, timeOfUuidV7 } from '../values/ids.ts';
import { asMicros } from '../values/money.ts';
import type { AuditedCreation, AuditedRow, PlacedRow, StoredSums } from './books.ts';

/** A page of 1 MB has some thousand rows. Smaller pages keep the memory small while many accounts are read. */
const itemsAtOnce = 1_000;
/** Without the prompt, the metadata and the results, which can be long. */
const creationAttributes = [
  'id',
  'status',
  'costMicros',
  'refundedMicros',
  'dueAt',
  'createdAt',
] as const satisfies readonly (keyof AuditedCreation)[];
const rowAttributes = [
  'kind',
  'amountMicros',
  'at',
  'creationId',
  'keyId',
  'month',
  'day',
  'countedForUser',
  'user',
] as const satisfies readonly (keyof AuditedRow)[];
const rowProjection = {
  ProjectionExpression: ['sk', ...rowAttributes.map((_, place) => `#r${place}`)].join(', '),
  ExpressionAttributeNames: Object.fromEntries(rowAttributes.map((name, place) => [`#r${place}`, name])),
};
const ledgerStart = 'LEDGER#';
/** "$" follows "#". */
const ledgerEnd = 'LEDGER$';
const accountStart = 'ACCOUNT#';

export function createBooksReader(table: Table) {
  return {
    accounts: (after?: string): AsyncIterable<readonly ListedAccount[]> => accountPages(table, after),
    /**
     * The rows of the ledger from this position on, the oldest first, some hundred at once.
     * @param settledMillis rows before this time no longer change, so their reads are not consistent
     */
    ledger: async function* (
      account: AccountId,
      from = ledgerStart,
      settledMillis = 0,
    ): AsyncGenerator<readonly PlacedRow[]> {
      const settled = settledMillis > 0 ? placeOf(settledMillis) : '';
      const query = (range: readonly [from: string, to: string], ConsistentRead: boolean): QueryParts => ({
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': keys.account(account).pk },
        range: { sort: 'sk', from: range[0], to: range[1] },
        ConsistentRead,
        ...rowProjection,
      });
      const parts = [
        ...(from < settled ? [query([from, settled], false)] : []),
        query([from < settled ? settled : from, ledgerEnd], true),
      ];
      for (const part of parts)
        for await (const page of pagesOf(table, part))
          yield page.map(({ sk, ...row }) => ({ place: String(sk), row: row as unknown as AuditedRow }));
    },
    /** The creations after this one in the account's list, the oldest first, some hundred at once. */
    listed: async function* (account: AccountId, after?: CreationId): AsyncGenerator<readonly CreationId[]> {
      for await (const page of pagesOf(table, listOf(`CREATIONS#${account}`, after)))
        yield page.map((row): CreationId => listedIdOf(row));
    },
    /** @param settledMillis creations before this time have ended, so their reads are not consistent */
    creations: async (ids: readonly CreationId[], settledMillis = 0): Promise<readonly AuditedCreation[]> => {
      const isSettled = (id: CreationId): boolean => (timeOfUuidV7(id) ?? Infinity) < settledMillis;
      const read = (wanted: readonly CreationId[], isConsistent: boolean): Promise<Item[]> =>
        batchGetAtOnce(
          table,
          wanted.map((id) => keys.creation(id)),
          creationAttributes,
          isConsistent,
        );
      const settled = await read(ids.filter(isSettled), false);
      const others = await read(
        ids.filter((id) => !isSettled(id)),
        true,
      );
      return [...settled, ...others] as unknown as AuditedCreation[];
    },
    /** The stored sums. They are read one after the other. Undefined: there is no such account. */
    sums: async (account: AccountId): Promise<StoredSums | undefined> => {
      const [item, held] = await Promise.all([
        getItem(table, keys.account(account), 'availableMicros, creditLineMicros, inFlight'),
        queryAll(table, keys.account(account).pk, 'KEY#'),
      ]);
      return (
        item && {
          availableMicros: asMicros(Number(item['availableMicros'])),
          creditLineMicros: asMicros(Number(item['creditLineMicros'])),
          inFlight: Number(item['inFlight']),
          keys: held.map(apiKeyFromItem),
        }
      );
    },
    userCounters: async (account: AccountId): Promise<readonly UserCounter[]> =>
      (await queryAll(table, keys.account(account).pk, 'USER#')).map(userCounterFromItem),
    inFlight: async (account: AccountId): Promise<number> =>
      Number((await getItem(table, keys.account(account), 'inFlight'))?.['inFlight']),
    /** The first position of rows of this time (Unix milliseconds). */
    placeOf,
  };
}

function placeOf(millis: number): string {
  return `${ledgerStart}${new Date(millis).toISOString()}`;
}

async function* accountPages(
  table: Table,
  after: string | undefined,
): AsyncGenerator<readonly ListedAccount[]> {
  for await (const page of pagesOf(table, listOf('ACCOUNTS', after)))
    yield page.map((row) => ({
      id: String(row['pk']).slice(accountStart.length) as AccountId,
      place: String(row['listed']),
    }));
}

function listOf(list: string, after: string | undefined): QueryParts {
  return {
    IndexName: listingIndex.name,
    KeyConditionExpression:
      `${listingIndex.partition} = :list` + (after === undefined ? '' : ` AND ${listingIndex.sort} > :after`),
    ExpressionAttributeValues: { ':list': list, ...(after !== undefined && { ':after': after }) },
  };
}

async function* pagesOf(table: Table, query: QueryParts): AsyncGenerator<readonly Item[]> {
  for await (const { Items = [] } of queryPages(table, { ...query, Limit: itemsAtOnce })) yield Items;
}

// Reads the books for the audit, and keeps the progress of a run.

/** An account and its position in the list of all accounts. Positions sort by age. */
export interface ListedAccount {
  readonly id: AccountId;
  readonly place: string;
}

/** Every read is consistent except the two lists, and those of settled rows and creations. Throws Overloaded when the table stayed busy. */
export type BooksReader = ReturnType<typeof createBooksReader>;
