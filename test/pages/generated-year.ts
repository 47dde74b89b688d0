/**
 * A year of one account: 100,000 rows of the ledger, with the creations, the keys and the balance that belong to
 * them, in a table of the engine or in any other. Everything follows from the number of a row.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { tableDefinition } from '../../lab/simulation/aws/simulated-table.ts';
import { createTableEngine, type TableEngine } from '../../local/dynamodb/engine.ts';
import { createNoStorage } from '../../local/dynamodb/storage.ts';
import { accountToItem, apiKeyToItem } from '../../service/accounts/account-items.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { type KeyId, uuidV7 } from '../../service/values/ids.ts';
import { asMicros, type Micros } from '../../service/values/money.ts';
import { fakeClock } from '../api/fakes.ts';
import { accountId, anAccount, anApiKey, seededBytes } from '../fixtures/records.ts';

export const yearBegan = Date.UTC(2025, 10, 22);
/** The middle of a day, a year later. */
export const yearNow = Date.UTC(2026, 10, 21, 12, 0, 30);
const dayMillis = 86_400_000;
const tableName = 'table';
const keyIds = ['Key001', 'Key002', 'Key003', 'portal'].map((id) => id as KeyId);
const models = ['one', 'two', 'three'];
/** Rows of an older release name neither the model nor the day of the charge. */
const isOld = (number: number): boolean => number < 150;

export interface Year {
  readonly table: Table;
  /** How often the table was called, by operation. */
  readonly calls: Map<string, number>;
  /** Puts one more item. */
  readonly put: (item: object) => void;
  /** The sums by which the answers are checked. */
  readonly expected: Expected;
}

export interface Expected {
  rows: number;
  availableMicros: number;
  creditLineMicros: number;
  charges: number;
  failed: number;
  chargedMicros: number;
  refundedMicros: number;
  /** Charges minus refunds by the day of the charge. */
  readonly spentOn: Map<string, number>;
  readonly spentBy: Map<string, number>;
}

type Write = (item: object) => void;

/**
 * @param rows about so many charges, refunds and movements of the operator
 * @param withCreations false: only the creations of old rows, and the newest, have records
 */
export function generateYear(rows = 100_000, withCreations = true): Year {
  const engine = createTableEngine({ now: () => yearNow, storage: createNoStorage() });
  engine.perform('CreateTable', tableDefinition(tableName));
  const put = writer(engine);
  const expected = writeYear(put, {
    rows,
    nowMillis: yearNow,
    recordOf: (one, number, of) =>
      withCreations || isOld(number) || number >= of - 400 ? recordOf(one) : undefined,
  });
  return { put, expected, ...watched(engine) };
}

/** What a year has, and when it ends. */
export interface YearOptions {
  readonly rows: number;
  readonly nowMillis: number;
  /** The record of a creation. Undefined: it has none. */
  readonly recordOf: (one: Made, number: number, of: number) => object | undefined;
}

/** Writes the account, its keys, its ledger and its creations. Gives the sums of what it wrote. */
export function writeYear(put: Write, { rows, nowMillis, recordOf: toRecord }: YearOptions): Expected {
  const expected: Expected = {
    ...{ rows: 0, availableMicros: 0, creditLineMicros: 0, charges: 0, failed: 0 },
    ...{ chargedMicros: 0, refundedMicros: 0, spentOn: new Map(), spentBy: new Map() },
  };
  const began = nowMillis - (yearNow - yearBegan);
  const spent = new Map<string, Record<string, Micros>>();
  operatorRows(put, expected, began);
  // One in 17 fails, and so has a second row.
  const charges = Math.floor((rows * 17) / 18) - expected.rows;
  for (let number = 0; number < charges; number += 1) {
    const one = creationOf(number, charges, nowMillis);
    const record = toRecord(one, number, charges);
    writeCreation(put, one, number, expected);
    if (record) put(record);
    if (one.refundedAt === undefined) {
      const months = spent.get(one.keyId) ?? {};
      const month = one.at.slice(0, 7).replace('-', '_');
      spent.set(one.keyId, { ...months, [month]: asMicros((months[month] ?? 0) + one.cost) });
    }
  }
  for (const id of keyIds) put(apiKeyToItem(anApiKey({ id, name: `key ${id}`, spent: spent.get(id) ?? {} })));
  const { availableMicros, creditLineMicros } = expected;
  put(
    accountToItem(
      anAccount({
        createdAt: new Date(began).toISOString(),
        availableMicros: asMicros(availableMicros),
        creditLineMicros: asMicros(creditLineMicros),
      }),
    ),
  );
  return expected;
}

function writer(engine: TableEngine): Write {
  return (item) =>
    void engine.perform('PutItem', {
      TableName: tableName,
      Item: marshall(item, { removeUndefinedValues: true }),
    });
}

