/** The engines that replace DynamoDB, each behind the SDK's own client. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { createSimulatedTable, tableDefinition } from '../../lab/simulation/aws/simulated-table.ts';
import { createDynamo } from '../../local/aws/dynamodb-service.ts';
import { createAwsEndpoint } from '../../local/aws/endpoint.ts';
import { createFaults } from '../../local/aws/faults.ts';
import { createObjectStore } from '../../local/aws/object-store.ts';
import { systemClock } from '../../service/aws/clock.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { now, seededBytes } from '../fixtures/records.ts';
import { findDynamoDbLocal, startDynamoDbLocal } from './dynamodb-local.ts';

export interface Engine {
  /** An empty table. */
  readonly open: () => Promise<Table>;
  readonly end: () => Promise<void>;
}

const rest = { clock: { ...systemClock, now: () => now }, randomBytes: randomBytesInTurn() } as const;

/** Other bytes at each call, and the same bytes in each run. */
function randomBytesInTurn(): Table['randomBytes'] {
  let turn = 0;
  return (count) => {
    turn += 1;
    // The last bytes: the time of a UUID replaces the first ones.
    const place = (index: number): number => count - 1 - index;
    return seededBytes(count).map((byte, index) =>
      place(index) < 4 ? (turn >> (8 * place(index))) % 256 : byte,
    );
  };
}

/** The table engine of the one machine, over a socket. */
export async function startStandIn(): Promise<Engine> {
  const dynamo = createDynamo({ now: () => now });
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-engine-'));
  const objectStore = createObjectStore(join(folder, 'objects'), { now: () => now });
  const absent = (): Promise<never> => Promise.reject(new Error('only DynamoDB is asked here'));
  const endpoint = createAwsEndpoint({
    dynamodb: dynamo.service,
    states: absent,
    secretsmanager: absent,
    lambda: absent,
    faults: createFaults(),
    authorize: () => undefined,
    now: () => now,
    objectStore,
  });
  const { url, close } = await endpoint.listen();
  return {
    open: tablesAt(url),
    end: async () => {
      await close();
      await dynamo.close();
      objectStore.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** The table of the simulation. */
export function startMemory(): Promise<Engine> {
  const open = (): Promise<Table> => {
    const memory = createSimulatedTable({ now: () => now });
    return Promise.resolve({
      ...rest,
      name: 'table',
      client: createDirectClient((operation, input) => memory.perform(operation, input)),
    });
  };
  return Promise.resolve({ open, end: () => Promise.resolve() });
}

/** Amazon DynamoDB Local. Throws when it is not installed. */
export async function startAmazon(): Promise<Engine> {
  const found = findDynamoDbLocal();
  if ('missing' in found) throw new Error(found.missing);
  const { endpoint, end } = await startDynamoDbLocal(found.folder);
  return { open: tablesAt(endpoint), end };
}

function tablesAt(endpoint: string): () => Promise<Table> {
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  });
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  let tables = 0;
  return async () => {
    tables += 1;
    const name = `table-${tables}`;
    await client.send(new CreateTableCommand(tableDefinition(name)));
    return { ...rest, name, client: documents };
  };
}
