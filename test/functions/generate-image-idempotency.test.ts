import { GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { creationToItem } from '../../adapters/dynamodb/mapping.ts';
import type { Item } from '../../adapters/dynamodb/table.ts';
import { aCreation, creationId } from '../fixtures/records.ts';
import { dynamo, keysUpdated, stateMachine, tableHolds } from './api-fixture.ts';
import {
  cancelled,
  failedOn,
  hashOfBody,
  keyHash,
  mockAcceptingAws,
  submit,
  transactions,
  withKey,
  written,
} from './generate-image-fixture.ts';

mockAcceptingAws();

describe('an Idempotency-Key that was used before', () => {
  const record = (change: Item = {}): Item => ({
    pk: 'ACCOUNT#Acc0unt001',
    sk: `IDEMPOTENCY#${keyHash}`,
    creationId,
    requestHash: hashOfBody,
    expiresAt: Date.now() + 60_000,
    ...change,
  });

  it('A second request with the key gets the same creation in its current state, at the cost of one more read', async () => {
    tableHolds({ others: [record()] });
    dynamo.on(GetCommand).resolves({ Item: creationToItem(aCreation({ status: 'processing' })) });
    const answer = await submit(withKey);
    expect(answer).toMatchObject({
      status: 202,
      body: { id: creationId, status: 'processing' },
      headers: { 'idempotent-replayed': 'true' },
    });
    expect(transactions()).toEqual([]);
    expect(stateMachine.calls()).toHaveLength(0);
    expect(keysUpdated()).toEqual([expect.stringContaining('RATE#POST#')]);
  });

  it('The key in quotes is the same key', async () => {
    await submit({ headers: { 'idempotency-key': '"order-7"' } });
    expect(written()[5]?.sk).toBe(`IDEMPOTENCY#${keyHash}`);
  });

  it('Another request with the key is refused', async () => {
    tableHolds({ others: [record({ requestHash: 'other' })] });
    dynamo.on(GetCommand).resolves({ Item: creationToItem(aCreation()) });
    expect(await submit(withKey)).toMatchObject({
      status: 400,
      body: { error: { code: 'ERR_INVALID_REQUEST', details: { reason: 'idempotency_key_mismatch' } } },
    });
    expect(transactions()).toEqual([]);
  });

  it('The key is free again when its creation failed, for as long as the record names that creation', async () => {
    tableHolds({ others: [record({ requestHash: 'other' })] });
    dynamo
      .on(GetCommand)
      .resolves({ Item: creationToItem(aCreation({ status: 'failed', failure: 'GenerationFailed' })) });
    expect((await submit(withKey)).status).toBe(202);
    expect(written()[5]?.item).toMatchObject({
      ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now OR creationId = :failed',
      ExpressionAttributeValues: { ':failed': creationId },
    });
  });

  it('The key is free again after 24 hours, even if its record still exists', async () => {
    tableHolds({ others: [record({ expiresAt: Date.now() - 1 })] });
    expect((await submit(withKey)).status).toBe(202);
    expect(transactions()).toHaveLength(1);
  });

  it('A request that loses the race for the key gets the creation of the request that won', async () => {
    dynamo.on(TransactWriteCommand).rejects(cancelled({ 5: failedOn(record()) }, 6));
    dynamo.on(GetCommand).resolves({ Item: creationToItem(aCreation()) });
    expect(await submit(withKey)).toMatchObject({
      status: 202,
      body: { id: creationId },
      headers: { 'idempotent-replayed': 'true' },
    });
    expect(stateMachine.calls()).toHaveLength(0);
  });

  it.each(['', 'ü', 'a'.repeat(256), 'a\tb'])('The key %j is refused', async (key) => {
    expect(await submit({ headers: { 'idempotency-key': key } })).toMatchObject({
      status: 400,
      body: { error: { details: { errors: [{ field: 'Idempotency-Key' }] } } },
    });
    expect(transactions()).toEqual([]);
  });
});
