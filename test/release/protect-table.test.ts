import { expect, it, describe } from 'vitest';
import type { ProtectionServices } from '../../service/release/open.ts';
import { protectTable } from '../../service/release/protect-table.ts';
import { fakeLog } from '../api/fakes.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { createPageStore } from '../../service/release/page-files.ts';
import { createTableProtection } from '../../service/release/table-protection.ts';
import { recordingServer } from '../outbound/recording-server.ts';

type Told = 'protected' | 'busy' | Error;

interface Opened {
  readonly services: ProtectionServices;
  readonly asked: string[];
  readonly pauses: number[];
  readonly answers: [url: string, answer: object][];
}

/** @param told what DynamoDB says at each try; the last one holds from then on */
function opened(...told: readonly Told[]): Opened {
  const [asked, pauses]: [string[], number[]] = [[], []];
  const answers: Opened['answers'] = [];
  const services = {
    log: fakeLog(),
    clock: {
      sleep: (millis: number) => {
        pauses.push(millis);
        return Promise.resolve();
      },
    },
    protection: {
      protect: (table: string) => {
        asked.push(table);
        const next = told[Math.min(asked.length, told.length) - 1] ?? 'protected';
        return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
      },
    },
    answer: (url: string, answer: object) => {
      answers.push([url, answer]);
      return Promise.resolve();
    },
  } as unknown as ProtectionServices;
  return { services, asked, pauses, answers };
}

const request = (RequestType: string): object => ({
  RequestType,
  ResponseURL: 'https://answer.example.com/signed',
  StackId: 'stack',
  RequestId: 'request',
  LogicalResourceId: 'Protected',
  ResourceProperties: { ServiceToken: 'arn', TableName: 'Darkroom-table', Definition: 'ab12' },
});

it.each(['Create', 'Update'])('The request %s protects the table and is answered', async (type) => {
  const { services, asked, answers } = opened('protected');
  await protectTable(request(type), services);
  expect(asked).toEqual(['Darkroom-table']);
  expect(answers).toEqual([
    [
      'https://answer.example.com/signed',
      {
        StackId: 'stack',
        RequestId: 'request',
        LogicalResourceId: 'Protected',
        PhysicalResourceId: 'Darkroom-table',
        Status: 'SUCCESS',
        Reason: 'the table is protected',
      },
    ],
  ]);
});

it('A table that is being changed is tried again every ten seconds', async () => {
  const { services, asked, pauses, answers } = opened('busy', 'busy', 'protected');
  await protectTable(request('Create'), services);
  expect([asked.length, pauses]).toEqual([3, [10_000, 10_000]]);
  expect(answers[0]?.[1]).toMatchObject({ Status: 'SUCCESS' });
});

it('A table that stays busy fails the deployment after two minutes', async () => {
  const { services, asked, answers } = opened('busy');
  await protectTable(request('Create'), services);
  expect(asked).toHaveLength(12);
  expect(answers[0]?.[1]).toMatchObject({
    Status: 'FAILED',
    Reason: 'DynamoDB was changing the table for two minutes',
  });
});

it('A refusal fails the deployment with its reason, so that no deployment waits for its time limit', async () => {
  const { services, asked, answers } = opened(new Error('DynamoDB answered 400 AccessDeniedException'));
  await protectTable(request('Create'), services);
  expect(asked).toHaveLength(1);
  expect(answers[0]?.[1]).toMatchObject({
    Status: 'FAILED',
    Reason: 'DynamoDB answered 400 AccessDeniedException',
  });
});

it('The deletion of the stack leaves the table and its protection alone', async () => {
  const { services, asked, answers } = opened();
  await protectTable(request('Delete'), services);
  expect(asked).toEqual([]);
  expect(answers[0]?.[1]).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'Darkroom-table' });
});

const server = await recordingServer();

/** The operation and the input of each call so far. */
const calls = (): [operation: string, input: unknown][] =>
  server.received.map(({ headers, body }) => [
    String(headers['x-amz-target']).replace('DynamoDB_20120810.', ''),
    JSON.parse(body),
  ]);

