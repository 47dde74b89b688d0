/** The requests of the request path: its one read and its counters. */
import { createBlockStore } from '../../../../adapters/dynamodb/block-store.ts';
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
  [
    'A twentieth 401',
    (table) => createRequestStore(table).countRejection('203.0.113.7', '401', now),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'IP#203.0.113.7', sk: 'REJECTED#401#29921040' },
          UpdateExpression: 'ADD #count :one, keyless :keyless SET #ttl = :ttl',
          ExpressionAttributeNames: { '#count': 'count', '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: { ':one': 1, ':keyless': 0, ':ttl': nowSeconds + 120 },
          ReturnValues: 'UPDATED_NEW',
        },
      ],
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'IP#203.0.113.7', sk: 'BLOCK' },
          UpdateExpression: 'SET untilMillis = :until, #scope = :scope, isKeyless = :isKeyless, #ttl = :ttl',
          ExpressionAttributeNames: { '#scope': 'scope', '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: {
            ':until': now + 120_000,
            ':scope': 'all',
            ':isKeyless': false,
            ':ttl': nowSeconds + 120,
          },
        },
      ],
    ],
    [{ Attributes: { count: 20, keyless: 0 } }],
  ],
  [
    'A twentieth 403',
    (table) => createRequestStore(table).countRejection('203.0.113.7', '403', now),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'IP#203.0.113.7', sk: 'REJECTED#403#29921040' },
          UpdateExpression: 'ADD #count :one SET #ttl = :ttl',
          ExpressionAttributeNames: { '#count': 'count', '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: { ':one': 1, ':ttl': nowSeconds + 120 },
          ReturnValues: 'UPDATED_NEW',
        },
      ],
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'IP#203.0.113.7', sk: 'BLOCK' },
          UpdateExpression: 'SET untilMillis = :until, #scope = :scope, #ttl = :ttl',
          ConditionExpression: 'attribute_not_exists(pk) OR #scope <> :all OR untilMillis <= :now',
          ExpressionAttributeNames: { '#scope': 'scope', '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: {
            ':until': now + 120_000,
            ':scope': 'public',
            ':ttl': nowSeconds + 120,
            ':all': 'all',
            ':now': now,
          },
        },
      ],
    ],
    [{ Attributes: { count: 20 } }],
  ],
  [
    'A twentieth 401 that is the first with a wrong key',
    (table) => createRequestStore(table).countRejection('203.0.113.7', '401', now),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'IP#203.0.113.7', sk: 'REJECTED#401#29921040' },
          UpdateExpression: 'ADD #count :one, keyless :keyless SET #ttl = :ttl',
          ExpressionAttributeNames: { '#count': 'count', '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: { ':one': 1, ':keyless': 0, ':ttl': nowSeconds + 120 },
          ReturnValues: 'UPDATED_NEW',
        },
      ],
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'IP#203.0.113.7', sk: 'BLOCK' },
          UpdateExpression: 'SET untilMillis = :until, #scope = :scope, isKeyless = :isKeyless, #ttl = :ttl',
          ConditionExpression:
            'attribute_not_exists(pk) OR (#scope <> :all OR isKeyless = :isKeyless) OR untilMillis <= :now',
          ExpressionAttributeNames: { '#scope': 'scope', '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: {
            ':until': now + 120_000,
            ':scope': 'all',
            ':isKeyless': true,
            ':ttl': nowSeconds + 120,
            ':all': 'all',
            ':now': now,
          },
        },
      ],
    ],
    [{ Attributes: { count: 20, keyless: 19 } }],
  ],
  [
    'A nineteenth 401',
    (table) => createRequestStore(table).countRejection('203.0.113.7', '401', now),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'IP#203.0.113.7', sk: 'REJECTED#401#29921040' },
          UpdateExpression: 'ADD #count :one, keyless :keyless SET #ttl = :ttl',
          ExpressionAttributeNames: { '#count': 'count', '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: { ':one': 1, ':keyless': 0, ':ttl': nowSeconds + 120 },
          ReturnValues: 'UPDATED_NEW',
        },
      ],
    ],
    [{ Attributes: { count: 19, keyless: 0 } }],
  ],
  [
    'The read of a POST',
    (table) =>
      createRequestStore(table).read({
        clientAddress: '203.0.113.7',
        key: { accountId, keyId },
        rate: 'post',
        nowMillis: now,
        idempotencyHash: 'hash',
      }),
    [
      [
        'BatchGetCommand',
        {
          RequestItems: {
            table: {
              Keys: [
                { pk: 'IP#203.0.113.7', sk: 'BLOCK' },
                { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
                { pk: 'ACCOUNT#Acc0unt001', sk: 'RATE#POST#29921040' },
                { pk: 'ACCOUNT#Acc0unt001', sk: 'IDEMPOTENCY#hash' },
                { pk: 'SERVICE', sk: 'SERVICE' },
                { pk: 'OPEN_COUNT#0', sk: 'OPEN_COUNT' },
                { pk: 'OPEN_COUNT#1', sk: 'OPEN_COUNT' },
                { pk: 'OPEN_COUNT#2', sk: 'OPEN_COUNT' },
                { pk: 'OPEN_COUNT#3', sk: 'OPEN_COUNT' },
              ],
              ConsistentRead: true,
            },
          },
        },
      ],
    ],
  ],
  [
    'The read of a GET',
    (table) =>
      createRequestStore(table).read({
        clientAddress: '203.0.113.7',
        key: { accountId, keyId },
        rate: 'get',
        nowMillis: now,
        creationId,
      }),
    [
      [
        'BatchGetCommand',
        {
          RequestItems: {
            table: {
              Keys: [
                { pk: 'IP#203.0.113.7', sk: 'BLOCK' },
                { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
                { pk: 'ACCOUNT#Acc0unt001', sk: 'RATE#GET#29921040' },
                { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
              ],
              ConsistentRead: true,
            },
          },
        },
      ],
    ],
  ],
  [
    'The read of a request without a key',
    (table) => createRequestStore(table).read({ clientAddress: '203.0.113.7', rate: 'get', nowMillis: now }),
    [
      [
        'BatchGetCommand',
        {
          RequestItems: {
            table: { Keys: [{ pk: 'IP#203.0.113.7', sk: 'BLOCK' }], ConsistentRead: true },
          },
        },
      ],
    ],
  ],
  [
    'A look at an address',
    (table) => createBlockStore(table).read('203.0.113.7', now),
    [
      [
        'GetCommand',
        {
          TableName: 'table',
          Key: { pk: 'IP#203.0.113.7', sk: 'BLOCK' },
          ConsistentRead: true,
        },
      ],
      [
        'GetCommand',
        {
          TableName: 'table',
          Key: { pk: 'IP#203.0.113.7', sk: 'REJECTED#401#29921040' },
          ConsistentRead: true,
        },
      ],
      [
        'GetCommand',
        {
          TableName: 'table',
          Key: { pk: 'IP#203.0.113.7', sk: 'REJECTED#403#29921040' },
          ConsistentRead: true,
        },
      ],
    ],
  ],
  [
    'A lifted block',
    (table) => createBlockStore(table).lift('203.0.113.7', now),
    [
      ['DeleteCommand', { TableName: 'table', Key: { pk: 'IP#203.0.113.7', sk: 'REJECTED#401#29921040' } }],
      ['DeleteCommand', { TableName: 'table', Key: { pk: 'IP#203.0.113.7', sk: 'REJECTED#403#29921040' } }],
      ['DeleteCommand', { TableName: 'table', Key: { pk: 'IP#203.0.113.7', sk: 'BLOCK' } }],
    ],
  ],
];

describeRequests('The store of the request path', rows);
