/**
 * Kills a process that writes tables, again and again. `npm test` runs a short form. The long form:
 *
 *   KILL_WRITES=50000 npm test -- test/local/dynamodb/journal-kill
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type AttributeValue,
  DynamoDBClient,
  PutItemCommand,
  ScanCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { createDice } from '../../../lab/simulation/world/dice.ts';
import { firstLineOf, newFolder } from '../machine-fixture.ts';

const wantedWrites = Number(process.env['KILL_WRITES'] ?? 600);
const seed = Number(process.env['KILL_SEED'] ?? 1);
const writers = 10;
/** A process is killed after up to so many answers. */
const answersBeforeKill = Math.max(400, wantedWrites / 50);
const TableName = 'Main';

interface Service {
  readonly client: DynamoDBClient;
  /** Sends SIGKILL and waits until the process is gone. */
  readonly kill: () => Promise<void>;
}

async function start(folder: string): Promise<Service> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'kill-child.ts'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const client = new DynamoDBClient({
    endpoint: await firstLineOf(child.stdout),
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  });
  return {
    client,
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
      client.destroy();
    },
  };
}

/** Starts a process and kills it while it loads the folder, or just after. */
async function killWhileItStarts(folder: string, delayMillis: number): Promise<void> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'kill-child.ts'), folder], {
    stdio: 'ignore',
  });
  const gone = once(child, 'exit');
  await wait(delayMillis);
  child.kill('SIGKILL');
  await gone;
}

/** Write n is one item when n is odd, and a transaction of two items when n is even. */
async function write(client: DynamoDBClient, n: number): Promise<void> {
  const item = (pk: string): Record<string, AttributeValue> => ({
    pk: { S: pk },
    sk: { S: String(n) },
    text: { S: 'x'.repeat(n % 100) },
  });
  if (n % 2 === 1) await client.send(new PutItemCommand({ TableName, Item: item('single') }));
  else
    await client.send(
      new TransactWriteItemsCommand({
        TransactItems: ['one', 'two'].map((half) => ({ Put: { TableName, Item: item(half) } })),
      }),
    );
}

interface Found {
  readonly single: ReadonlySet<number>;
  readonly one: ReadonlySet<number>;
  readonly two: ReadonlySet<number>;
}

async function readAll(client: DynamoDBClient): Promise<Found> {
  const found = { single: new Set<number>(), one: new Set<number>(), two: new Set<number>() };
  let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName, ...(ExclusiveStartKey && { ExclusiveStartKey }) }),
    );
    for (const { pk, sk } of page.Items ?? []) found[pk?.S as keyof Found].add(Number(sk?.S));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return found;
}

/** All answered writes are there, and no transaction is there by half. */
function prove({ single, one, two }: Found, answered: ReadonlySet<number>): void {
  expect([...answered].filter((n) => !(n % 2 === 1 ? single : one).has(n))).toEqual([]);
  expect([...one.symmetricDifference(two)]).toEqual([]);
}

test(
  `A kill -9 loses no answered write, and leaves no transaction by half (${wantedWrites} writes, seed ${seed})`,
  { timeout: 3_600_000 },
  async () => {
    const folder = path.join(newFolder(), 'tables');
    const dice = createDice(seed);
    const answered = new Set<number>();
    let next = 0;
    let kills = 0;
    while (answered.size < wantedWrites) {
      const { client, kill } = await start(folder);
      prove(await readAll(client), answered);
      const killAt = Math.min(
        wantedWrites,
        answered.size + dice.between(`answers ${kills}`, 1, answersBeforeKill),
      );
      const delayMillis = dice.between(`delay ${kills}`, 0, 5);
      let killed: Promise<void> | undefined;
      const isKilled = (): boolean => killed !== undefined;
      const writeUntilKilled = async (): Promise<void> => {
        while (!isKilled()) {
          const n = (next += 1);
          try {
            await write(client, n);
          } catch (error) {
            // Before the kill every write is answered.
            if (!isKilled()) throw error;
            return;
          }
          answered.add(n);
          if (answered.size === killAt) killed = wait(delayMillis).then(kill);
        }
      };
      await Promise.all(Array.from({ length: writers }, writeUntilKilled));
      await killed;
      kills += 1;
      if (dice.chance(`start ${kills}`, 0.3))
        await killWhileItStarts(folder, dice.between(`start delay ${kills}`, 50, 400));
    }
    const last = await start(folder);
    const found = await readAll(last.client);
    prove(found, answered);
    await last.kill();
    expect(kills).toBeGreaterThan(2);
    if (wantedWrites > 600)
      process.stdout.write(`${answered.size} answered writes, ${kills} kills under load\n`);
  },
);