/** Answers each operation with a status and a body. */
function answers(of: Readonly<Record<string, readonly [status: number, body: object]>>): void {
  server.answerBy((request, response) => {
    const operation = String(request.headers['x-amz-target']).replace('DynamoDB_20120810.', '');
    const [status, body] = of[operation] ?? [400, { __type: 'UnknownOperationException' }];
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(body));
  });
}

const protection = createTableProtection({
  region: 'eu-central-1',
  urlSuffix: 'amazonaws.com',
  accessKeyId: 'AKID',
  secretAccessKey: 'secret',
  sessionToken: 'token',
  endpoint: server.url(),
  clock: systemClock,
});

const unprotected = [200, { Table: { TableStatus: 'ACTIVE', DeletionProtectionEnabled: false } }] as const;

const refusal = (name: string) => [400, { __type: `com.amazonaws.dynamodb.v20120810#${name}` }] as const;

describe('the protection of a table', () => {
  it('A table without protection gets it by one signed UpdateTable that changes nothing else', async () => {
    answers({
      DescribeTable: unprotected,
      UpdateTable: [200, { TableDescription: { DeletionProtectionEnabled: true } }],
    });
    expect(await protection.protect('orders')).toBe('protected');
    expect(calls()).toEqual([
      ['DescribeTable', { TableName: 'orders' }],
      ['UpdateTable', { TableName: 'orders', DeletionProtectionEnabled: true }],
    ]);
    expect(server.received[1]?.headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-security-token': 'token',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/dynamodb\//,
      ) as string,
    });
  });

  it('A table with protection is left alone', async () => {
    answers({ DescribeTable: [200, { Table: { DeletionProtectionEnabled: true } }] });
    expect(await protection.protect('orders')).toBe('protected');
    expect(calls().map(([operation]) => operation)).toEqual(['DescribeTable']);
  });

  it.each(['ResourceInUseException', 'LimitExceededException', 'ThrottlingException'])(
    'The answer %s means that a later call may succeed',
    async (name) => {
      answers({ DescribeTable: unprotected, UpdateTable: refusal(name) });
      expect(await protection.protect('orders')).toBe('busy');
    },
  );

  it('Another refusal is thrown with its name', async () => {
    answers({ DescribeTable: refusal('AccessDeniedException') });
    await expect(protection.protect('orders')).rejects.toThrow(
      'DynamoDB answered 400 AccessDeniedException to DescribeTable',
    );
  });

  it('An answer without a name is thrown, too', async () => {
    answers({ DescribeTable: [403, {}] });
    await expect(protection.protect('orders')).rejects.toThrow('DynamoDB answered 403 without a name');
  });

  it('A protection that stays off is an error', async () => {
    answers({ DescribeTable: unprotected, UpdateTable: [200, { TableDescription: {} }] });
    await expect(protection.protect('orders')).rejects.toThrow('left the protection off');
  });
});

const store = createPageStore({
  clock: systemClock,
  bucket: 'pages',
  region: 'eu-central-1',
  urlSuffix: 'amazonaws.com',
  accessKeyId: 'AKID',
  secretAccessKey: 'secret',
  endpoint: server.url().replace(/\/$/, ''),
});

describe('the bucket of the pages', () => {
  it('A page is put, listed and removed under its name', async () => {
    server.answerBy((request, response) => {
      response.end(
        request.method === 'GET'
          ? '<ListBucketResult><Contents><Key>index.html</Key></Contents><Contents><Key>app-01.js</Key></Contents></ListBucketResult>'
          : '',
      );
    });
    await store.put('index.html', Buffer.from('text'), {
      contentType: 'text/html',
      cacheControl: 'no-cache',
    });
    expect(await store.list()).toEqual(['index.html', 'app-01.js']);
    await store.remove('index.html');
    expect(server.received.map(({ line }) => line)).toEqual([
      'PUT /pages/index.html',
      'GET /pages?list-type=2',
      'DELETE /pages/index.html',
    ]);
  });

  it('A refusal is thrown with the status and the page', async () => {
    server.answerBy((_request, response) => {
      response.writeHead(403).end('<Error/>');
    });
    await expect(store.remove('index.html')).rejects.toThrow(
      'the bucket of the pages answered 403 to DELETE index.html',
    );
  });
});
