import {
  DynamoDBServiceException,
  type CancellationReason,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { accountToItem, apiKeyToItem } from '../../adapters/dynamodb/mapping.ts';
import { asMicros } from '../../core/money.ts';
import { anAccount, anApiKey } from '../fixtures/records.ts';
import { dynamo, stateMachine, tableHolds } from './api-fixture.ts';
import {
  cancelled,
  failedOn,
  mockAcceptingAws,
  submit,
  transactions,
  written,
} from './generate-image-fixture.ts';

const conflict = (): TransactionCanceledException => cancelled({ 0: { Code: 'TransactionConflict' } });

mockAcceptingAws();

describe('a charge that meets a conflict', () => {
  it('The charge is sent again as the identical request with the identical token', async () => {
    dynamo.on(TransactWriteCommand).rejectsOnce(conflict()).rejectsOnce(conflict()).resolves({});
    expect((await submit()).status).toBe(202);
    expect(transactions()).toHaveLength(3);
    expect(new Set(transactions().map((input) => JSON.stringify(input))).size).toBe(1);
  });

  it('Ten conflicts in a row are answered 503 overloaded, and nothing is started', async () => {
    dynamo.on(TransactWriteCommand).rejects(conflict());
    const answer = await submit();
    expect(answer).toMatchObject({
      status: 503,
      body: { error: { code: 'ERR_PROVIDER_UNAVAILABLE', details: { reason: 'overloaded' } } },
    });
    expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
    expect(transactions()).toHaveLength(10);
    expect(stateMachine.calls()).toHaveLength(0);
  });

  it('A failed condition decides, even if another item met a conflict, because a retry would not clear it', async () => {
    dynamo.on(TransactWriteCommand).rejects(
      cancelled({
        0: failedOn(accountToItem(anAccount({ availableMicros: asMicros(1) }))),
        2: { Code: 'TransactionConflict' },
      }),
    );
    expect((await submit()).status).toBe(402);
    expect(transactions()).toHaveLength(1);
  });

  it.each([
    'ThrottlingException',
    'ProvisionedThroughputExceededException',
    'TransactionInProgressException',
    'RequestLimitExceeded',
  ])('The charge is also sent again after %s', async (name) => {
    dynamo
      .on(TransactWriteCommand)
      .rejectsOnce(new DynamoDBServiceException({ name, $fault: 'client', $metadata: {} }))
      .resolves({});
    expect((await submit()).status).toBe(202);
  });
});

describe('a charge whose outcome stays unknown', () => {
  it.each<[string, Error]>([
    ['a broken connection', Object.assign(new Error('socket hang up 10.0.0.7'), { name: 'TimeoutError' })],
    [
      'a 5xx',
      new DynamoDBServiceException({
        name: 'InternalServerError',
        message: 'shard 10.0.0.7',
        $fault: 'server',
        $metadata: { httpStatusCode: 500 },
      }),
    ],
    [
      'a cancellation for a reason of ours',
      cancelled({ 3: { Code: 'ValidationError', Message: 'item 10.0.0.7' } }),
    ],
  ])(
    'A charge that ended with %s is answered 500 ERR_INTERNAL without its cause, and starts nothing',
    async (_what, error) => {
      dynamo.on(TransactWriteCommand).rejects(error);
      const answer = await submit();
      expect(answer).toMatchObject({ status: 500, body: { error: { code: 'ERR_INTERNAL', details: {} } } });
      expect(JSON.stringify(answer)).not.toMatch(/10\.0\.0\.7|socket|shard|item/);
      expect(stateMachine.calls()).toHaveLength(0);
    },
  );
});

describe('a condition of the charge that did not hold', () => {
  const poor = accountToItem(anAccount({ availableMicros: asMicros(39_999) }));
  const full = accountToItem(anAccount({ inFlight: 20 }));
  const spent = apiKeyToItem(
    anApiKey({
      monthlyCapMicros: asMicros(50_000),
      spent: { [new Date().toISOString().slice(0, 7).replace('-', '_')]: asMicros(20_000) },
    }),
  );

  it.each<[string, Readonly<Record<number, CancellationReason>>, number, string, object]>([
    [
      'the balance',
      { 0: failedOn(poor) },
      402,
      'ERR_INSUFFICIENT_BALANCE',
      { required: 0.04, available: 0.039999, currency: 'USD' },
    ],
    [
      'the limit of open creations',
      { 0: failedOn(full) },
      429,
      'ERR_QUOTA_EXCEEDED',
      { scope: 'account', reason: 'concurrent_creations', limit: 20, current: 20 },
    ],
    [
      'the account, suspended meanwhile',
      { 0: failedOn(accountToItem(anAccount({ condition: 'suspended' }))) },
      403,
      'ERR_API_SUSPENDED',
      { reason: 'api_suspended' },
    ],
    [
      'the account, disabled meanwhile',
      { 0: failedOn(accountToItem(anAccount({ condition: 'disabled' }))) },
      403,
      'ERR_ACCOUNT_DISABLED',
      { reason: 'account_disabled' },
    ],
    [
      'the key, revoked meanwhile',
      { 1: failedOn(apiKeyToItem(anApiKey({ revokedAt: '2026' }))) },
      401,
      'ERR_API_KEY_INVALID',
      { reason: 'api_key_invalid' },
    ],
    ['the rate', { 2: failedOn() }, 429, 'ERR_RATE_LIMIT', { reason: 'account_rate' }],
    [
      'rate and balance: the rate comes first',
      { 0: failedOn(poor), 2: failedOn() },
      429,
      'ERR_RATE_LIMIT',
      { reason: 'account_rate' },
    ],
  ])('The refusal names the condition that failed: %s', async (_what, reasons, status, code, details) => {
    dynamo.on(TransactWriteCommand).rejects(cancelled(reasons));
    const answer = await submit();
    expect(answer).toMatchObject({ status, body: { error: { code, details } } });
    if (status === 429) expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
    expect(stateMachine.calls()).toHaveLength(0);
  });

  it('The refusal names the budget of the key', async () => {
    tableHolds({ apiKey: { monthlyCapMicros: asMicros(50_000) } });
    dynamo.on(TransactWriteCommand).rejects(cancelled({ 1: failedOn(spent) }));
    expect(await submit()).toMatchObject({
      status: 402,
      body: {
        error: {
          code: 'ERR_INSUFFICIENT_BALANCE',
          details: { reason: 'monthly_budget_exceeded', cap: 0.05, spent: 0.02 },
        },
      },
    });
  });

  it('A cap that changed since the read makes a new charge with the new cap under another id', async () => {
    const changed = apiKeyToItem(anApiKey({ monthlyCapMicros: asMicros(2_000_000) }));
    dynamo
      .on(TransactWriteCommand)
      .rejectsOnce(cancelled({ 1: failedOn(changed) }))
      .resolves({});
    expect((await submit()).status).toBe(202);
    expect(written(1)[1]?.item).toMatchObject({
      ExpressionAttributeValues: { ':monthlyCapMicros': 2_000_000, ':monthRoom': 1_960_000 },
    });
    expect(new Set(transactions().map(({ ClientRequestToken: token }) => token)).size).toBe(2);
  });
});
