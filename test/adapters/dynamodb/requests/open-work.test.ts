/** The requests of the store of open work, and of the list of enabled providers. */
import { createOpenWorkStore } from '../../../../adapters/dynamodb/open-work-store.ts';
import { createProviderStore } from '../../../../adapters/dynamodb/provider-store.ts';
import { now, aCreation } from '../../../fixtures/records.ts';
import { overdueIds } from '../overdue-ids.ts';
import { describeRequests, type Row } from './recorder.ts';

const rows: readonly Row[] = [
  [
    'A list of overdue work',
    (table) => overdueIds(createOpenWorkStore(table), now),
    [
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard AND dueAt <= :now',
          ExpressionAttributeValues: { ':shard': 'OPEN#0', ':now': now },
          Limit: 100,
        },
      ],
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard AND dueAt <= :now',
          ExpressionAttributeValues: { ':shard': 'OPEN#1', ':now': now },
          Limit: 100,
        },
      ],
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard AND dueAt <= :now',
          ExpressionAttributeValues: { ':shard': 'OPEN#2', ':now': now },
          Limit: 100,
        },
      ],
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard AND dueAt <= :now',
          ExpressionAttributeValues: { ':shard': 'OPEN#3', ':now': now },
          Limit: 100,
        },
      ],
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard AND dueAt <= :now',
          ExpressionAttributeValues: { ':shard': 'WEBHOOK#0', ':now': now },
          Limit: 100,
        },
      ],
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard AND dueAt <= :now',
          ExpressionAttributeValues: { ':shard': 'WEBHOOK#1', ':now': now },
          Limit: 100,
        },
      ],
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard AND dueAt <= :now',
          ExpressionAttributeValues: { ':shard': 'WEBHOOK#2', ':now': now },
          Limit: 100,
        },
      ],
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard AND dueAt <= :now',
          ExpressionAttributeValues: { ':shard': 'WEBHOOK#3', ':now': now },
          Limit: 100,
        },
      ],
    ],
  ],
  [
    'A count of open work',
    (table) => createOpenWorkStore(table).recordOpenCount(),
    [
      [
        'BatchGetCommand',
        {
          RequestItems: {
            table: {
              Keys: [
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
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard',
          ExpressionAttributeValues: { ':shard': 'OPEN#0' },
          Select: 'COUNT',
        },
      ],
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard',
          ExpressionAttributeValues: { ':shard': 'OPEN#1' },
          Select: 'COUNT',
        },
      ],
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard',
          ExpressionAttributeValues: { ':shard': 'OPEN#2' },
          Select: 'COUNT',
        },
      ],
      [
        'QueryCommand',
        {
          TableName: 'table',
          IndexName: 'open_work',
          KeyConditionExpression: 'openShard = :shard',
          ExpressionAttributeValues: { ':shard': 'OPEN#3' },
          Select: 'COUNT',
        },
      ],
      [
        'BatchGetCommand',
        {
          RequestItems: {
            table: {
              Keys: [
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
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'SERVICE', sk: 'SERVICE' },
          UpdateExpression: 'SET openCreations = :open, openSum = :sum',
          ExpressionAttributeValues: { ':open': 0, ':sum': 0 },
        },
      ],
    ],
  ],
  [
    'Work that is due later',
    (table) => createOpenWorkStore(table).postpone(aCreation(), now + 9_000),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
          UpdateExpression: 'SET dueAt = :due',
          ConditionExpression: 'dueAt = :read',
          ExpressionAttributeValues: { ':read': now + 60_000, ':due': now + 9_000 },
        },
      ],
    ],
  ],
  [
    'Work that is done',
    (table) => createOpenWorkStore(table).postpone(aCreation(), undefined),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
          UpdateExpression: 'REMOVE dueAt, openShard',
          ConditionExpression: 'dueAt = :read',
          ExpressionAttributeValues: { ':read': now + 60_000 },
        },
      ],
    ],
  ],
  [
    'Another execution',
    (table) => createOpenWorkStore(table).noteStart(aCreation(), now + 9_000, 2),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
          UpdateExpression: 'SET dueAt = :due, executions = :execution, recoveries = recoveries + :one',
          ConditionExpression: 'dueAt = :read',
          ExpressionAttributeValues: {
            ':read': now + 60_000,
            ':due': now + 9_000,
            ':execution': 2,
            ':one': 1,
          },
        },
      ],
    ],
  ],
  [
    'An enabled provider',
    (table) => createProviderStore(table).enable('sandbox'),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'SERVICE', sk: 'SERVICE' },
          UpdateExpression: 'ADD enabledProviders :provider',
          ExpressionAttributeValues: { ':provider': new Set(['sandbox']) },
        },
      ],
    ],
  ],
  [
    'A disabled provider',
    (table) => createProviderStore(table).disable('sandbox'),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'SERVICE', sk: 'SERVICE' },
          UpdateExpression: 'DELETE enabledProviders :provider',
          ExpressionAttributeValues: { ':provider': new Set(['sandbox']) },
        },
      ],
    ],
  ],
];

describeRequests('The store of open work', rows);