function watched(engine: TableEngine): Pick<Year, 'table' | 'calls'> {
  const calls = new Map<string, number>();
  const client: DynamoDBDocumentClient = createDirectClient((operation, input) => {
    calls.set(operation, (calls.get(operation) ?? 0) + 1);
    return engine.perform(operation, input);
  });
  const clock = { ...fakeClock(), now: () => yearNow };
  return { calls, table: { client, name: tableName, clock, randomBytes: seededBytes } };
}

/** A creation of the year. */
export interface Made {
  readonly id: string;
  readonly at: string;
  readonly cost: number;
  readonly keyId: KeyId;
  readonly model: string;
  readonly user: string | undefined;
  readonly refundedAt: string | undefined;
}

function creationOf(number: number, of: number, nowMillis: number): Made {
  const span = yearNow - yearBegan;
  const millis = nowMillis - span + Math.floor(((span - 600_000) * number) / of);
  const random = seededBytes(16).map((byte, index) => (number >> (8 * (index % 4))) ^ (byte * 31));
  const refundedAt = number % 17 === 3 ? millis + lateBy(number) : undefined;
  return {
    id: uuidV7(millis, random),
    at: new Date(millis).toISOString(),
    cost: 10_000 + (number % 5) * 7_003,
    keyId: keyIds[number % keyIds.length] ?? ('Key001' as KeyId),
    model: models[(number >> 3) % models.length] ?? 'one',
    user: number % 11 === 0 ? undefined : `user-${(number * 7_919) % 500}`,
    ...{
      refundedAt:
        refundedAt === undefined ? undefined : new Date(Math.min(refundedAt, nowMillis)).toISOString(),
    },
  };
}

/** Most refunds come within minutes, and a few come weeks later. */
function lateBy(number: number): number {
  return number % 1_700 === 3 ? 40 * dayMillis : 1_000 + (number % 7) * 90_000;
}

function writeCreation(put: Write, one: Made, number: number, expected: Expected): void {
  const { id, at, cost, keyId, model, user, refundedAt } = one;
  const pk = `ACCOUNT#${accountId}`;
  const month = at.slice(0, 7).replace('-', '_');
  const named = { creationId: id, keyId, month, user };
  const written = isOld(number) ? {} : { model };
  put({
    ...{ pk, sk: `LEDGER#${at}#charge#${id}`, kind: 'charge', amountMicros: 0 - cost, at },
    ...{ ...named, ...written, requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef' },
  });
  add(expected, one, cost);
  if (refundedAt !== undefined) {
    put({
      ...{ pk, sk: `LEDGER#${refundedAt}#refund#${id}`, kind: 'refund', amountMicros: cost, at: refundedAt },
      ...{ ...named, ...written, ...(isOld(number) ? {} : { chargedOn: at.slice(0, 10) }) },
    });
    giveBack(expected, one, cost);
  }
}

function recordOf({ id, at, cost, keyId, model, user, refundedAt }: Made): object {
  const completedAt = refundedAt ?? new Date(Date.parse(at) + 4_000).toISOString();
  return {
    ...{ pk: `CREATION#${id}`, sk: 'CREATION', listing: `CREATIONS#${accountId}`, listed: id },
    ...{ id, accountId, keyId, model, user, costMicros: cost, createdAt: at, completedAt, metadata: '{}' },
    refundedMicros: refundedAt === undefined ? 0 : cost,
    status: refundedAt === undefined ? 'completed' : 'failed',
    attempts: [],
  };
}

function operatorRows(put: Write, expected: Expected, began: number): void {
  const rows = [
    ...Array.from({ length: 12 }, (_, month) => ['top_up', 900_000_000 + month, month] as const),
    ['credit_line', 5_000_000, 2] as const,
    ['adjustment', -1_234_567, 7] as const,
  ];
  for (const [kind, amountMicros, month] of rows) {
    const at = new Date(began + month * 30 * dayMillis + 1).toISOString();
    put({ pk: `ACCOUNT#${accountId}`, sk: `LEDGER#${at}#${kind}#${month}`, kind, amountMicros, at });
    expected.rows += 1;
    expected.availableMicros += amountMicros;
    if (kind === 'credit_line') expected.creditLineMicros += amountMicros;
  }
}

function add(expected: Expected, one: Made, cost: number): void {
  expected.rows += 1;
  expected.charges += 1;
  expected.chargedMicros += cost;
  expected.availableMicros -= cost;
  spend(expected, one, cost);
}

function giveBack(expected: Expected, one: Made, cost: number): void {
  expected.rows += 1;
  expected.failed += 1;
  expected.refundedMicros += cost;
  expected.availableMicros += cost;
  spend(expected, one, 0 - cost);
}

function spend({ spentOn, spentBy }: Expected, { at, keyId, model, user }: Made, micros: number): void {
  const day = at.slice(0, 10);
  spentOn.set(day, (spentOn.get(day) ?? 0) + micros);
  for (const group of [`key ${keyId}`, `model ${model}`, `user ${user ?? '-'}`])
    spentBy.set(group, (spentBy.get(group) ?? 0) + micros);
}
