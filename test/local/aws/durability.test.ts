import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { createDynamo } from '../../../local/aws/dynamodb-service.ts';
import { createFolderStorage } from '../../../local/dynamodb/journal/folder-storage.ts';
import { startMillis, temporaryFolder } from './endpoint-fixture.ts';
import { tableDefinition } from './table.ts';

// The writer is killed several times, each time a little later after an answer. A single kill could fall
// between two transactions by chance.
const killDelaysMillis = [0, 1, 2, 3, 4];
const answeredBeforeKill = 100;
const itemsSchema = z.array(z.object({ due_at: z.object({ N: z.string() }) }));

test('After kill -9 every answered transaction is there, and no transaction is there in part', async () => {
  const folder = await temporaryFolder();
  let next = 0;
  for (const delayMillis of killDelaysMillis) {
    const answered = await writeUntilKilled(folder, next, delayMillis);
    const { one, two, items } = await readBack(folder);
    expect(one.length).toBeGreaterThan(answered);
    expect(one).toEqual(one.map((_, n) => n));
    expect(two).toEqual(one);
    expect(items).toBe(2 * one.length);
    next = one.length;
  }
});

/** Runs the writer until it is killed. Resolves with the last number that was answered. */
async function writeUntilKilled(folder: string, first: number, delayMillis: number): Promise<number> {
  const writer = spawn(
    process.execPath,
    [path.join(import.meta.dirname, 'writer.ts'), folder, String(first)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let answered = -1;
  for await (const line of createInterface({ input: writer.stdout })) {
    answered = Number(line);
    if (answered === first + answeredBeforeKill) setTimeout(() => writer.kill('SIGKILL'), delayMillis);
  }
  if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit');
  expect(writer.signalCode).toBe('SIGKILL');
  return answered;
}

async function readBack(folder: string): Promise<{ one: number[]; two: number[]; items: number }> {
  const dynamo = createDynamo({ storage: createFolderStorage({ folder }), now: () => startMillis });
  const call = (operation: string, input: object): Promise<Record<string, unknown>> =>
    dynamo.service({
      service: 'dynamodb',
      operation,
      caller: 'operator',
      input: { TableName: tableDefinition.TableName, ...input },
    });
  const query = async (half: string): Promise<number[]> => {
    const { Items } = await call('Query', {
      IndexName: 'open-work',
      KeyConditionExpression: '#w = :w',
      ExpressionAttributeNames: { '#w': 'work' },
      ExpressionAttributeValues: { ':w': { S: half } },
    });
    return itemsSchema.parse(Items).map((item) => Number(item.due_at.N));
  };
  const [one, two] = [await query('one'), await query('two')];
  const { Count } = await call('Scan', { Select: 'COUNT' });
  await dynamo.close();
  return { one, two, items: z.number().parse(Count) };
}
