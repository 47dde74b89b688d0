/** POST /images/generate over mocked AWS clients that accept every call unless a test says otherwise. */
import { TransactionCanceledException, type CancellationReason } from '@aws-sdk/client-dynamodb';
import { StartExecutionCommand } from '@aws-sdk/client-sfn';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { createHash } from 'node:crypto';
import { beforeEach } from 'vitest';
import type { Item } from '../../adapters/dynamodb/table.ts';
import { imageRequestSchema, requestHash } from '../../core/image-request.ts';
import { handler } from '../../functions/operations/generate-image.ts';
import { bearer, call, dynamo, mockAws, stateMachine, tableHolds, type Answer } from './api-fixture.ts';

/** The body of a request unless a test gives another body. */
export const body = { model: 'sandbox-standard', prompt: 'a quiet lake' };
/** The hash by which an Idempotency-Key recognises the same request. */
export const hashOfBody = requestHash(imageRequestSchema.parse(body));

/** An argument of submit that adds an Idempotency-Key. */
export const withKey = { headers: { 'idempotency-key': 'order-7' } };
/** The hash of that key. The table keeps the key's item under this hash. */
export const keyHash = createHash('sha256').update('order-7').digest('hex');

/**
 * Mocks the AWS clients for one test file. Before each test, the table holds an account with a key and
 * accepts every charge, and every execution starts.
 */
export function mockAcceptingAws(): void {
  mockAws();
  beforeEach(() => {
    tableHolds();
    dynamo.on(TransactWriteCommand).resolves({});
    stateMachine.on(StartExecutionCommand).resolves({});
  });
}

/** Sends the body with the account's key. A test can change the body and add headers. */
export const submit = async (
  change: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> =>
  call(handler, {
    method: 'POST',
    path: '/api/public/v1/images/generate',
    body: change.body ?? body,
    headers: { ...bearer, ...change.headers },
  });

interface Written {
  readonly kind: 'Put' | 'Update';
  readonly sk: string;
  readonly item: Item;
}

/** Every transaction that was sent, in order, including the retries. */
export function transactions(): TransactWriteCommandInput[] {
  return dynamo.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input);
}

/** The writes of the nth transaction. */
export function written(index = 0): Written[] {
  return (transactions()[index]?.TransactItems ?? []).map(({ Put, Update }) => ({
    kind: Put ? 'Put' : 'Update',
    sk: String((Put?.Item ?? Update?.Key)?.['sk']),
    item: (Put ?? Update) as unknown as Item,
  }));
}

/** The error of a cancelled transaction: one reason for each item, "None" where the condition held. */
export function cancelled(
  reasons: Readonly<Record<number, CancellationReason>>,
  count = 5,
): TransactionCanceledException {
  return new TransactionCanceledException({
    message: 'Transaction cancelled',
    $metadata: {},
    CancellationReasons: Array.from({ length: count }, (_, index) => reasons[index] ?? { Code: 'None' }),
  });
}

/** The reason of an item whose condition did not hold, with the item as it is stored. */
export const failedOn = (item?: Item): CancellationReason => ({
  Code: 'ConditionalCheckFailed',
  ...(item && { Item: marshall(item, { removeUndefinedValues: true }) }),
});
