/** The requests of the delivery log, and of a test delivery. */
import { createDeliveryStore } from '../../../../adapters/dynamodb/delivery-store.ts';
import { accountId, creationId, now } from '../../../fixtures/records.ts';
import { describeRequests, delivery, nowSeconds, type Row } from './recorder.ts';

const rows: readonly Row[] = [
  [
    'A test delivery',
    (table) => createDeliveryStore(table).claimTest(accountId, 1_000, now),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'TEST_DELIVERY' },
          UpdateExpression: 'SET lastAt = :now',
          ConditionExpression: 'attribute_not_exists(lastAt) OR lastAt <= :before',
          ExpressionAttributeValues: { ':now': now, ':before': now - 1_000 },
        },
      ],
    ],
  ],
  [
    'A recorded delivery',
    (table) => createDeliveryStore(table).record(delivery),
    [
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
    'A search for a delivery',
    (table) => createDeliveryStore(table).find(accountId, '019a9000-0000-7000-8000-000000000001'),
    [
      [
        'GetCommand',
        {
          TableName: 'table',
          Key: {
            pk: 'ACCOUNT#Acc0unt001',
            sk: 'DELIVERY#2025-11-17T04:08:30.464Z#019a9000-0000-7000-8000-000000000001',
          },
          ConsistentRead: true,
        },
      ],
    ],
  ],
  [
    'A delivery log',
    (table) => createDeliveryStore(table).log(accountId, 10),
    [
      [
        'QueryCommand',
        {
          TableName: 'table',
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :beginning)',
          ExpressionAttributeValues: { ':pk': 'ACCOUNT#Acc0unt001', ':beginning': 'DELIVERY#' },
          ScanIndexForward: false,
          Limit: 10,
        },
      ],
    ],
  ],
  [
    'A look at the secrets of an account',
    (table) => createDeliveryStore(table).deliveringAccount(accountId),
    [
      [
        'GetCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
          ConsistentRead: true,
          ProjectionExpression: 'webhookSecrets, noticeUrl, webhookFailures, toldFailing',
        },
      ],
    ],
  ],
];

describeRequests('The log of deliveries', rows);
