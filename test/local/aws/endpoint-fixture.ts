import path from 'node:path';
import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { onTestFinished } from 'vitest';
import type { AwsService } from '../../../local/aws/aws-call.ts';
import { AwsError } from '../../../local/aws/aws-error.ts';
import { createDynamo, type Dynamo } from '../../../local/aws/dynamodb-service.ts';
import { type AwsEndpoint, type AwsEndpointOptions, createAwsEndpoint } from '../../../local/aws/endpoint.ts';
import { createFaults, type Faults } from '../../../local/aws/faults.ts';
import { createObjectStore, type ObjectStore } from '../../../local/aws/object-store.ts';
import { createSecrets, type Secrets } from '../../../local/aws/secrets.ts';
import { newFolder } from '../machine-fixture.ts';

export const startMillis = Date.UTC(2026, 10, 21, 12);

export interface Fixture {
  /** The settings of an SDK client that calls the endpoint as this role. */
  readonly as: (caller: string) => {
    endpoint: string;
    region: string;
    maxAttempts: number;
    credentials: { accessKeyId: string; secretAccessKey: string };
  };
  readonly url: string;
  readonly endpoint: AwsEndpoint;
  readonly dynamo: Dynamo;
  readonly faults: Faults;
  readonly objectStore: ObjectStore;
  readonly secrets: Secrets;
  /** The time of the stand-ins. A test sets it. */
  readonly clock: { nowMillis: number };
  readonly folder: string;
}

const noService: AwsService = ({ operation }) =>
  Promise.reject(new AwsError('UnknownOperationException', operation));

/**
 * Starts the whole local AWS on a free port. Its tables are in memory, and its folder is removed after the
 * test.
 */
export async function startEndpoint(options: Partial<AwsEndpointOptions> = {}): Promise<Fixture> {
  const folder = newFolder();
  const clock = { nowMillis: startMillis };
  const now = (): number => clock.nowMillis;
  const dynamo = createDynamo({ now });
  const faults = createFaults();
  const objectStore = createObjectStore(path.join(folder, 'objects'), { now });
  const secrets = createSecrets(path.join(folder, 'secrets'), { now });
  const endpoint = createAwsEndpoint({
    dynamodb: dynamo.service,
    states: noService,
    lambda: noService,
    secretsmanager: secrets.service,
    objectStore,
    faults,
    authorize: () => undefined,
    now,
    ...options,
  });
  const { url, close } = await endpoint.listen();
  onTestFinished(async () => {
    await close();
    await dynamo.close();
    objectStore.close();
  });
  return {
    as: (caller) => ({
      endpoint: url,
      region: 'us-east-1',
      maxAttempts: 1,
      credentials: { accessKeyId: caller, secretAccessKey: 'local' },
    }),
    url,
    endpoint,
    dynamo,
    faults,
    objectStore,
    secrets,
    clock,
    folder,
  };
}

/** The table of most tests. It has the keys pk and sk, an index of open work, and a time to live. */
export const tableDefinition = {
  TableName: 'Main',
  BillingMode: 'PAY_PER_REQUEST',
  DeletionProtectionEnabled: true,
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'work', AttributeType: 'S' },
    { AttributeName: 'due_at', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'open-work',
      KeySchema: [
        { AttributeName: 'work', KeyType: 'HASH' },
        { AttributeName: 'due_at', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
      OnDemandThroughput: { MaxReadRequestUnits: 100, MaxWriteRequestUnits: 100 },
    },
  ],
} satisfies CreateTableCommandInput;

export const TableName = tableDefinition.TableName;

/** Starts the local AWS and creates the table. */
export async function startTable(): Promise<Fixture & { table: DynamoDBDocumentClient }> {
  const fixture = await startEndpoint();
  const client = new DynamoDBClient(fixture.as('operator'));
  await client.send(new CreateTableCommand(structuredClone(tableDefinition)));
  return { ...fixture, table: DynamoDBDocumentClient.from(client) };
}

/** The key of an account's item. */
export const account = { pk: 'ACCOUNT#a', sk: 'ACCOUNT' };
