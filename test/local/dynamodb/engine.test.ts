import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTableEngine } from '../../../local/dynamodb/engine.ts';
import { add, compareNumbers, normalNumber, subtract } from '../../../local/dynamodb/numbers.ts';
import type { StoredRecord, TableStorage } from '../../../local/dynamodb/storage.ts';
import { compareTexts } from '../../../local/dynamodb/values.ts';
import { adding, itemOf, keyOf, mainTable, refusalOf, startEngine, startMillis } from './engine-fixture.ts';

const TableName = mainTable;
const grouped = (name: string, rank: number): object => ({
  ...keyOf(name),
  gh: { S: 'g' },
  gr: { N: String(rank) },
});
const byGroup = {
  TableName,
  IndexName: 'by-group',
  KeyConditionExpression: 'gh = :g',
  ExpressionAttributeValues: { ':g': { S: 'g' } },
};

/** Keeps the records in a list, and gives them back to the next engine. */
function recordingStorage(records: StoredRecord[] = []): TableStorage & {
  readonly records: StoredRecord[];
  readonly state: () => StoredRecord[];
} {
  let readState: () => Iterable<StoredRecord> = () => [];
  return {
    records,
    state: () => [...readState()],
    load: (apply, state) => {
      readState = state;
      records.slice().forEach(apply);
      return Promise.resolve();
    },
    append: (record) => void records.push(record),
    settled: () => undefined,
    close: () => Promise.resolve(),
  };
}

describe('An index that lags', () => {
  const ranks = (output: Record<string, unknown>): unknown[] =>
    (output['Items'] as { gr: { N: string } }[]).map(({ gr }) => gr.N);

  it('A query sees the index as it was at an earlier time, with moved and deleted items', () => {
    const { engine, clock } = startEngine(undefined, 20_000);
    engine.perform('PutItem', { TableName, Item: grouped('A', 1) });
    engine.perform('PutItem', { TableName, Item: grouped('B', 2) });
    clock.nowMillis += 1_000;
    engine.perform('PutItem', { TableName, Item: grouped('A', 3) });
    engine.perform('DeleteItem', { TableName, Key: keyOf('B') });
    expect(ranks(engine.perform('Query', byGroup, { atMillis: startMillis + 999 }))).toEqual(['1', '2']);
    expect(ranks(engine.perform('Query', byGroup, { atMillis: startMillis - 1 }))).toEqual([]);
    expect(ranks(engine.perform('Query', byGroup))).toEqual(['3']);
  });

  it('A pinned index stays as it was, also within one millisecond, until it is unpinned', () => {
    const { engine } = startEngine();
    engine.perform('PutItem', { TableName, Item: grouped('A', 1) });
    const { moment, unpin } = engine.pin();
    for (let rank = 2; rank < 100; rank += 1)
      engine.perform('PutItem', { TableName, Item: grouped('A', rank) });
    expect(ranks(engine.perform('Query', byGroup, moment))).toEqual(['1']);
    unpin();
    expect(ranks(engine.perform('Query', byGroup))).toEqual(['99']);
  });
});

