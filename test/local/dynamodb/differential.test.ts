/**
 * The same operations on the engine and on Amazon DynamoDB Local, right ones and wrong ones. Both must give
 * the same answers and refusals, except for the differences in allowed-differences.ts.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DynamoDbLocal, findDynamoDbLocal, startDynamoDbLocal } from '../../tables/dynamodb-local.ts';
import { allowedDifferences, severalFaults } from './allowed-differences.ts';
import { askEngine, askLocal, compare } from './compare-answers.ts';
import { startEngine, tables } from './engine-fixture.ts';
import type { Json } from './random-expressions.ts';
import { randomOperations } from './random-operations.ts';

const operations = 10_000;
const seed = 8;

/** How often the answers were the same, and how often each difference was allowed. */
class Tally {
  same = 0;
  readonly allowed = new Map<string, number>();
  readonly wrong: unknown[] = [];
  readonly outcomes = new Set<string>();

  add(operation: string, input: Json, ours: Json, theirs: Json): void {
    this.outcomes.add(`${operation} ${ours['__type'] === undefined ? 'answered' : 'refused'}`);
    const agreement = compare(operation, input, ours, theirs);
    if (agreement.same === 'same') this.same += 1;
    else if (agreement.same === 'no') this.wrong.push({ operation, input, ours, theirs });
    else this.allowed.set(agreement.reason, (this.allowed.get(agreement.reason) ?? 0) + 1);
  }
}

const each = [
  'BatchGetItem',
  'BatchWriteItem',
  'DeleteItem',
  'GetItem',
  'PutItem',
  'Query',
  'Scan',
  'TransactGetItems',
  'TransactWriteItems',
  'UpdateItem',
].flatMap((operation) => [`${operation} answered`, `${operation} refused`]);

describe('The recorded answers of Amazon DynamoDB Local', () => {
  it('The engine gives each of the recorded answers', () => {
    const text = readFileSync(path.join(import.meta.dirname, 'recorded-answers.jsonl'), 'utf8');
    const { engine } = startEngine();
    const tally = new Tally();
    const lines = text.trim().split('\n');
    for (const line of lines) {
      const [operation, input, theirs] = JSON.parse(line) as [string, Json, Json];
      tally.add(operation, input, askEngine(engine, operation, input), theirs);
    }
    expect(tally.wrong).toEqual([]);
    expect(tally.same).toBeGreaterThan(0.9 * lines.length);
    expect([...tally.outcomes].sort()).toEqual(expect.arrayContaining(each));
  });
});

const found = findDynamoDbLocal();
// Printed, because a reader could take a skipped comparison for a passed one.
if ('missing' in found) process.stderr.write(`Amazon DynamoDB Local is left out: ${found.missing}\n`);

describe.skipIf('missing' in found)('The engine beside Amazon DynamoDB Local', () => {
  let local: DynamoDbLocal;
  beforeAll(async () => {
    if ('missing' in found) throw new Error(found.missing);
    local = await startDynamoDbLocal(found.folder);
    for (const table of tables) await askLocal(local.endpoint, 'CreateTable', table);
  });
  afterAll(() => local.end());

  it(
    `${operations} random operations have the same answers and refusals on both`,
    { timeout: 300_000 },
    async () => {
      const { engine } = startEngine();
      const tally = new Tally();
      const stream = randomOperations(seed);
      for (let count = 0; count < operations; count += 1) {
        const { operation, input } = stream.next().value;
        const theirs = await askLocal(local.endpoint, operation, input);
        tally.add(operation, input, askEngine(engine, operation, input), theirs);
        expect(tally.wrong).toEqual([]);
      }
      expect([...tally.outcomes].sort()).toEqual(expect.arrayContaining(each));
      expect(tally.same).toBeGreaterThan(0.9 * operations);
      expect(tally.allowed.get(severalFaults)).toBeLessThan(0.03 * operations);
      // A difference that no longer occurs must leave the table.
      expect([...tally.allowed.keys()].sort()).toEqual(allowedDifferences.map(({ reason }) => reason).sort());
    },
  );
});
