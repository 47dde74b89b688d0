/**
 * Conflicts of transactions, as DynamoDB's documentation states them. Each test names its sentence.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
 */
import { describe, expect, it } from 'vitest';
import type { Input, TableEngine } from '../../../local/dynamodb/engine.ts';
import { adding, itemOf, keyOf, mainTable, refusalOf, startEngine, startMillis } from './engine-fixture.ts';

const TableName = mainTable;

/** An engine with the items A, B and C. Each has the amount 1. */
function withItems(): TableEngine {
  const { engine } = startEngine();
  for (const name of ['A', 'B', 'C']) engine.perform('PutItem', { TableName, Item: itemOf(name, 1) });
  return engine;
}

/** A transaction that adds 1 to each of the named items. */
function transaction(names: readonly string[], token?: string): Input {
  return {
    TransactItems: names.map((name) => ({ Update: adding(name) })),
    ...(token !== undefined && { ClientRequestToken: token }),
  };
}

const amountOf = (engine: TableEngine, name: string): string | undefined =>
  engine.get(TableName, keyOf(name))?.['amount']?.N;

describe('A transaction in flight', () => {
  const singleWrites: readonly [operation: string, input: Input][] = [
    ['PutItem', { TableName, Item: itemOf('A', 9) }],
    ['UpdateItem', adding('A')],
    ['DeleteItem', { TableName, Key: keyOf('A') }],
  ];
  // "When a PutItem, UpdateItem, or DeleteItem request is rejected, the request fails with a
  // TransactionConflictException." (Transaction conflict handling)
  it.each(singleWrites)(
    'The engine refuses a %s on an item that the transaction holds, and the item stays as it was',
    (operation, input) => {
      const engine = withItems();
      const end = engine.begin(transaction(['A', 'B']));
      expect(refusalOf(() => engine.perform(operation, input)).code).toBe('TransactionConflictException');
      expect(amountOf(engine, 'A')).toBe('1');
      end();
      expect(amountOf(engine, 'A')).toBe('2');
      expect(refusalOf(() => engine.perform(operation, input)).code).toBe('none');
    },
  );

  it('A held item refuses a write before its condition is checked', () => {
    const engine = withItems();
    engine.begin(transaction(['A']));
    const failing = { ...adding('A'), ConditionExpression: 'attribute_not_exists(pk)' };
    expect(refusalOf(() => engine.perform('UpdateItem', failing)).code).toBe('TransactionConflictException');
  });

  it('Single writes on other items succeed', () => {
    const engine = withItems();
    engine.begin(transaction(['A', 'B']));
    engine.perform('PutItem', { TableName, Item: itemOf('C', 7) });
    expect(amountOf(engine, 'C')).toBe('7');
  });

  // "If any item-level request within TransactWriteItems or TransactGetItems is rejected, the request fails
  // with a TransactionCanceledException." CancellationReasons are "ordered according to the list of items".
  it('Another transaction is cancelled: TransactionConflict for each held item, None for the others', () => {
    const engine = withItems();
    const end = engine.begin(transaction(['B', 'C']));
    expect(refusalOf(() => engine.begin(transaction(['A', 'B', 'C'])))).toEqual({
      code: 'TransactionCanceledException',
      reasons: ['None', 'TransactionConflict', 'TransactionConflict'],
    });
    end();
    // The cancelled transaction holds no item.
    engine.begin(transaction(['A', 'B', 'C']))();
    expect(['A', 'B', 'C'].map((name) => amountOf(engine, name))).toEqual(['2', '3', '3']);
  });

  // "An item within a TransactGetItems request is part of an ongoing TransactWriteItems … request."
  it('A TransactGetItems on a held item is cancelled, and succeeds after the commit', () => {
    const engine = withItems();
    const gets = { TransactItems: ['C', 'A'].map((name) => ({ Get: { TableName, Key: keyOf(name) } })) };
    const end = engine.begin(transaction(['A', 'B']));
    expect(refusalOf(() => engine.perform('TransactGetItems', gets))).toEqual({
      code: 'TransactionCanceledException',
      reasons: ['None', 'TransactionConflict'],
    });
    end();
    expect(engine.perform('TransactGetItems', gets)).toEqual({
      Responses: [{ Item: itemOf('C', 1) }, { Item: itemOf('A', 2) }],
    });
  });

  // "If an ongoing TransactWriteItems or TransactGetItems operation conflicts with a concurrent GetItem
  // request, both operations can succeed." Reads are read-committed or serializable, so they see the state
  // before.
  it('Reads see every item unchanged before the commit and changed after the commit', () => {
    const engine = withItems();
    const read = (): unknown => ({
      single: engine.perform('GetItem', { TableName, Key: keyOf('A'), ConsistentRead: true }),
      batch: engine.perform('BatchGetItem', {
        RequestItems: { [TableName]: { Keys: [keyOf('A'), keyOf('B')], ConsistentRead: true } },
      }),
      query: engine.perform('Query', {
        TableName,
        KeyConditionExpression: 'pk = :a',
        ExpressionAttributeValues: { ':a': { S: 'A' } },
      }),
      scan: engine.perform('Scan', { TableName, Select: 'COUNT' }),
    });
    const before = read();
    const end = engine.begin(transaction(['A', 'B', 'D']));
    expect(read()).toEqual(before);
    end();
    expect(read()).toEqual({
      single: { Item: itemOf('A', 2) },
      batch: { Responses: { [TableName]: [itemOf('A', 2), itemOf('B', 2)] }, UnprocessedKeys: {} },
      query: { Items: [itemOf('A', 2)], Count: 1, ScannedCount: 1 },
      scan: { Count: 4, ScannedCount: 4 },
    });
  });

  // BatchWriteItem has no TransactionConflictException among its errors. "If any requested operations fail …
  // the failed operations are returned in the UnprocessedItems response parameter."
  // https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
  it('A BatchWriteItem writes the other items and returns the held item as unprocessed', () => {
    const engine = withItems();
    const end = engine.begin(transaction(['A']));
    const held = { PutRequest: { Item: itemOf('A', 9) } };
    const batch = { RequestItems: { [TableName]: [held, { DeleteRequest: { Key: keyOf('C') } }] } };
    expect(engine.perform('BatchWriteItem', batch)).toEqual({ UnprocessedItems: { [TableName]: [held] } });
    expect([amountOf(engine, 'A'), amountOf(engine, 'C')]).toEqual(['1', undefined]);
    end();
    expect(engine.perform('BatchWriteItem', batch)).toEqual({ UnprocessedItems: {} });
    expect(amountOf(engine, 'A')).toBe('9');
  });

  // TransactionInProgressException: "The transaction with the given request token is already in progress."
  // https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
  it('A repeated token is refused during the transaction and succeeds after its commit', () => {
    const engine = withItems();
    const end = engine.begin(transaction(['A'], 'token'));
    expect(refusalOf(() => engine.begin(transaction(['A'], 'token'))).code).toBe(
      'TransactionInProgressException',
    );
    expect(refusalOf(() => engine.begin(transaction(['B'], 'token'))).code).toBe(
      'IdempotentParameterMismatchException',
    );
    end();
    expect(engine.begin(transaction(['A'], 'token'))()).toEqual({});
    expect(amountOf(engine, 'A')).toBe('2');
  });

  it('A transaction releases its items and its token when a condition cancels it', () => {
    const engine = withItems();
    const refused = { Update: { ...adding('A'), ConditionExpression: 'attribute_not_exists(pk)' } };
    const request = { TransactItems: [refused], ClientRequestToken: 'token' };
    const end = engine.begin(request);
    expect(refusalOf(end)).toEqual({
      code: 'TransactionCanceledException',
      reasons: ['ConditionalCheckFailed'],
    });
    engine.perform('PutItem', { TableName, Item: itemOf('A', 5) });
    expect(amountOf(engine, 'A')).toBe('5');
    expect(refusalOf(engine.begin(request)).reasons).toEqual(['ConditionalCheckFailed']);
  });

  it('A transaction also holds the items of its condition checks', () => {
    const engine = withItems();
    const check = { TableName, Key: keyOf('A'), ConditionExpression: 'attribute_exists(pk)' };
    engine.begin({ TransactItems: [{ ConditionCheck: check }] });
    expect(refusalOf(() => engine.perform('UpdateItem', adding('A'))).code).toBe(
      'TransactionConflictException',
    );
  });

  it('An item past its time to live stays while a transaction holds it', () => {
    const { engine, clock } = startEngine();
    engine.perform('UpdateTimeToLive', {
      TableName,
      TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
    });
    const Item = { ...itemOf('A', 1), until: { N: String(startMillis / 1000) } };
    engine.perform('PutItem', { TableName, Item });
    const end = engine.begin(transaction(['A']));
    expect(engine.expire()).toBe(0);
    end();
    clock.nowMillis += 1;
    expect(engine.expire()).toBe(1);
    expect(amountOf(engine, 'A')).toBeUndefined();
  });
});