describe('The storage behind the engine', () => {
  it('A new engine on the same records has the same tables, items, indexes, time to live and tokens', async () => {
    const storage = recordingStorage();
    const { engine } = startEngine(storage);
    engine.perform('UpdateTimeToLive', {
      TableName,
      TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
    });
    for (const name of ['A', 'B', 'C']) engine.perform('PutItem', { TableName, Item: grouped(name, 1) });
    engine.perform('DeleteItem', { TableName, Key: keyOf('B') });
    const charge = { TransactItems: [{ Update: adding('A') }], ClientRequestToken: 'once' };
    engine.perform('TransactWriteItems', charge);
    const next = createTableEngine({ now: () => startMillis, storage: recordingStorage(storage.records) });
    await next.load();
    expect([...next.all(TableName)]).toEqual([...engine.all(TableName)]);
    expect(next.perform('Query', byGroup)).toEqual(engine.perform('Query', byGroup));
    expect(next.perform('DescribeTimeToLive', { TableName })).toEqual(
      engine.perform('DescribeTimeToLive', { TableName }),
    );
    next.perform('TransactWriteItems', charge);
    expect(next.get(TableName, keyOf('A'))?.['amount']?.N).toBe('1');
  });

  it('The present state as records makes the same engine, and the journal may be applied over it', async () => {
    const storage = recordingStorage();
    const { engine } = startEngine(storage);
    await engine.load();
    for (const name of ['A', 'B']) engine.perform('PutItem', { TableName, Item: itemOf(name, 1) });
    engine.perform('DeleteItem', { TableName, Key: keyOf('A') });
    const records = [...storage.state(), ...storage.records];
    const next = createTableEngine({ now: () => startMillis, storage: recordingStorage(records) });
    await next.load();
    expect([...next.all(TableName)]).toEqual([itemOf('B', 1)]);
  });

  it('A transaction is one record with its token, and a refused write is none', () => {
    const storage = recordingStorage();
    const { engine } = startEngine(storage);
    const tablesOnly = storage.records.length;
    const check = { TableName, Key: keyOf('C'), ConditionExpression: 'attribute_not_exists(pk)' };
    engine.perform('TransactWriteItems', {
      TransactItems: [
        { Update: adding('A') },
        { Put: { TableName, Item: itemOf('B', 2) } },
        { ConditionCheck: check },
      ],
      ClientRequestToken: 'token',
    });
    refusalOf(() =>
      engine.perform('PutItem', {
        ...{ TableName, Item: itemOf('A', 9) },
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    );
    const [record, ...more] = storage.records.slice(tablesOnly);
    expect(more).toEqual([]);
    expect(record).toMatchObject({
      kind: 'commit',
      changes: [
        { table: TableName, put: itemOf('A', 1) },
        { table: TableName, put: itemOf('B', 2) },
      ],
      token: { text: 'token', atMillis: startMillis },
    });
  });
});

describe('What DynamoDB refuses and Amazon DynamoDB Local does not', () => {
  it('An update cannot give the key of an index another type', () => {
    const { engine } = startEngine();
    const update = (value: object): unknown =>
      engine.perform('UpdateItem', {
        TableName,
        Key: keyOf('A'),
        UpdateExpression: 'SET gh = :v',
        ExpressionAttributeValues: { ':v': value },
      });
    expect(refusalOf(() => update({ N: '1' })).code).toBe('ValidationException');
    expect(refusalOf(() => update({ S: 'g' })).code).toBe('none');
  });

  it.each([
    ['a text in the place of a list', { L: 'x' }],
    ['a number in the place of a text', { S: 1 }],
    ['bytes that are no base64', { B: 'A' }],
    ['a text in the place of a map', { M: 'x' }],
  ])('JSON with %s is refused with SerializationException', (_what, value) => {
    const { engine } = startEngine();
    const put = (): unknown => engine.perform('PutItem', { TableName, Item: { ...keyOf('A'), value } });
    expect(refusalOf(put).code).toBe('SerializationException');
  });

  it('Parameters from before there were expressions are refused by name', () => {
    const { engine } = startEngine();
    expect(() =>
      engine.perform('PutItem', { TableName, Item: itemOf('A', 1), Expected: { pk: { Exists: false } } }),
    ).toThrow('Expected is a parameter from before there were expressions');
  });

  it('An attribute may have the name of a member of every JavaScript object', () => {
    const { engine } = startEngine();
    const names = ['constructor', 'toString', '__proto__'];
    const missing = names.map((_name, index) => `attribute_not_exists(#n${index})`).join(' AND ');
    const ExpressionAttributeNames = Object.fromEntries(names.map((name, index) => [`#n${index}`, name]));
    engine.perform('UpdateItem', {
      TableName,
      Key: keyOf('A'),
      ConditionExpression: missing,
      UpdateExpression: 'SET #n0 = :v, #n1 = :v, #n2 = :v',
      ExpressionAttributeNames,
      ExpressionAttributeValues: { ':v': { N: '1' } },
    });
    expect(Object.keys(engine.get(TableName, keyOf('A')) ?? {})).toEqual(['pk', 'sk', ...names]);
  });
});

describe('Pages', () => {
  it('A page ends before it exceeds 1 MB, and the pages hold every item once', () => {
    const { engine } = startEngine();
    for (let n = 0; n < 8; n += 1)
      engine.perform('PutItem', {
        TableName,
        Item: { pk: { S: 'P' }, sk: { S: String(n) }, a: { S: 'x'.repeat(300_000) } },
      });
    for (const operation of ['Query', 'Scan']) {
      const sizes: unknown[] = [];
      const seen: unknown[] = [];
      let start: unknown;
      do {
        const output = engine.perform(operation, {
          TableName,
          ...(operation === 'Query' && {
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: { ':p': { S: 'P' } },
          }),
          ...(start !== undefined && { ExclusiveStartKey: start }),
        });
        sizes.push(output['Count']);
        seen.push(...(output['Items'] as { sk: { S: string } }[]).map(({ sk }) => sk.S));
        start = output['LastEvaluatedKey'];
      } while (start !== undefined);
      expect(sizes, operation).toEqual([3, 3, 2]);
      expect(seen, operation).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
    }
  });
});

describe('Numbers', () => {
  it.each([
    ['1.50', '1.5'],
    ['-0', '0'],
    ['+5', '5'],
    ['5.', '5'],
    ['.5', '0.5'],
    ['007', '7'],
    ['1e3', '1000'],
    ['1E-3', '0.001'],
    ['123456789012345678901234567890.5', '123456789012345678901234567890.5'],
  ])('%s is kept as %s', (text, kept) => {
    expect(normalNumber(text)).toBe(kept);
    expect(normalNumber(kept)).toBe(kept);
  });

  it.each(['', ' 1', '1 ', 'abc', '0x1', '1e', '--1', 'NaN', 'Infinity', '1_000'])(
    '%j is no number',
    (text) => {
      expect(() => normalNumber(text)).toThrow('cannot be converted into a number');
    },
  );

  const wholes = fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n });

  it('Sums, differences and the order of whole numbers are exact up to 38 digits', () => {
    fc.assert(
      fc.property(wholes, wholes, (left, right) => {
        const [one, other] = [String(left), String(right)];
        expect(add(one, other)).toBe(String(left + right));
        expect(subtract(one, other)).toBe(String(left - right));
        expect(Math.sign(compareNumbers(one, other))).toBe(left < right ? -1 : left > right ? 1 : 0);
      }),
      { seed: 1 },
    );
  });

  it('A sum of more than 38 digits is refused', () => {
    expect(add('99999999999999999999999999999999999999', '1')).toBe(`1${'0'.repeat(38)}`);
    expect(() => add('99999999999999999999999999999999999999', '0.5')).toThrow('up to 38 digits');
    expect(() => add(normalNumber('9.9e125'), normalNumber('9.9e125'))).toThrow('Number overflow');
  });
});

describe('Texts', () => {
  it('The order of texts is the order of their bytes in UTF-8', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '😀', '𐀀') });
    fc.assert(
      fc.property(text, text, (left, right) => {
        const bytes = Buffer.compare(Buffer.from(left), Buffer.from(right));
        expect(Math.sign(compareTexts(left, right))).toBe(bytes);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});
