/**
 * Records answers of Amazon DynamoDB Local, for machines without Java: `node test/local/dynamodb/record.ts`.
 * The engine must give the same answers in every run of the tests (differential.test.ts).
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { findDynamoDbLocal, startDynamoDbLocal } from '../../tables/dynamodb-local.ts';
import { askLocal } from './compare-answers.ts';
import { randomOperations } from './random-operations.ts';
import { tables } from './engine-fixture.ts';

const seed = 20_261_122;
const count = 400;
/** Long inputs and answers are left out, so that the file stays small. */
const maxLength = 700;

const found = findDynamoDbLocal();
if ('missing' in found) throw new Error(found.missing);
const { endpoint, end } = await startDynamoDbLocal(found.folder);
for (const table of tables) await askLocal(endpoint, 'CreateTable', table);
const lines: string[] = [];
for (const { operation, input } of randomOperations(seed)) {
  if (lines.length === count) break;
  if (JSON.stringify(input).length > maxLength) continue;
  const answer = await askLocal(endpoint, operation, input);
  lines.push(JSON.stringify([operation, input, answer]));
}
await end();
writeFileSync(path.join(import.meta.dirname, 'recorded-answers.jsonl'), `${lines.join('\n')}\n`);
