import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startEndpoint } from './endpoint-fixture.ts';
import type { Fixture } from './endpoint-fixture.ts';
import { tableDefinition } from './table.ts';

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
