import { SFNServiceException, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { creationToItem } from '../../adapters/dynamodb/mapping.ts';
import { aCreation } from '../fixtures/records.ts';
import { dynamo, stateMachine } from './api-fixture.ts';
import {
  body,
  cancelled,
  failedOn,
  mockAcceptingAws,
  submit,
  transactions,
  written,
} from './generate-image-fixture.ts';

const startFails = (name: string): void =>
  void stateMachine
    .on(StartExecutionCommand)
    .rejects(new SFNServiceException({ name, $fault: 'client', $metadata: {} }));

mockAcceptingAws();

describe('the start of an execution', () => {
  it.each(['ExecutionAlreadyExists', 'ThrottlingException', 'ExecutionLimitExceeded', 'InternalServerError'])(
    'A start that ends in %s leaves the creation accepted, and the reconciler starts it later',
    async (name) => {
      startFails(name);
      expect((await submit()).status).toBe(202);
      expect(transactions()).toHaveLength(1);
    },
  );

  it.each(['AccessDeniedException', 'StateMachineDoesNotExist', 'StateMachineDeleting'])(
    'A start that is refused for good by %s gives the charge back at once',
    async (name) => {
      startFails(name);
      const answer = await submit({ body: { ...body, webhook_url: 'https://1.1.1.1/hook' } });
      const id = transactions()[0]?.ClientRequestToken;
      expect(answer).toMatchObject({
        status: 503,
        body: {
          error: {
            code: 'ERR_PROVIDER_UNAVAILABLE',
            details: { reason: 'provider_unavailable', creation_id: id },
          },
        },
      });
      expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
      const [creation, account, key, ledger] = written(1).map(({ item }) => item);
      expect(JSON.stringify(creation)).toContain('"skipped"');
      expect(creation).toMatchObject({
        ConditionExpression: '#status IN (:queued, :processing)',
        ExpressionAttributeValues: { ':status': 'failed' },
      });
      expect(account).toMatchObject({
        UpdateExpression: 'SET availableMicros = availableMicros + :cost, inFlight = inFlight - :one',
        ExpressionAttributeValues: { ':cost': 40_000, ':one': 1 },
      });
      expect(key).toMatchObject({ ExpressionAttributeValues: { ':back': -40_000 } });
      expect(ledger).toMatchObject({
        Item: { kind: 'refund', amountMicros: 40_000, creationId: id, reason: 'ServiceUnavailable' },
      });
    },
  );

  const refusedAtTheRefund = (): void => {
    startFails('AccessDeniedException');
    dynamo
      .on(TransactWriteCommand)
      .resolvesOnce({})
      .rejects(cancelled({ 0: failedOn() }, 4));
  };

  it('A refused start leaves the creation accepted when an execution has completed it meanwhile', async () => {
    refusedAtTheRefund();
    dynamo.on(GetCommand).resolves({ Item: creationToItem(aCreation({ status: 'completed' })) });
    expect((await submit()).status).toBe(202);
  });

  it('A refused start is answered 503 when the charge was given back before', async () => {
    refusedAtTheRefund();
    dynamo
      .on(GetCommand)
      .resolves({ Item: creationToItem(aCreation({ status: 'failed', failure: 'ServiceUnavailable' })) });
    expect(await submit()).toMatchObject({
      status: 503,
      body: { error: { details: { reason: 'provider_unavailable' } } },
    });
  });

  it('A refused start leaves the creation accepted when it is unknown whether the charge was given back', async () => {
    startFails('AccessDeniedException');
    dynamo
      .on(TransactWriteCommand)
      .resolvesOnce({})
      .rejects(Object.assign(new Error('socket hang up'), { name: 'TimeoutError' }));
    expect((await submit()).status).toBe(202);
  });
});
