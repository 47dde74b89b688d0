/** The requests that end a creation: refund and completion, and the lease before them. */
import { createChargeStore } from '../../../../adapters/dynamodb/charge-store.ts';
import { createCreationStore } from '../../../../adapters/dynamodb/creation-store.ts';
import { keyId, creationId, now, aCreation, storedImage } from '../../../fixtures/records.ts';
import { describeRequests, nowSeconds, webhook, type Row } from './recorder.ts';

/** The counter of open creations, after the transaction. */
const theCount: Row[2][number] = [
  'UpdateCommand',
  {
    TableName: 'table',
    Key: { pk: 'OPEN_COUNT#2', sk: 'OPEN_COUNT' },
    UpdateExpression: 'ADD running :change',
    ExpressionAttributeValues: { ':change': -1 },
  },
];

const rows: readonly Row[] = [
  [
    'A refund',
    (table) =>
      createChargeStore(table).refund(aCreation({ webhook }), {
        failure: 'GenerationFailed',
        nowMillis: now,
        announce: true,
      }),
    [
      [
        'TransactWriteCommand',
        {
          TransactItems: [
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
                UpdateExpression:
                  'SET #status = :status, webhook = :webhook, #n0 = :v0, #n1 = :v1, #n2 = :v2, #n3 = :v3, #n4 = :v4 REMOVE lease',
                ConditionExpression: '#status IN (:queued, :processing)',
                ExpressionAttributeNames: {
                  '#status': 'status',
                  '#n0': 'failure',
                  '#n1': 'refundedMicros',
                  '#n2': 'completedAt',
                  '#n3': 'openShard',
                  '#n4': 'dueAt',
                },
                ExpressionAttributeValues: {
                  ':status': 'failed',
                  ':queued': 'queued',
                  ':processing': 'processing',
                  ':webhook': {
                    url: 'https://receiver.test/ok',
                    status: 'pending',
                    attempts: 0,
                    nextAt: now,
                  },
                  ':v0': 'GenerationFailed',
                  ':v1': 40000,
                  ':v2': '2026-11-21T12:00:30.000Z',
                  ':v3': 'WEBHOOK#2',
                  ':v4': now + 110_000,
                },
              },
            },
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                UpdateExpression: 'SET availableMicros = availableMicros + :cost, inFlight = inFlight - :one',
                ConditionExpression: 'attribute_not_exists(eventsSince)',
                ExpressionAttributeValues: { ':cost': 40000, ':one': 1 },
              },
            },
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
                UpdateExpression: 'ADD #spent :back, #day :back',
                ExpressionAttributeNames: { '#spent': 'spent_2026_11', '#day': 'day_2026_11_21' },
                ExpressionAttributeValues: { ':back': -40000 },
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'LEDGER#2026-11-21T12:00:30.000Z#refund#019aa5a0-1000-7000-8000-00000000000a',
                  kind: 'refund',
                  amountMicros: 40000,
                  creationId: creationId,
                  keyId: keyId,
                  month: '2026_11',
                  day: '2026_11_21',
                  model: 'sandbox-standard',
                  chargedOn: '2026-11-21',
                  reason: 'GenerationFailed',
                  at: '2026-11-21T12:00:30.000Z',
                },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
          ],
        },
      ],
      theCount,
    ],
  ],
  [
    'A refund that is not announced',
    (table) =>
      createChargeStore(table).refund(aCreation({ webhook }), {
        failure: 'GenerationFailed',
        nowMillis: now,
        announce: false,
      }),
    [
      [
        'TransactWriteCommand',
        {
          TransactItems: [
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
                UpdateExpression:
                  'SET #status = :status, webhook = :webhook, #n0 = :v0, #n1 = :v1, #n2 = :v2 REMOVE lease, openShard, dueAt',
                ConditionExpression: '#status IN (:queued, :processing)',
                ExpressionAttributeNames: {
                  '#status': 'status',
                  '#n0': 'failure',
                  '#n1': 'refundedMicros',
                  '#n2': 'completedAt',
                },
                ExpressionAttributeValues: {
                  ':status': 'failed',
                  ':queued': 'queued',
                  ':processing': 'processing',
                  ':webhook': {
                    url: 'https://receiver.test/ok',
                    status: 'skipped',
                    attempts: 0,
                    nextAt: now,
                  },
                  ':v0': 'GenerationFailed',
                  ':v1': 40000,
                  ':v2': '2026-11-21T12:00:30.000Z',
                },
              },
            },
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                UpdateExpression: 'SET availableMicros = availableMicros + :cost, inFlight = inFlight - :one',
                ConditionExpression: 'attribute_not_exists(eventsSince)',
                ExpressionAttributeValues: { ':cost': 40000, ':one': 1 },
              },
            },
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
                UpdateExpression: 'ADD #spent :back, #day :back',
                ExpressionAttributeNames: { '#spent': 'spent_2026_11', '#day': 'day_2026_11_21' },
                ExpressionAttributeValues: { ':back': -40000 },
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'LEDGER#2026-11-21T12:00:30.000Z#refund#019aa5a0-1000-7000-8000-00000000000a',
                  kind: 'refund',
                  amountMicros: 40000,
                  creationId: creationId,
                  keyId: keyId,
                  month: '2026_11',
                  day: '2026_11_21',
                  model: 'sandbox-standard',
                  chargedOn: '2026-11-21',
                  reason: 'GenerationFailed',
                  at: '2026-11-21T12:00:30.000Z',
                },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
          ],
        },
      ],
      theCount,
    ],
  ],
  [
    'A completion without a webhook',
    (table) =>
      createCreationStore(table).complete(aCreation(), {
        results: [storedImage],
        resultsExpireAt: now + 1_000_000,
        attempts: [],
        nowMillis: now,
      }),
    [
      [
        'TransactWriteCommand',
        {
          TransactItems: [
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
                UpdateExpression:
                  'SET #status = :status, #n0 = :v0, #n1 = :v1, #n2 = :v2, #n3 = :v3 REMOVE lease, openShard, dueAt',
                ConditionExpression: '#status IN (:queued, :processing)',
                ExpressionAttributeNames: {
                  '#status': 'status',
                  '#n0': 'results',
                  '#n1': 'resultsExpireAt',
                  '#n2': 'attempts',
                  '#n3': 'completedAt',
                },
                ExpressionAttributeValues: {
                  ':status': 'completed',
                  ':queued': 'queued',
                  ':processing': 'processing',
                  ':v0': [
                    {
                      key: 'results/unguessable.png',
                      width: 1024,
                      height: 1024,
                      contentType: 'image/png',
                      bytes: 123456,
                    },
                  ],
                  ':v1': now + 1_000_000,
                  ':v2': [],
                  ':v3': '2026-11-21T12:00:30.000Z',
                },
              },
            },
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                UpdateExpression: 'SET inFlight = inFlight - :one',
                ConditionExpression: 'attribute_not_exists(eventsSince)',
                ExpressionAttributeValues: { ':one': 1 },
              },
            },
          ],
        },
      ],
      theCount,
    ],
  ],
  [
    'A lease',
    (table) => createCreationStore(table).lease(creationId, 'one', now + 9_000, now),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'LEASE' },
          UpdateExpression:
            'SET holder = :holder, #until = :until, turn = if_not_exists(turn, :now) + :one, #ttl = :ttl',
          ConditionExpression: 'attribute_not_exists(pk) OR #until <= :now OR holder = :holder',
          ExpressionAttributeNames: { '#until': 'until', '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: {
            ':holder': 'one',
            ':until': now + 9_000,
            ':now': now,
            ':one': 1,
            ':ttl': nowSeconds + 86_400,
          },
          ReturnValues: 'UPDATED_NEW',
        },
      ],
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
          UpdateExpression:
            'SET #status = :processing, fence = :turn, startedAt = if_not_exists(startedAt, :at)',
          ConditionExpression:
            '#status IN (:queued, :processing) AND (attribute_not_exists(fence) OR fence <= :turn) AND (attribute_not_exists(lease) OR lease.#until <= :now OR lease.holder = :holder)',
          ExpressionAttributeNames: { '#status': 'status', '#until': 'until' },
          ExpressionAttributeValues: {
            ':queued': 'queued',
            ':processing': 'processing',
            ':turn': 12,
            ':holder': 'one',
            ':now': now,
            ':at': '2026-11-21T12:00:30.000Z',
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      ],
    ],
    [{ Attributes: { turn: 12 } }],
  ],
  [
    'A renewed lease',
    (table) => createCreationStore(table).renewLease(creationId, 'one', now + 9_000),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'LEASE' },
          ConditionExpression: 'holder = :holder',
          UpdateExpression: 'SET #until = :until',
          ExpressionAttributeNames: { '#until': 'until' },
          ExpressionAttributeValues: { ':until': now + 9_000, ':holder': 'one' },
        },
      ],
    ],
  ],
  [
    'A list of attempts',
    (table) => createCreationStore(table).saveAttempts(creationId, 12, []),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
          ConditionExpression: '#status IN (:queued, :processing) AND fence = :turn',
          UpdateExpression: 'SET attempts = :attempts',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: {
            ':queued': 'queued',
            ':processing': 'processing',
            ':attempts': [],
            ':turn': 12,
          },
        },
      ],
    ],
  ],
  [
    'A read of creations with their leases',
    (table) => createCreationStore(table).readAll([creationId]),
    [
      [
        'BatchGetCommand',
        {
          RequestItems: {
            table: {
              Keys: [
                { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'CREATION' },
                { pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a', sk: 'LEASE' },
              ],
              ConsistentRead: true,
            },
          },
        },
      ],
    ],
  ],
];

describeRequests('The end of a creation', rows);
