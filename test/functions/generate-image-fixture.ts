/** POST /images/generate over AWS clients that accept everything until a test says otherwise, and what was written. */
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

/** What is sent unless a test gives another. */
export const body = { model: 'sandbox-standard', prompt: 'a quiet lake' };
/** By which a key that is used again tells the same request. */
export const hashOfBody = requestHash(imageRequestSchema.parse(body));

/** For submit: an Idempotency-Key. */
export const withKey = { headers: { 'idempotency-key': 'order-7' } };
/** The hash of that key, under which its item is kept. */
export const keyHash = createHash('sha256').update('order-7').digest('hex');

/** For a test file: as mockAws, and before each test the table holds an account with a key and takes every charge, and every execution starts. */
export function mockAcceptingAws(): void {
  mockAws();
  beforeEach(() => {
    tableHolds();
    dynamo.on(TransactWriteCommand).resolves({});
    stateMachine.on(StartExecutionCommand).resolves({});
  });
}

/** Sends body with the key of the account, or what a test changes of that. */
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

/** Every transaction that was sent, in order, those that were sent again too. */
export function transactions(): TransactWriteCommandInput[] {
  return dynamo.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input);
}

/** The items of the nth transaction, each by what it writes. */
export function written(index = 0): Written[] {
  return (transactions()[index]?.TransactItems ?? []).map(({ Put, Update }) => ({
    kind: Put ? 'Put' : 'Update',
    sk: String((Put?.Item ?? Update?.Key)?.['sk']),
    item: (Put ?? Update) as unknown as Item,
  }));
}

/** As DynamoDB cancels: one reason an item, "None" where its condition held. */
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

/** A condition that did not hold, on the item as it stood there. */
export const failedOn = (item?: Item): CancellationReason => ({
  Code: 'ConditionalCheckFailed',
  ...(item && { Item: marshall(item, { removeUndefinedValues: true }) }),
});
