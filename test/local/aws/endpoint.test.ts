import { request as httpRequest } from 'node:http';
import {
  CreateTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import type { AwsCall } from '../../../local/aws/aws-call.ts';
import { AwsError } from '../../../local/aws/aws-error.ts';
import { createAwsEndpoint } from '../../../local/aws/endpoint.ts';
import { createFaults } from '../../../local/aws/faults.ts';
import { createObjectStore } from '../../../local/aws/object-store.ts';
import { newFolder } from '../machine-fixture.ts';
import { startEndpoint, startMillis, tableDefinition } from './endpoint-fixture.ts';

const stateMachineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:M';

test('A call reaches its service with its operation, its caller and its input', async () => {
  const calls: AwsCall[] = [];
  const states = (call: AwsCall): Promise<Record<string, unknown>> => {
    calls.push(call);
    return Promise.resolve({ executionArn: 'arn:ex', startDate: new Date(startMillis) });
  };
  const fixture = await startEndpoint({ states });
  const started = await new SFNClient(fixture.as('SubmitRole')).send(
    new StartExecutionCommand({ stateMachineArn, name: 'n', input: '{}' }),
  );
  expect(started).toMatchObject({ executionArn: 'arn:ex', startDate: new Date(startMillis) });
  expect(calls).toEqual([
    {
      service: 'states',
      operation: 'StartExecution',
      caller: 'SubmitRole',
      input: { stateMachineArn, name: 'n', input: '{}' },
    },
  ]);
});

test('The SDK gets each error of Step Functions as its own exception class', async () => {
  const states = ({ operation }: AwsCall): Promise<never> =>
    Promise.reject(
      new AwsError(
        operation === 'StartExecution' ? 'ExecutionAlreadyExists' : 'ExecutionDoesNotExist',
        'as told',
      ),
    );
  const fixture = await startEndpoint({ states });
  const client = new SFNClient(fixture.as('Role'));
  await expect(client.send(new StartExecutionCommand({ stateMachineArn }))).rejects.toMatchObject({
    name: 'ExecutionAlreadyExists',
    message: 'as told',
  });
  await expect(client.send(new DescribeExecutionCommand({ executionArn: 'arn:ex' }))).rejects.toMatchObject({
    name: 'ExecutionDoesNotExist',
  });
});

test('A call is authorized before a fault can strike it', async () => {
  const fixture = await startEndpoint({
    authorize: () => {
      throw new AwsError('AccessDeniedException', 'no');
    },
  });
  fixture.faults.set({ call: 'dynamodb:*', error: 'Throttling' });
  await expect(new DynamoDBClient(fixture.as('Role')).send(new ListTablesCommand({}))).rejects.toMatchObject({
    name: 'AccessDeniedException',
  });
  expect(fixture.faults.list()).toHaveLength(1);
});

test('The services also answer calls inside the process, without a socket', async () => {
  const fixture = await startEndpoint();
  await fixture.endpoint.handle({
    service: 'dynamodb',
    operation: 'CreateTable',
    caller: 'operator',
    input: structuredClone(tableDefinition),
  });
  expect(
    await fixture.endpoint.handle({
      service: 'dynamodb',
      operation: 'ListTables',
      caller: 'operator',
      input: {},
    }),
  ).toEqual({ TableNames: ['Main'] });
});

test('An unsigned call and an unknown operation are refused', async () => {
  const { url } = await startEndpoint();
  const call = async (headers: Record<string, string>): Promise<unknown> =>
    (await fetch(url, { method: 'POST', body: '{}', headers })).json();
  const signed = {
    authorization:
      'AWS4-HMAC-SHA256 Credential=Role/20261121/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=x',
  };
  expect(await call({ 'x-amz-target': 'DynamoDB_20120810.ListTables' })).toMatchObject({
    __type: 'com.amazon.coral.service#MissingAuthenticationTokenException',
  });
  expect(await call({ ...signed, 'x-amz-target': 'DynamoDB_20120810.ExecuteStatement' })).toMatchObject({
    __type: 'com.amazon.coral.service#UnknownOperationException',
  });
});

test('A request of a web page that reaches loopback under its own host name is refused', async () => {
  const { url } = await startEndpoint();
  const status = await new Promise((resolve, reject) => {
    const headers = {
      host: 'evil.example',
      authorization: 'AWS4-HMAC-SHA256 Credential=operator/x',
      'x-amz-target': 'DynamoDB_20120810.ListTables',
    };
    httpRequest(url, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end('{}');
  });
  expect(status).toBe(403);
});

test('The end of the endpoint ends the calls that still wait for an answer', async () => {
  const arrived = Promise.withResolvers<undefined>();
  const endpoint = createAwsEndpoint({
    dynamodb: () => {
      arrived.resolve(undefined);
      return new Promise(() => undefined);
    },
    states: () => Promise.resolve({}),
    secretsmanager: () => Promise.resolve({}),
    lambda: () => Promise.resolve({}),
    objectStore: createObjectStore(newFolder(), { now: () => startMillis }),
    authorize: () => undefined,
    now: () => startMillis,
    faults: createFaults(),
  });
  const { url, close } = await endpoint.listen();
  const client = new DynamoDBClient({
    endpoint: url,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'Role', secretAccessKey: 'x' },
  });
  const waiting = client.send(new ListTablesCommand({})).catch((error: unknown) => error);
  await arrived.promise;
  // The call never gets an answer. If close() waited for the call, it would wait for ever.
  await close();
  expect(await waiting).toMatchObject({ code: 'ECONNRESET' });
});

test('An item larger than one socket read arrives whole', async () => {
  const fixture = await startEndpoint();
  const client = new DynamoDBClient(fixture.as('operator'));
  await client.send(new CreateTableCommand(structuredClone(tableDefinition)));
  await client.send(
    new PutItemCommand({
      TableName: 'Main',
      Item: { pk: { S: 'a' }, sk: { S: 'a' }, text: { S: 'é'.repeat(150_000) } },
    }),
  );
});
