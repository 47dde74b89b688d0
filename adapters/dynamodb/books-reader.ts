/** Reads the books of accounts for the audit, page by page. Nothing is written. */
import type { AuditedCreation, AuditedRow } from '../../core/audit/books.ts';
import type { AccountId, CreationId } from '../../core/ids.ts';
import type { BooksReader, ListedAccount } from '../../core/ports/books.ts';
import { asMicros } from '../../core/money.ts';
import { batchGetAtOnce } from './batch-get.ts';
import { apiKeyFromItem, listedIdOf, userCounterFromItem } from './mapping.ts';
import { queryAll, queryPages } from './query.ts';
import { getItem, type QueryParts } from './send.ts';
import { keys, listingIndex, type Item, type Table } from './table.ts';

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

export function createBooksReader(table: Table): BooksReader {
  return {
    accounts: (after) => accountPages(table, after),
    ledger: async function* (account, from = ledgerStart) {
      const query: QueryParts = {
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': keys.account(account).pk },
        range: { sort: 'sk', from, to: ledgerEnd },
        ...rowProjection,
      };
      for await (const page of pagesOf(table, query))
        yield page.map(({ sk, ...row }) => ({ place: String(sk), row: row as unknown as AuditedRow }));
    },
    listed: async function* (account, after) {
      for await (const page of pagesOf(table, listOf(`CREATIONS#${account}`, after)))
        yield page.map((row): CreationId => listedIdOf(row));
    },
    creations: async (ids) =>
      (await batchGetAtOnce(
        table,
        ids.map((id) => keys.creation(id)),
        creationAttributes,
      )) as unknown as AuditedCreation[],
    sums: async (account) => {
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
    userCounters: async (account) =>
      (await queryAll(table, keys.account(account).pk, 'USER#')).map(userCounterFromItem),
    inFlight: async (account) =>
      Number((await getItem(table, keys.account(account), 'inFlight'))?.['inFlight']),
    placeOf: (millis) => `${ledgerStart}${new Date(millis).toISOString()}`,
  };
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

/** The query for the entries of a list after one of them, the oldest first. */
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
