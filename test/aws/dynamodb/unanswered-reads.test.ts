/** A read that DynamoDB does not answer is Overloaded: the client gets 503 and may send its request again. */
import { createServer, type ServerResponse } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenOnLoopback } from '../../../local/http.ts';
import { batchGet } from '../../../service/aws/dynamodb/batch-get.ts';
import { getItem, queryPage, updateItem } from '../../../service/aws/dynamodb/send.ts';
import type { Table } from '../../../service/aws/dynamodb/table.ts';
import { Overloaded } from '../../../service/values/errors.ts';
import { fakeClock } from '../../api/fakes.ts';

const refused = (status: number, name: string) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'no' }));
};
const behaviours = {
  'a connection that breaks': (response: ServerResponse) => void response.destroy(),
  'no answer in time': () => undefined,
  'an internal error': refused(500, 'InternalServerError'),
  'a missing permission': refused(400, 'AccessDeniedException'),
} as const;
type Behaviour = keyof typeof behaviours;

let behaviour: Behaviour;
const server = createServer((_request, response) => behaviours[behaviour](response));
let client: DynamoDBDocumentClient;
beforeAll(async () => {
  const port = await listenOnLoopback(server);
  const plain = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'key' },
    maxAttempts: 2,
    requestHandler: { requestTimeout: 100, throwOnRequestTimeout: true },
  });
  client = DynamoDBDocumentClient.from(plain);
});
afterAll(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

const key = { pk: 'ACCOUNT#1', sk: 'ACCOUNT' };
const reads: Readonly<Record<string, (table: Table) => Promise<unknown>>> = {
  GetItem: (table) => getItem(table, key),
  BatchGetItem: (table) => batchGet(table, [key]),
  Query: (table) =>
    queryPage(table, { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': key.pk } }),
};

async function errorOf(answering: Behaviour, call: (table: Table) => Promise<unknown>): Promise<unknown> {
  behaviour = answering;
  const table: Table = {
    client,
    name: 'table',
    clock: fakeClock(),
    randomBytes: (count) => new Uint8Array(count),
  };
  return call(table).catch((error: unknown) => error);
}

describe.each(Object.keys(reads))('%s', (name) => {
  const read = reads[name] ?? (() => Promise.reject(new Error(`no read ${name}`)));

  it.each(['a connection that breaks', 'no answer in time', 'an internal error'] as const)(
    'The read is Overloaded after %s',
    async (answering) => {
      expect(await errorOf(answering, read)).toBeInstanceOf(Overloaded);
    },
  );

  it('A refusal of the read stays the error that it is', async () => {
    expect(await errorOf('a missing permission', read)).toMatchObject({ name: 'AccessDeniedException' });
  });
});

describe('a write', () => {
  it.each(['a connection that breaks', 'no answer in time', 'an internal error'] as const)(
    'The write is not Overloaded after %s, because it may have been made',
    async (answering) => {
      const write = (table: Table) => updateItem(table, key, { UpdateExpression: 'REMOVE note' });
      const error = await errorOf(answering, write);
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(Overloaded);
    },
  );
});
