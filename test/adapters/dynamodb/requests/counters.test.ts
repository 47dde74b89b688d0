/** The requests of the request path: its one read and its counters. */
import { createRequestStore } from '../../../../adapters/dynamodb/request-store.ts';
import { accountId, keyId, creationId, now } from '../../../fixtures/records.ts';
import { describeRequests, nowSeconds, type Row } from './recorder.ts';

const rows: readonly Row[] = [
  [
    'A counted request',
    (table) => createRequestStore(table).countRequest(accountId, 'get', 7, now),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'RATE#GET#29921040' },
          UpdateExpression: 'ADD #count :one SET #ttl = :ttl',
          ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
          ExpressionAttributeNames: { '#count': 'count', '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: { ':one': 1, ':limit': 7, ':ttl': nowSeconds + 120 },
        },
      ],
    ],
  ],
  [
    'A used key',
    (table) => createRequestStore(table).noteKeyUse(accountId, keyId, 'hour'),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
          UpdateExpression: 'SET lastUsedAt = :hour',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':hour': 'hour' },
        },
      ],
    ],
  ],
  [
    'A poll',
    (table) => createRequestStore(table).stampPoll(creationId, 1_000, now),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'POLL' },
          UpdateExpression: 'SET lastPollAt = :now, #ttl = :ttl',
          ConditionExpression: 'attribute_not_exists(lastPollAt) OR lastPollAt <= :before',
          ExpressionAttributeNames: { '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: { ':now': now, ':before': now - 1_000, ':ttl': nowSeconds + 60 },
        },
      ],
    ],
  ],
];

describeRequests('The store of the request path', rows);
