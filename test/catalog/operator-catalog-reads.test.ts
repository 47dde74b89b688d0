import { describe, expect, it } from 'vitest';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { createSimulatedTable, tableName } from '../../lab/simulation/aws/simulated-table.ts';
import { AwsError } from '../../local/aws/aws-error.ts';
import { createRequestStore } from '../../service/api/request-store.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import {
  bytesOf,
  createOperatorCatalogStore,
  mostCatalogBytes,
  readOperatorCatalogInBatch,
} from '../../service/catalog/operator-catalog-store.ts';
import { NewerCatalog, type OperatorCatalog } from '../../service/catalog/operator-catalog.ts';
import { createProviderStore } from '../../service/catalog/provider-store.ts';
import { createPortalReads } from '../../service/portal/portal-reads.ts';
import { Overloaded } from '../../service/values/errors.ts';
import type { KeyId } from '../../service/values/ids.ts';
import { fakeClock } from '../api/fakes.ts';
import { accountId, now, seededBytes } from '../fixtures/records.ts';

/** `around` may fail a transaction, or lose its answer. */
function open() {
  const memory = createSimulatedTable({ now: () => now });
  const calls = { around: (_operation: string, run: () => object): object => run() };
  const client = createDirectClient((operation, input) =>
    calls.around(operation, () => memory.perform(operation, input)),
  );
  const table: Table = { client, name: tableName, clock: fakeClock(), randomBytes: seededBytes };
  return { memory, calls, table, store: createOperatorCatalogStore(table) };
}

const first: OperatorCatalog = {
  revision: '1-a',
  providers: [],
  models: { 'sandbox-pro': null, own: { name: 'Ünïcode', seed: null } },
  costs: [],
};
const second = { ...first, revision: '2-b', models: {} };

describe('The operator’s catalog in the table', () => {
  it('is read as it was stored, in both ways of reading', async () => {
    const { table, store } = open();
    expect(await store.read()).toBeUndefined();
    expect(await store.store(first, undefined)).toBe(true);
    expect(await store.read()).toEqual(first);
    expect(await readOperatorCatalogInBatch(table)).toEqual(first);
  });

  it('has its revision in the service item, beside the enabled providers, for requests and for the portal', async () => {
    const { table, store } = open();
    await createProviderStore(table).enable('gpu');
    await store.store(first, undefined);
    await store.store(second, '1-a');
    const question = {
      clientAddress: '203.0.113.9',
      key: { accountId, keyId: 'key' as KeyId },
      rate: 'post',
      nowMillis: now,
    } as const;
    expect(await store.revision()).toBe('2-b');
    const read = { catalogRevision: '2-b', enabledProviders: ['gpu'] };
    expect(await createRequestStore(table).read(question)).toMatchObject(read);
    expect(await createPortalReads(table).service()).toMatchObject(read);
  });

  it('is not stored over a change that the operator has not seen', async () => {
    const { store } = open();
    await store.store(first, undefined);
    const other = { ...second, revision: '2-c' };
    expect(await store.store(second, '1-a')).toBe(true);
    expect(await store.store(other, '1-a')).toBe(false);
    expect(await store.store(other, undefined)).toBe(false);
    expect(await store.read()).toEqual(second);
  });

  it('is stored once when the answer to the first try was lost', async () => {
    const { calls, store } = open();
    let isLost = false;
    calls.around = (operation, run) => {
      const answer = run();
      if (operation !== 'TransactWriteItems' || isLost) return answer;
      isLost = true;
      throw new AwsError('TransactionCanceledException', 'lost', {
        fields: { CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }] },
      });
    };
    expect(await store.store(first, undefined)).toBe(true);
    expect(await store.read()).toEqual(first);
  });

  it('is refused while the table is busy, and says so', async () => {
    const { calls, store } = open();
    calls.around = () => {
      throw new AwsError('TransactionCanceledException', 'busy', {
        fields: { CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }] },
      });
    };
    await expect(store.store(first, undefined)).rejects.toThrow(Overloaded);
  });

  it('is not understood when a newer release has stored it', async () => {
    const { memory, store } = open();
    await store.store(first, undefined);
    memory.perform('UpdateItem', {
      TableName: tableName,
      Key: { pk: { S: 'OPERATOR_CATALOG' }, sk: { S: 'OPERATOR_CATALOG' } },
      UpdateExpression: 'SET v = :v',
      ExpressionAttributeValues: { ':v': { N: '2' } },
    });
    await expect(store.read()).rejects.toThrow(NewerCatalog);
  });

  it('is as large as its texts in UTF-8, and one item holds the largest', async () => {
    const { store } = open();
    expect(bytesOf({ providers: [], models: { é: null }, costs: [] })).toBe(2 + 11 + 2);
    const name = 'x'.repeat(mostCatalogBytes - bytesOf({ ...first, models: { own: { name: '' } } }));
    const largest = { ...first, models: { own: { name } } };
    expect(bytesOf(largest)).toBe(mostCatalogBytes);
    expect(await store.store(largest, undefined)).toBe(true);
  });
});
