import { ConditionalCheckFailedException, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../core/ids.ts';
import { handler } from '../../functions/operations/get-creation.ts';
import { handler as unknownRoute } from '../../functions/operations/unknown-route.ts';
import { aCompletedCreation, aCreation, creationId, now } from '../fixtures/records.ts';
import {
  call,
  dynamo,
  keysRead,
  keysUpdated,
  mockAws,
  storedItems,
  tableHolds,
  tableName,
} from './api-fixture.ts';

const poll = { path: `/api/public/v1/creations/${creationId}`, id: creationId };
const refused = new ConditionalCheckFailedException({
  message: 'The conditional request failed',
  $metadata: {},
});

mockAws();

describe('GET /creations/{id}', () => {
  it('The answer has the creation and what is left of the rate', async () => {
    tableHolds({ creation: aCompletedCreation({ resultsExpireAt: Date.now() + 60_000 }) });
    const answer = await call(handler, poll);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        id: creationId,
        status: 'completed',
        result_urls: ['https://results.test/results/unguessable.png'],
      },
      headers: {
        'cache-control': 'no-store',
        'content-type': 'application/json',
        'x-request-id': 'request-1',
        'ratelimit-policy': '"get";q=600;w=60',
      },
    });
    expect(answer.headers['ratelimit']).toMatch(/^"get";r=599;t=\d+$/);
  });

  it.each([
    ['queued', '2'],
    ['processing', '2'],
    ['completed', undefined],
    ['failed', undefined],
  ] as const)('The answer for a creation that is %s has the Retry-After %j', async (status, retryAfter) => {
    tableHolds({
      creation: aCreation({
        status,
        ...(retryAfter === undefined && { completedAt: new Date(now).toISOString() }),
        ...(status === 'failed' && { failure: 'GenerationFailed' as const }),
      }),
    });
    expect((await call(handler, poll)).headers['retry-after']).toBe(retryAfter);
  });

  it('The Retry-After of a running creation follows from the usual time of its route, without a further read', async () => {
    const startedAt = new Date(Date.now() - 20_500).toISOString();
    const attempt = { provider: 'fal', providerModel: 'flux', startedAt, resultKey: 'results/a.png' };
    tableHolds({
      creation: aCreation({
        status: 'processing',
        deadlineAt: Date.now() + 300_000,
        attempts: [{ ...attempt, usualMillis: 36_000 }],
      }),
    });
    expect((await call(handler, poll)).headers['retry-after']).toBe('7');
    expect(dynamo.commandCalls(BatchGetCommand)).toHaveLength(1);
  });

  it('The request makes two calls in sequence: one read, then the poll stamp, the count and the hourly use of the key in parallel', async () => {
    tableHolds({ creation: aCreation() });
    await call(handler, poll);
    expect(dynamo.commandCalls(BatchGetCommand)).toHaveLength(1);
    expect(keysRead()).toContain(`CREATION#${creationId} CREATION`);
    expect(keysUpdated().sort()).toEqual([
      'ACCOUNT#Acc0unt001 KEY#Key001',
      expect.stringContaining('ACCOUNT#Acc0unt001 RATE#GET#'),
      `CREATION#${creationId} POLL`,
    ]);
  });

  it('An absent creation, a foreign creation and a malformed id get the same answer, byte for byte', async () => {
    tableHolds();
    const absent = await call(handler, poll);
    tableHolds({ creation: aCreation({ accountId: 'Another001' as AccountId }) });
    const foreign = await call(handler, poll);
    const malformed = await call(handler, { path: '/api/public/v1/creations/nonsense', id: 'nonsense' });
    expect(absent).toMatchObject({ status: 404, body: { error: { code: 'ERR_NOT_FOUND', details: {} } } });
    expect(foreign).toEqual(absent);
    expect(malformed).toEqual(absent);
    expect(keysUpdated()).not.toContain(`CREATION#${creationId} POLL`);
  });

  it('An id in upper case finds the creation', async () => {
    tableHolds({ creation: aCreation() });
    expect((await call(handler, { ...poll, id: creationId.toUpperCase() })).status).toBe(200);
  });

  it('A second poll within a second is refused with Retry-After', async () => {
    tableHolds({ creation: aCreation() });
    dynamo.on(UpdateCommand, { Key: { pk: `CREATION#${creationId}`, sk: 'POLL' } }).rejects(refused);
    expect(await call(handler, poll)).toMatchObject({
      status: 429,
      body: { error: { code: 'ERR_RATE_LIMIT', details: { reason: 'poll_interval' } } },
      headers: { 'retry-after': '1' },
    });
  });

  it('A request above the rate of the account is refused until the next minute', async () => {
    tableHolds({
      creation: aCreation(),
      account: {
        limits: { postRate: 60, getRate: 5, maxConcurrent: 20, deadlineSeconds: 300, maxUnusedUploads: 100 },
      },
    });
    dynamo
      .on(UpdateCommand)
      .callsFake(async ({ Key }: { Key: { sk: string } }) =>
        Key.sk === 'POLL' ? Promise.resolve({}) : Promise.reject(refused),
      );
    const answer = await call(handler, poll);
    expect(answer).toMatchObject({
      status: 429,
      body: { error: { code: 'ERR_RATE_LIMIT', details: { reason: 'account_rate', limit: 5 } } },
    });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(answer.headers['ratelimit']).toMatch(/^"get";r=0;/);
  });
});

