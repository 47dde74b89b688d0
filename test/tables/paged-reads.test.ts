/** Reads that need more than one call: batches of keys, and the pages of a query. */
import { readdirSync, readFileSync } from 'node:fs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { AwsError } from '../../local/aws/aws-error.ts';
import { accountToItem } from '../../service/accounts/account-items.ts';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import { createBooksReader } from '../../service/audit/books-reads.ts';
import { batchGet } from '../../service/aws/dynamodb/batch-get.ts';
import { queryAll } from '../../service/aws/dynamodb/query.ts';
import { type Item, keys, type Table } from '../../service/aws/dynamodb/table.ts';
import { createOpenWorkStore } from '../../service/creations/open-work-store.ts';
import { readLedgerRows } from '../../service/usage/booked-row-reads.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { fakeClock } from '../api/fakes.ts';
import { collect } from '../fixtures/values.ts';
import { accountId, anAccount, creationId } from '../fixtures/records.ts';
import { type Command, key, tableThat } from './answered-table.ts';

describe('A read of several keys', () => {
  const many = Array.from({ length: 201 }, (_, index) => ({ pk: 'A', sk: String(index) }));
  const sizes = (inputs: readonly Command['input'][]): unknown[] =>
    inputs.map(({ RequestItems }) => (RequestItems as { table: { Keys: unknown[] } }).table.Keys.length);

  it('A read asks for at most 100 keys at once', async () => {
    const { table, inputs } = tableThat({});
    expect(await batchGet(table, many)).toEqual([]);
    expect(sizes(inputs)).toEqual([100, 100, 1]);
  });

  it('A read asks four times for keys that stay unprocessed, with these pauses', async () => {
    const { table, clock, inputs } = tableThat({ UnprocessedKeys: { table: { Keys: [key] } } });
    await expect(batchGet(table, [key])).rejects.toThrow(new Overloaded('the read stayed unprocessed'));
    expect([inputs.length, clock.sleeps]).toEqual([4, [40, 80, 160, 320]]);
  });
});

describe('A query', () => {
  const page = (...numbers: readonly number[]): object => ({
    Items: numbers.map((number) => ({ number })),
    Count: numbers.length,
    LastEvaluatedKey: { pk: 'A', sk: String(numbers.at(-1)) },
  });
  const lastPage = (...numbers: readonly number[]): object => ({
    ...page(...numbers),
    LastEvaluatedKey: undefined,
  });
  const starts = (inputs: readonly Command['input'][]): unknown[] =>
    inputs.map(({ ExclusiveStartKey }) => ExclusiveStartKey);

  it('A query reads page after page, oldest first, until there are no more', async () => {
    const { table, inputs } = tableThat(page(1, 2), page(3), lastPage(4));
    expect(await queryAll(table, 'A', 'KEY#')).toEqual([1, 2, 3, 4].map((number) => ({ number })));
    expect(starts(inputs)).toEqual([undefined, { pk: 'A', sk: '2' }, { pk: 'A', sk: '3' }]);
    expect(inputs.map(({ ScanIndexForward, Limit }) => [ScanIndexForward, Limit])).toEqual([
      [true, undefined],
      [true, undefined],
      [true, undefined],
    ]);
  });

  it('A query with a limit asks each time for the missing items, and stops at the limit', async () => {
    const { table, inputs } = tableThat(page(1, 2), page(3), page(4));
    expect(await queryAll(table, 'A', 'KEY#', true, 3)).toEqual([1, 2, 3].map((number) => ({ number })));
    expect(inputs.map(({ ScanIndexForward, Limit }) => [ScanIndexForward, Limit])).toEqual([
      [false, 3],
      [false, 1],
    ]);
  });

  it('A range that ends before it begins is empty, and DynamoDB is not asked', async () => {
    const { table, inputs } = tableThat(lastPage(1));
    const days = (from: string, to: string) => collect(readLedgerRows(table, accountId, { from, to }));
    expect(await days('2026-11-22', '2026-11-20')).toEqual([[]]);
    expect(inputs).toEqual([]);
    expect(await days('2026-11-21', '2026-11-21')).toHaveLength(1);
    expect(inputs).toMatchObject([{ KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to' }]);
  });

  it('Only queryPage writes a BETWEEN, so that no range escapes its check', () => {
    const folder = new URL('../../service/', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const says = files.filter((file) => /BETWEEN :/.test(readFileSync(new URL(file, folder), 'utf8')));
    expect(says).toEqual(['aws/dynamodb/send.ts']);
  });

  it('The count of open work includes every page of every shard', async () => {
    const { table, inputs } = tableThat(
      {},
      { Count: 5, LastEvaluatedKey: key },
      { Count: 2 },
      { Count: 2 },
      { Count: 2 },
      { Count: 2 },
      {},
    );
    expect(await createOpenWorkStore(table).recordOpenCount()).toBe(5 + 4 * 2);
    expect(inputs).toHaveLength(8);
    expect(starts(inputs).filter((start) => start !== undefined)).toEqual([key]);
    expect(inputs[7]).toMatchObject({ ExpressionAttributeValues: { ':open': 13 } });
  });

  it('The list of accounts reads the accounts of a page together, and leaves out a deleted account', async () => {
    const rows = [keys.account(accountId), key];
    const item: Item = accountToItem(anAccount());
    const { table, inputs } = tableThat(
      { Items: rows, LastEvaluatedKey: key },
      { Responses: { table: [item] } },
      { Items: [keys.account(accountId)] },
      { Responses: { table: [item] } },
    );
    expect(await createAccountStore(table).list()).toEqual([anAccount(), anAccount()]);
    expect(inputs[0]).toEqual({
      TableName: 'table',
      IndexName: 'listing',
      KeyConditionExpression: 'listing = :accounts',
      ExpressionAttributeValues: { ':accounts': 'ACCOUNTS' },
      Limit: 500,
    });
    expect(inputs[2]).toMatchObject({ ExclusiveStartKey: key });
  });

  it('The audit lists the creations of every page, a thousand at once', async () => {
    const { table, inputs } = tableThat(
      { Items: [{ listed: creationId }], LastEvaluatedKey: key },
      { Items: [{ listed: creationId.replace(/a$/, 'b') }] },
    );
    const pages = await collect(createBooksReader(table).listed(accountId));
    expect(pages).toEqual([[creationId], [creationId.replace(/a$/, 'b')]]);
    expect(inputs).toEqual([
      {
        TableName: 'table',
        IndexName: 'listing',
        KeyConditionExpression: 'listing = :list',
        ExpressionAttributeValues: { ':list': `CREATIONS#${accountId}` },
        Limit: 1_000,
      },
      expect.objectContaining({ ExclusiveStartKey: key }),
    ]);
  });
});

describe('A list of hidden models that others keep changing', () => {
  it('The change is tried twenty times with growing pauses, and then the table is busy', async () => {
    let writes = 0;
    const client = createDirectClient((operation) => {
      if (operation === 'GetItem')
        return { Item: marshall(accountToItem(anAccount()), { removeUndefinedValues: true }) };
      writes += 1;
      throw new AwsError('ConditionalCheckFailedException', 'simulated');
    });
    const clock = fakeClock();
    const table: Table = { client, name: 'table', clock, randomBytes: (count) => new Uint8Array(count) };
    const changing = createAccountStore(table).changeHiddenModels(accountId, {
      hide: ['sandbox-pro'],
      show: [],
    });
    await expect(changing).rejects.toBeInstanceOf(Overloaded);
    expect(writes).toBe(20);
    expect(clock.sleeps).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});
