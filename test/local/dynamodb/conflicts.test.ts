import { describe, expect, it } from 'vitest';
import {
  createSimulatedTable,
  type Input,
  type SimulatedTable,
} from '../../simulation/aws/simulated-table.ts';
import { AwsError } from '../../local/aws/aws-error.ts';

const now = Date.UTC(2026, 10, 21);
const keyOf = (name: string): { pk: { S: string }; sk: { S: string } } => ({
  pk: { S: name },
  sk: { S: 'ITEM' },
});
const itemOf = (name: string, amount: number): object => ({ ...keyOf(name), amount: { N: String(amount) } });

/** A table with the items A, B and C. Each has the amount 1. */
function aTable(): SimulatedTable {
  const table = createSimulatedTable({ now: () => now });
  for (const name of ['A', 'B', 'C']) table.perform('PutItem', { Item: itemOf(name, 1) });
  return table;
}

/** A transaction that adds 1 to each of the named items. */
function adding(names: readonly string[], token?: string): Input {
  const update = (name: string): object => ({
    Update: {
      Key: keyOf(name),
      UpdateExpression: 'ADD amount :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    },
  });
  return { TransactItems: names.map(update), ...(token !== undefined && { ClientRequestToken: token }) };
}

function refusalOf(work: () => unknown): { code: string; reasons: unknown } {
  try {
    work();
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    const reasons = error.fields['CancellationReasons'] as readonly { Code: string }[] | undefined;
    return { code: error.code, reasons: reasons?.map(({ Code }) => Code) };
  }
  return { code: 'none', reasons: undefined };
}

const amountOf = (table: SimulatedTable, name: string): string | undefined =>
  table.get(name, 'ITEM')?.['amount']?.N;

describe('A transaction in flight at the table of the simulation', () => {
  const singleWrites: readonly [operation: string, input: Input][] = [
    ['PutItem', { Item: itemOf('A', 9) }],
    [
      'UpdateItem',
      {
        Key: keyOf('A'),
        UpdateExpression: 'SET amount = :n',
        ExpressionAttributeValues: { ':n': { N: '9' } },
      },
    ],
    ['DeleteItem', { Key: keyOf('A') }],
  ];
  it.each(singleWrites)(
    'The table refuses a %s on an item that the transaction holds, and the item stays as it was',
    (operation, input) => {
      const table = aTable();
      const end = table.begin(adding(['A', 'B']));
      expect(refusalOf(() => table.perform(operation, input)).code).toBe('TransactionConflictException');
      end();
      expect(amountOf(table, 'A')).toBe('2');
      expect(refusalOf(() => table.perform(operation, input)).code).toBe('none');
    },
  );

  it('Single writes on other items succeed', () => {
    const table = aTable();
    table.begin(adding(['A', 'B']));
    table.perform('PutItem', { Item: itemOf('C', 7) });
    expect(amountOf(table, 'C')).toBe('7');
  });

  it('Another transaction is cancelled: TransactionConflict for each held item, None for the others', () => {
    const table = aTable();
    const end = table.begin(adding(['B', 'C']));
    expect(refusalOf(() => table.begin(adding(['A', 'B', 'C'])))).toEqual({
      code: 'TransactionCanceledException',
      reasons: ['None', 'TransactionConflict', 'TransactionConflict'],
    });
    end();
    // The cancelled transaction holds no item.
    table.begin(adding(['A', 'B', 'C']))();
    expect(['A', 'B', 'C'].map((name) => amountOf(table, name))).toEqual(['2', '3', '3']);
  });

  it('Consistent reads see every item unchanged before the commit and changed after the commit', () => {
    const table = aTable();
    const read = (): unknown => {
      const single = table.perform('GetItem', { Key: keyOf('A'), ConsistentRead: true });
      const batch = table.perform('BatchGetItem', {
        RequestItems: { table: { Keys: [keyOf('A'), keyOf('B')], ConsistentRead: true } },
      });
      return { single, batch };
    };
    const before = read();
    const end = table.begin(adding(['A', 'B']));
    expect(read()).toEqual(before);
    end();
    expect(read()).toEqual({
      single: { Item: itemOf('A', 2) },
      batch: { Responses: { table: [itemOf('A', 2), itemOf('B', 2)] }, UnprocessedKeys: {} },
    });
  });

  it('A repeated token is refused during the transaction and succeeds after its commit', () => {
    const table = aTable();
    const end = table.begin(adding(['A'], 'token'));
    expect(refusalOf(() => table.begin(adding(['A'], 'token'))).code).toBe('TransactionInProgressException');
    expect(refusalOf(() => table.begin(adding(['B'], 'token'))).code).toBe(
      'IdempotentParameterMismatchException',
    );
    end();
    expect(table.begin(adding(['A'], 'token'))()).toEqual({});
    expect(amountOf(table, 'A')).toBe('2');
  });

  it('A transaction releases its items when a condition cancels it', () => {
    const table = aTable();
    const refused = { Update: { ...keyed('A'), ConditionExpression: 'attribute_not_exists(pk)' } };
    const end = table.begin({ TransactItems: [refused] });
    expect(refusalOf(() => table.perform('PutItem', { Item: itemOf('A', 5) })).code).toBe(
      'TransactionConflictException',
    );
    expect(refusalOf(end)).toEqual({
      code: 'TransactionCanceledException',
      reasons: ['ConditionalCheckFailed'],
    });
    table.perform('PutItem', { Item: itemOf('A', 5) });
    expect(amountOf(table, 'A')).toBe('5');
  });

  it('A transaction also holds the items of its condition checks', () => {
    const table = aTable();
    table.begin({
      TransactItems: [{ ConditionCheck: { Key: keyOf('A'), ConditionExpression: 'attribute_exists(pk)' } }],
    });
    expect(refusalOf(() => table.perform('PutItem', { Item: itemOf('A', 5) })).code).toBe(
      'TransactionConflictException',
    );
  });
});

function keyed(name: string): object {
  return {
    Key: keyOf(name),
    UpdateExpression: 'ADD amount :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  };
}