describe('a read that DynamoDB did not finish', () => {
  it('Only the missing items are read again', async () => {
    const [account, apiKey, creation] = storedItems({ creation: aCreation() });
    dynamo.on(UpdateCommand).resolves({});
    dynamo
      .on(BatchGetCommand)
      .resolvesOnce({
        Responses: { [tableName]: [account ?? {}, creation ?? {}] },
        UnprocessedKeys: { [tableName]: { Keys: [{ pk: apiKey?.['pk'], sk: apiKey?.['sk'] }] } },
      })
      .resolves({ Responses: { [tableName]: [apiKey ?? {}] } });
    expect((await call(handler, poll)).status).toBe(200);
    expect(keysRead(1)).toEqual(['ACCOUNT#Acc0unt001 KEY#Key001']);
  });

  it('The answer is 503 after the last try, and never treats an unread key or creation as absent', async () => {
    const items = storedItems({ creation: aCreation() });
    const Keys = items.slice(1).map(({ pk, sk }) => ({ pk, sk }));
    dynamo.on(BatchGetCommand).resolves({
      Responses: { [tableName]: items.slice(0, 1) },
      UnprocessedKeys: { [tableName]: { Keys } },
    });
    const answer = await call(handler, poll);
    expect(answer).toMatchObject({
      status: 503,
      body: { error: { code: 'ERR_PROVIDER_UNAVAILABLE', details: { reason: 'overloaded' } } },
    });
    expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
    expect(dynamo.commandCalls(BatchGetCommand)).toHaveLength(4);
    expect(keysUpdated()).toEqual([]);
  });

  it.each(['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'])(
    'The answer is 503 when the read was throttled by %s',
    async (name) => {
      dynamo
        .on(BatchGetCommand)
        .rejects(new DynamoDBServiceException({ name, $fault: 'client', $metadata: {} }));
      expect((await call(handler, poll)).status).toBe(503);
    },
  );

  it('The answer is 500 for any other error, and says nothing of the cause', async () => {
    dynamo.on(BatchGetCommand).rejects(new Error('arn:aws:iam::123456789012:role/secret is not authorized'));
    const answer = await call(handler, poll);
    expect(answer).toMatchObject({
      status: 500,
      body: { error: { code: 'ERR_INTERNAL', details: {} } },
      headers: { 'x-request-id': 'request-1' },
    });
    expect(JSON.stringify(answer)).not.toMatch(/arn|authorized|role/);
  });
});

describe('a request to an unknown route', () => {
  it('An unknown path is answered 404', async () => {
    tableHolds();
    const answer = await call(unknownRoute, { path: '/api/public/v1/nothing' });
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'ERR_NOT_FOUND' } } });
    expect(answer.headers).not.toHaveProperty('allow');
  });

  it('A wrong method is answered 404 with Allow', async () => {
    tableHolds();
    const answer = await call(unknownRoute, { method: 'POST', path: poll.path });
    expect(answer).toMatchObject({
      status: 404,
      body: { error: { code: 'ERR_NOT_FOUND' } },
      headers: { allow: 'GET' },
    });
    expect(keysUpdated()).toEqual([expect.stringContaining('RATE#POST#')]);
  });

  it('A GET is counted against the rate of GET requests', async () => {
    tableHolds();
    await call(unknownRoute, { path: '/api/public/v1/nothing' });
    expect(keysUpdated()).toContainEqual(expect.stringContaining('RATE#GET#'));
  });

  it('A request without a key is answered 401 before 404', async () => {
    tableHolds();
    expect((await call(unknownRoute, { path: '/api/public/v1/nothing', headers: {} })).status).toBe(401);
  });
});
