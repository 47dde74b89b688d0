/** The requests of webhook attempts. */
import { createDeliveryStore } from '../../../../adapters/dynamodb/delivery-store.ts';
import { accountId, creationId, now, aCreation } from '../../../fixtures/records.ts';
import { describeRequests, delivery, nowSeconds, type Row } from './recorder.ts';

const rows: readonly Row[] = [
  [
    'A first webhook attempt',
    (table) =>
      createDeliveryStore(table).claim({ delivery, body: '{}', nextAt: now + 9_000, nowMillis: now }),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          UpdateExpression:
            'SET webhook.attempts = :attempt, webhook.nextAt = :next, webhook.claimedBy = :id, webhook.body = if_not_exists(webhook.body, :body)',
          ConditionExpression:
            'webhook.#status = :pending AND webhook.attempts = :before AND webhook.nextAt <= :now',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: {
            ':pending': 'pending',
            ':before': 0,
            ':attempt': 1,
            ':now': now,
            ':next': now + 9_000,
            ':id': '019aa5a0-1000-7000-8000-000000000001',
            ':body': '{}',
          },
        },
      ],
      [
        'PutCommand',
        {
          TableName: 'table',
          Item: {
            pk: 'ACCOUNT#Acc0unt001',
            sk: 'DELIVERY#2026-11-21T12:00:30.000Z#019aa5a0-1000-7000-8000-000000000001',
            id: '019aa5a0-1000-7000-8000-000000000001',
            accountId: accountId,
            creationId: creationId,
            event: 'creation.completed',
            url: 'https://receiver.test/ok',
            attempt: 1,
            startedAt: '2026-11-21T12:00:30.000Z',
            expiresAtSeconds: nowSeconds + 2592000,
          },
        },
      ],
    ],
  ],
  [
    'The end of an attempt that another one follows',
    (table) => createDeliveryStore(table).settle({ ...delivery, outcome: 'failed' }, { at: now + 9_000 }),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          UpdateExpression: 'SET webhook.nextAt = :next, openShard = :shard, dueAt = :due',
          ConditionExpression: 'webhook.#status = :pending AND webhook.attempts = :attempt',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: {
            ':pending': 'pending',
            ':attempt': 1,
            ':next': now + 9_000,
            ':shard': 'WEBHOOK#2',
            ':due': now + 39_000,
          },
        },
      ],
      [
        'PutCommand',
        {
          TableName: 'table',
          Item: {
            pk: 'ACCOUNT#Acc0unt001',
            sk: 'DELIVERY#2026-11-21T12:00:30.000Z#019aa5a0-1000-7000-8000-000000000001',
            id: '019aa5a0-1000-7000-8000-000000000001',
            accountId: accountId,
            creationId: creationId,
            event: 'creation.completed',
            url: 'https://receiver.test/ok',
            attempt: 1,
            startedAt: '2026-11-21T12:00:30.000Z',
            outcome: 'failed',
            nextAttemptAt: '2026-11-21T12:00:39.000Z',
            expiresAtSeconds: nowSeconds + 2592000,
          },
        },
      ],
    ],
  ],
  [
    'A reopened webhook',
    (table) => createDeliveryStore(table).reopen(aCreation({ executions: 3 }), now),
    [
      [
        'TransactWriteCommand',
        {
          ClientRequestToken: '01a1fdfa-bb30-7607-8809-0a0b0c0d0e0f',
          TransactItems: [
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
                UpdateExpression:
                  'SET webhook.#status = :pending, webhook.attempts = :zero, webhook.nextAt = :now, openShard = :shard, dueAt = :due, executions = :execution, recoveries = :zero',
                ConditionExpression:
                  'webhook.#status IN (:delivered, :failed, :skipped) AND executions = :executions',
                ExpressionAttributeNames: { '#status': 'status' },
                ExpressionAttributeValues: {
                  ':pending': 'pending',
                  ':delivered': 'delivered',
                  ':failed': 'failed',
                  ':skipped': 'skipped',
                  ':zero': 0,
                  ':now': now,
                  ':shard': 'WEBHOOK#2',
                  ':due': now + 30_000,
                  ':executions': 3,
                  ':execution': 4,
                },
              },
            },
            {
              Update: {
                TableName: 'table',
                Key: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'NEW_EVENT#evt_01a1fdfa-bb30-7607-8809-0a0b0c0d0e0f',
                },
                UpdateExpression: 'SET #of = :of, expiresAtSeconds = :ttl, again = :again',
                ExpressionAttributeNames: { '#of': 'of' },
                ExpressionAttributeValues: {
                  ':of': '019aa5a0-1000-7000-8000-00000000000a',
                  ':ttl': now / 1000 + 30 * 86_400,
                  ':again': true,
                },
              },
            },
          ],
        },
      ],
    ],
  ],
];

describeRequests('The store of deliveries', rows);
