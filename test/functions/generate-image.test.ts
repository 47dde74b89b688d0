import { DynamoDBServiceException, TransactionCanceledException, type CancellationReason } from '@aws-sdk/client-dynamodb';
import { SFNServiceException, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { BatchGetCommand, GetCommand, TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { accountToItem, apiKeyToItem, creationToItem } from '../../adapters/dynamodb/mapping.ts';
import type { Item } from '../../adapters/dynamodb/table.ts';
import { imageRequestSchema, requestHash } from '../../core/image-request.ts';
import { asMicros } from '../../core/money.ts';
import { handler } from '../../functions/api/generate-image.ts';
import { aCreation, anAccount, anApiKey, creationId } from '../fixtures/records.ts';
import { bearer, call, dynamo, keysRead, keysUpdated, mockAws, stateMachine, tableHolds, type Answer } from './api-fixture.ts';

const body = { model: 'sandbox-standard', prompt: 'a quiet lake' };
const keyHash = createHash('sha256').update('order-7').digest('hex');
const hashOfBody = requestHash(imageRequestSchema.parse(body));

const submit = async (change: { body?: unknown; headers?: Record<string, string> } = {}): Promise<Answer> =>
  call(handler, { method: 'POST', path: '/api/public/v1/images/generate', body: change.body ?? body, headers: { ...bearer, ...change.headers } });

const withKey = { headers: { 'idempotency-key': 'order-7' } };

interface Written {
  readonly kind: 'Put' | 'Update';
  readonly sk: string;
  readonly item: Item;
}

function transactions(): TransactWriteCommandInput[] {
  return dynamo.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input);
}

/** The items of the nth transaction, each by what it writes. */
function written(index = 0): Written[] {
  return (transactions()[index]?.TransactItems ?? []).map(({ Put, Update }) => ({
    kind: Put ? 'Put' : 'Update',
    sk: String((Put?.Item ?? Update?.Key)?.['sk']),
    item: (Put ?? Update) as unknown as Item,
  }));
}

/** As DynamoDB cancels: one reason an item, "None" where its condition held. */
function cancelled(reasons: Readonly<Record<number, CancellationReason>>, count = 5): TransactionCanceledException {
  return new TransactionCanceledException({
    message: 'Transaction cancelled',
    $metadata: {},
    CancellationReasons: Array.from({ length: count }, (_, index) => reasons[index] ?? { Code: 'None' }),
  });
}

const failedOn = (item?: Item): CancellationReason => ({
  Code: 'ConditionalCheckFailed',
  ...(item && { Item: marshall(item, { removeUndefinedValues: true }) }),
});
const conflict = (): TransactionCanceledException => cancelled({ 0: { Code: 'TransactionConflict' } });
const startFails = (name: string): void => void stateMachine.on(StartExecutionCommand).rejects(new SFNServiceException({ name, $fault: 'client', $metadata: {} }));

mockAws();
beforeEach(() => {
  tableHolds();
  dynamo.on(TransactWriteCommand).resolves({});
  stateMachine.on(StartExecutionCommand).resolves({});
});

describe('POST /images/generate', () => {
  it('answers 202 with the creation, where to find it and when to look', async () => {
    const answer = await submit();
    const id = String(answer.body['id']);
    expect(answer).toMatchObject({
      status: 202,
      body: { status: 'queued', model: 'sandbox-standard', cost: 0.04, webhook: null },
      headers: { location: `/api/public/v1/creations/${id}`, 'retry-after': '2', 'x-request-id': 'request-1' },
    });
    expect(answer.headers['ratelimit']).toMatch(/^"post";r=59;/);
  });

  it('makes three calls: one read, one transaction, one start', async () => {
    await submit(withKey);
    expect(dynamo.calls().map(({ args }) => args[0].constructor.name)).toEqual(['BatchGetCommand', 'TransactWriteCommand']);
    expect(stateMachine.calls()).toHaveLength(1);
    expect(keysRead()).toEqual([
      'IP#203.0.113.7 BLOCK',
      'ACCOUNT#Acc0unt001 ACCOUNT',
      'ACCOUNT#Acc0unt001 KEY#Key001',
      expect.stringMatching(/^ACCOUNT#Acc0unt001 RATE#POST#\d+$/),
      `ACCOUNT#Acc0unt001 IDEMPOTENCY#${keyHash}`,
      'SERVICE SERVICE',
    ]);
  });

  it('starts the execution under the id of the creation, with nothing but that id', async () => {
    const id = String((await submit()).body['id']);
    expect(stateMachine.call(0).args[0].input).toEqual({
      stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:creation',
      name: id,
      input: `{"creation_id":"${id}"}`,
    });
  });
});

describe('the charge', () => {
  it('is five items, each with its conditions, under the id of the creation', async () => {
    const id = String((await submit()).body['id']);
    expect(transactions().map(({ ClientRequestToken: token }) => token)).toEqual([id]);
    expect(written().map(({ kind, sk }) => `${kind} ${sk.replace(/\d{5,}|20\d\d-.*Z/g, '…')}`)).toEqual([
      'Update ACCOUNT',
      'Update KEY#Key001',
      'Update RATE#POST#…',
      'Put CREATION',
      `Put LEDGER#…#charge#${id}`.replaceAll(/\d{5,}/g, '…'),
    ]);
    expect(written().map(({ item }) => item['ConditionExpression'])).toEqual([
      '#condition = :active AND availableMicros >= :cost AND inFlight < maxConcurrent',
      'attribute_exists(pk) AND attribute_not_exists(revokedAt) AND attribute_not_exists(monthlyCapMicros)',
      'attribute_not_exists(#count) OR #count < :limit',
      'attribute_not_exists(pk)',
      'attribute_not_exists(pk)',
    ]);
    expect(written().map(({ item }) => item['ReturnValuesOnConditionCheckFailure'])).toEqual(['ALL_OLD', 'ALL_OLD', undefined, undefined, undefined]);
  });

  it('takes the cost once from the account and once from the month of the key', async () => {
    await submit();
    const [account, key, rate, creation, ledger] = written().map(({ item }) => item);
    expect(account).toMatchObject({
      UpdateExpression: 'SET availableMicros = availableMicros - :cost, inFlight = inFlight + :one',
      ExpressionAttributeValues: { ':active': 'active', ':cost': 40_000, ':one': 1 },
    });
    const month = new Date().toISOString().slice(0, 7);
    expect(key).toMatchObject({
      UpdateExpression: 'ADD #spent :cost SET lastUsedAt = :hour',
      ExpressionAttributeNames: { '#spent': `spent_${month.replace('-', '_')}` },
      ExpressionAttributeValues: { ':cost': 40_000, ':hour': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/) as string },
    });
    expect(rate).toMatchObject({ ExpressionAttributeValues: { ':one': 1, ':limit': 60 } });
    expect(creation).toMatchObject({ Item: { costMicros: 40_000, status: 'queued', openShard: expect.stringMatching(/^OPEN#[0-3]$/) as string } });
    expect(ledger).toMatchObject({ Item: { kind: 'charge', amountMicros: -40_000, keyId: 'Key001', month: month.replace('-', '_') } });
  });

  it('with a cap on the key holds it to the cap that was read and to the room that is left', async () => {
    tableHolds({ apiKey: { monthlyCapMicros: asMicros(1_000_000) } });
    await submit();
    expect(written()[1]?.item).toMatchObject({
      ConditionExpression:
        'attribute_exists(pk) AND attribute_not_exists(revokedAt) AND monthlyCapMicros = :cap AND (attribute_not_exists(#spent) OR #spent <= :room)',
      ExpressionAttributeValues: { ':cap': 1_000_000, ':room': 960_000 },
    });
  });

  it('with an Idempotency-Key has a sixth item, which must be absent or expired', async () => {
    const id = String((await submit(withKey)).body['id']);
    expect(written()).toHaveLength(6);
    const { sk, item } = written()[5] ?? { sk: '', item: {} };
    expect(sk).toBe(`IDEMPOTENCY#${keyHash}`);
    expect(item).toMatchObject({
      ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      Item: { creationId: id, requestHash: hashOfBody },
    });
  });
});

describe('a conflict', () => {
  it('is sent again with the identical request and token', async () => {
    dynamo.on(TransactWriteCommand).rejectsOnce(conflict()).rejectsOnce(conflict()).resolves({});
    expect((await submit()).status).toBe(202);
    expect(transactions()).toHaveLength(3);
    expect(new Set(transactions().map((input) => JSON.stringify(input))).size).toBe(1);
  });

  it('that outlasts six tries is 503 overloaded, with nothing started', async () => {
    dynamo.on(TransactWriteCommand).rejects(conflict());
    const answer = await submit();
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'ERR_PROVIDER_UNAVAILABLE', details: { reason: 'overloaded' } } } });
    expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
    expect(transactions()).toHaveLength(6);
    expect(stateMachine.calls()).toHaveLength(0);
  });

  it('beside a failed condition is that condition: it would not clear by itself', async () => {
    dynamo.on(TransactWriteCommand).rejects(cancelled({ 0: failedOn(accountToItem(anAccount({ availableMicros: asMicros(1) }))), 2: { Code: 'TransactionConflict' } }));
    expect((await submit()).status).toBe(402);
    expect(transactions()).toHaveLength(1);
  });

  it.each(['ThrottlingException', 'ProvisionedThroughputExceededException', 'TransactionInProgressException', 'RequestLimitExceeded'])(
    'or %s is sent again, too',
    async (name) => {
      dynamo.on(TransactWriteCommand).rejectsOnce(new DynamoDBServiceException({ name, $fault: 'client', $metadata: {} })).resolves({});
      expect((await submit()).status).toBe(202);
    },
  );
});

describe('an outcome that stays unknown', () => {
  it.each<[string, Error]>([
    ['a broken connection', Object.assign(new Error('socket hang up 10.0.0.7'), { name: 'TimeoutError' })],
    ['a 5xx', new DynamoDBServiceException({ name: 'InternalServerError', message: 'shard 10.0.0.7', $fault: 'server', $metadata: { httpStatusCode: 500 } })],
    ['a cancellation for a reason of ours', cancelled({ 3: { Code: 'ValidationError', Message: 'item 10.0.0.7' } })],
  ])('by %s is 500 ERR_INTERNAL, says nothing of its cause and starts nothing', async (_what, error) => {
    dynamo.on(TransactWriteCommand).rejects(error);
    const answer = await submit();
    expect(answer).toMatchObject({ status: 500, body: { error: { code: 'ERR_INTERNAL', details: {} } } });
    expect(JSON.stringify(answer)).not.toMatch(/10\.0\.0\.7|socket|shard|item/);
    expect(stateMachine.calls()).toHaveLength(0);
  });
});

describe('a promise that stood against the charge', () => {
  const poor = accountToItem(anAccount({ availableMicros: asMicros(39_999) }));
  const full = accountToItem(anAccount({ inFlight: 20 }));
  const spent = apiKeyToItem(anApiKey({ monthlyCapMicros: asMicros(50_000), spent: { [new Date().toISOString().slice(0, 7).replace('-', '_')]: asMicros(20_000) } }));

  it.each<[string, Readonly<Record<number, CancellationReason>>, number, string, object]>([
    ['the balance', { 0: failedOn(poor) }, 402, 'ERR_INSUFFICIENT_BALANCE', { required: 0.04, available: 0.039999, currency: 'USD' }],
    ['the limit of open creations', { 0: failedOn(full) }, 429, 'ERR_QUOTA_EXCEEDED', { scope: 'account', reason: 'concurrent_creations', limit: 20, current: 20 }],
    ['the account, suspended meanwhile', { 0: failedOn(accountToItem(anAccount({ condition: 'suspended' }))) }, 403, 'ERR_API_SUSPENDED', { reason: 'api_suspended' }],
    ['the account, disabled meanwhile', { 0: failedOn(accountToItem(anAccount({ condition: 'disabled' }))) }, 403, 'ERR_ACCOUNT_DISABLED', { reason: 'account_disabled' }],
    ['the key, revoked meanwhile', { 1: failedOn(apiKeyToItem(anApiKey({ revokedAt: '2026' }))) }, 401, 'ERR_API_KEY_INVALID', { reason: 'api_key_invalid' }],
    ['the rate', { 2: failedOn() }, 429, 'ERR_RATE_LIMIT', { reason: 'account_rate' }],
    ['rate and balance: the rate comes first', { 0: failedOn(poor), 2: failedOn() }, 429, 'ERR_RATE_LIMIT', { reason: 'account_rate' }],
  ])('%s', async (_what, reasons, status, code, details) => {
    dynamo.on(TransactWriteCommand).rejects(cancelled(reasons));
    const answer = await submit();
    expect(answer).toMatchObject({ status, body: { error: { code, details } } });
    if (status === 429) expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
    expect(stateMachine.calls()).toHaveLength(0);
  });

  it('the budget of the key', async () => {
    tableHolds({ apiKey: { monthlyCapMicros: asMicros(50_000) } });
    dynamo.on(TransactWriteCommand).rejects(cancelled({ 1: failedOn(spent) }));
    expect(await submit()).toMatchObject({
      status: 402,
      body: { error: { code: 'ERR_INSUFFICIENT_BALANCE', details: { reason: 'monthly_budget_exceeded', cap: 0.05, spent: 0.02 } } },
    });
  });

  it('a cap that changed since it was read: the charge is built anew with it, under another id', async () => {
    const changed = apiKeyToItem(anApiKey({ monthlyCapMicros: asMicros(2_000_000) }));
    dynamo.on(TransactWriteCommand).rejectsOnce(cancelled({ 1: failedOn(changed) })).resolves({});
    expect((await submit()).status).toBe(202);
    expect(written(1)[1]?.item).toMatchObject({ ExpressionAttributeValues: { ':cap': 2_000_000, ':room': 1_960_000 } });
    expect(new Set(transactions().map(({ ClientRequestToken: token }) => token)).size).toBe(2);
  });
});

describe('an Idempotency-Key that was used before', () => {
  const record = (change: Item = {}): Item => ({
    pk: 'ACCOUNT#Acc0unt001',
    sk: `IDEMPOTENCY#${keyHash}`,
    creationId,
    requestHash: hashOfBody,
    expiresAt: Date.now() + 60_000,
    ...change,
  });

  it('gives the same creation in its current state, at the cost of one more read', async () => {
    tableHolds({ others: [record()] });
    dynamo.on(GetCommand).resolves({ Item: creationToItem(aCreation({ status: 'processing' })) });
    const answer = await submit(withKey);
    expect(answer).toMatchObject({ status: 202, body: { id: creationId, status: 'processing' }, headers: { 'idempotent-replayed': 'true' } });
    expect(transactions()).toEqual([]);
    expect(stateMachine.calls()).toHaveLength(0);
    expect(keysUpdated()).toEqual([expect.stringContaining('RATE#POST#')]);
  });

  it('is the same key in quotes', async () => {
    await submit({ headers: { 'idempotency-key': '"order-7"' } });
    expect(written()[5]?.sk).toBe(`IDEMPOTENCY#${keyHash}`);
  });

  it('for another request is refused', async () => {
    tableHolds({ others: [record({ requestHash: 'other' })] });
    dynamo.on(GetCommand).resolves({ Item: creationToItem(aCreation()) });
    expect(await submit(withKey)).toMatchObject({
      status: 400,
      body: { error: { code: 'ERR_INVALID_REQUEST', details: { reason: 'idempotency_key_mismatch' } } },
    });
    expect(transactions()).toEqual([]);
  });

  it('is free again when its creation failed, for as long as it still names that one', async () => {
    tableHolds({ others: [record({ requestHash: 'other' })] });
    dynamo.on(GetCommand).resolves({ Item: creationToItem(aCreation({ status: 'failed', failure: 'GenerationFailed' })) });
    expect((await submit(withKey)).status).toBe(202);
    expect(written()[5]?.item).toMatchObject({
      ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now OR creationId = :failed',
      ExpressionAttributeValues: { ':failed': creationId },
    });
  });

  it('is free again after 24 hours, though its item is still there', async () => {
    tableHolds({ others: [record({ expiresAt: Date.now() - 1 })] });
    expect((await submit(withKey)).status).toBe(202);
    expect(transactions()).toHaveLength(1);
  });

  it('by a request that arrived at the same time gives that one’s creation', async () => {
    dynamo.on(TransactWriteCommand).rejects(cancelled({ 5: failedOn(record()) }, 6));
    dynamo.on(GetCommand).resolves({ Item: creationToItem(aCreation()) });
    expect(await submit(withKey)).toMatchObject({ status: 202, body: { id: creationId }, headers: { 'idempotent-replayed': 'true' } });
    expect(stateMachine.calls()).toHaveLength(0);
  });

  it.each(['', 'ü', 'a'.repeat(256), 'a\tb'])('is refused when it is %j', async (key) => {
    expect(await submit({ headers: { 'idempotency-key': key } })).toMatchObject({
      status: 400,
      body: { error: { details: { errors: [{ field: 'Idempotency-Key' }] } } },
    });
    expect(transactions()).toEqual([]);
  });
});

describe('the start', () => {
  it.each(['ExecutionAlreadyExists', 'ThrottlingException', 'ExecutionLimitExceeded', 'InternalServerError'])(
    'that ends in %s leaves the creation accepted: the reconciler sees to it',
    async (name) => {
      startFails(name);
      expect((await submit()).status).toBe(202);
      expect(transactions()).toHaveLength(1);
    },
  );

  it.each(['AccessDeniedException', 'StateMachineDoesNotExist', 'StateMachineDeleting'])('that is refused for good by %s gives the charge back at once', async (name) => {
    startFails(name);
    const answer = await submit({ body: { ...body, webhook_url: 'https://1.1.1.1/hook' } });
    const id = transactions()[0]?.ClientRequestToken;
    expect(answer).toMatchObject({
      status: 503,
      body: { error: { code: 'ERR_PROVIDER_UNAVAILABLE', details: { reason: 'provider_unavailable', creation_id: id } } },
    });
    expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
    const [creation, account, key, ledger] = written(1).map(({ item }) => item);
    expect(JSON.stringify(creation)).toContain('"skipped"');
    expect(creation).toMatchObject({ ConditionExpression: '#status IN (:queued, :processing)', ExpressionAttributeValues: { ':status': 'failed' } });
    expect(account).toMatchObject({
      UpdateExpression: 'SET availableMicros = availableMicros + :cost, inFlight = inFlight - :one',
      ExpressionAttributeValues: { ':cost': 40_000, ':one': 1 },
    });
    expect(key).toMatchObject({ ExpressionAttributeValues: { ':back': -40_000 } });
    expect(ledger).toMatchObject({ Item: { kind: 'refund', amountMicros: 40_000, creationId: id, reason: 'ServiceUnavailable' } });
  });
});

describe('a request that will be refused', () => {
  it.each<[string, object, Parameters<typeof tableHolds>[0], number, object]>([
    ['an unknown model', { ...body, model: 'sandbox-none' }, {}, 404, { code: 'ERR_MODEL_NOT_FOUND' }],
    ['a hidden model', body, { account: { policy: { providers: 'all', hiddenModels: ['sandbox-standard'] } } }, 404, { code: 'ERR_MODEL_NOT_FOUND' }],
    ['a size that no route renders', { ...body, resolution: '4K' }, {}, 400, { details: { reason: 'provider_policy_no_route' } }],
    [
      'no provider',
      body,
      { account: { policy: { providers: [], hiddenModels: [] } } },
      503,
      { code: 'ERR_PROVIDER_UNAVAILABLE', details: { reason: 'no_provider_enabled' } },
    ],
    ['a webhook to a private address', { ...body, webhook_url: 'https://10.0.0.7/' }, {}, 400, { details: { errors: [{ field: 'webhook_url', code: 'refused_target' }] } }],
    ['a webhook over http', { ...body, webhook_url: 'http://1.1.1.1/' }, {}, 400, { details: { errors: [{ field: 'webhook_url' }] } }],
    ['too little money', body, { account: { availableMicros: asMicros(0) } }, 402, { code: 'ERR_INSUFFICIENT_BALANCE' }],
    ['an account that is full', body, { account: { inFlight: 20 } }, 429, { code: 'ERR_QUOTA_EXCEEDED', details: { scope: 'account' } }],
    [
      'a service that is full',
      body,
      { others: [{ pk: 'SERVICE', sk: 'SERVICE', openCreations: 2_000 }] },
      429,
      { code: 'ERR_QUOTA_EXCEEDED', details: { scope: 'service', reason: 'capacity', limit: 2_000 } },
    ],
    ['a budget that is used up', body, { apiKey: { monthlyCapMicros: asMicros(39_999) } }, 402, { details: { reason: 'monthly_budget_exceeded' } }],
  ])('for %s costs nothing but its place in the rate', async (_what, sent, stored, status, error) => {
    tableHolds(stored);
    expect(await submit({ body: sent })).toMatchObject({ status, body: { error } });
    expect(transactions()).toEqual([]);
    expect(dynamo.commandCalls(BatchGetCommand)).toHaveLength(1);
    expect(keysUpdated()).toEqual([expect.stringContaining('RATE#POST#')]);
  });

  it.each<[string, unknown, Record<string, string>, string, string]>([
    ['text that is no JSON', '{"model":', {}, 'body', 'invalid_json'],
    ['a JSON array', [], {}, 'body', 'invalid_type'],
    ['JSON null', 'null', {}, 'body', 'invalid_type'],
    ['another content type', body, { 'content-type': 'text/plain' }, 'Content-Type', 'invalid_value'],
    ['more than 256 KiB', { ...body, prompt: 'x'.repeat(262_145) }, {}, 'body', 'too_long'],
    ['no prompt', { model: 'sandbox-standard' }, {}, 'prompt', 'required'],
  ])('for %s names the field', async (_what, sent, headers, field, code) => {
    const answer = await submit({ body: sent, headers });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'ERR_INVALID_REQUEST', details: { errors: [{ field, code }] } } } });
    expect(transactions()).toEqual([]);
  });
});
