/** The requests of a charge. */
import { createChargeStore } from '../../../../adapters/dynamodb/charge-store.ts';
import { asMicros } from '../../../../core/money.ts';
import type { CreationId } from '../../../../core/ids.ts';
import { accountId, keyId, creationId, now, aCreation } from '../../../fixtures/records.ts';
import { describeRequests, nowSeconds, webhook, type Row } from './recorder.ts';

const otherId = '019aa5a0-1000-7000-8000-00000000000b' as CreationId;

const rows: readonly Row[] = [
  [
    'A charge with a rate, a key without a cap and an Idempotency-Key',
    (table) =>
      createChargeStore(table).charge({
        creation: aCreation({ requestId: 'req-1', webhook }),
        postRate: 60,
        nowMillis: now,
        idempotency: { hash: 'hash', requestHash: 'request' },
      }),
    [
      [
        'TransactWriteCommand',
        {
          TransactItems: [
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                UpdateExpression: 'SET availableMicros = availableMicros - :cost, inFlight = inFlight + :one',
                ConditionExpression:
                  '#condition = :active AND availableMicros >= :cost AND inFlight < maxConcurrent',
                ExpressionAttributeNames: { '#condition': 'condition' },
                ExpressionAttributeValues: { ':active': 'active', ':cost': 40000, ':one': 1 },
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
                UpdateExpression: 'ADD #spent :cost SET lastUsedAt = :hour',
                ConditionExpression:
                  'attribute_exists(pk) AND attribute_not_exists(revokedAt) AND attribute_not_exists(monthlyCapMicros)',
                ExpressionAttributeNames: { '#spent': 'spent_2026_11' },
                ExpressionAttributeValues: { ':cost': 40000, ':hour': '2026-11-21T12:00:00.000Z' },
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'RATE#POST#29921040' },
                UpdateExpression: 'ADD #count :one SET #ttl = :ttl',
                ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
                ExpressionAttributeNames: { '#count': 'count', '#ttl': 'expiresAtSeconds' },
                ExpressionAttributeValues: { ':one': 1, ':limit': 60, ':ttl': nowSeconds + 120 },
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a',
                  sk: 'CREATION',
                  id: creationId,
                  accountId: accountId,
                  keyId: keyId,
                  status: 'queued',
                  v: 1,
                  model: 'sandbox-standard',
                  prompt: 'a quiet lake',
                  resolution: '1K',
                  aspectRatio: '1:1',
                  outputFormat: 'png',
                  seed: null,
                  sources: [],
                  metadata: '{}',
                  costMicros: 40000,
                  refundedMicros: 0,
                  chargedMonth: '2026_11',
                  createdAt: '2026-11-21T12:00:30.000Z',
                  deadlineAt: now + 300_000,
                  results: [],
                  routes: [{ provider: 'sandbox', providerModel: 'standard' }],
                  attempts: [],
                  executions: 1,
                  recoveries: 0,
                  dueAt: now + 60_000,
                  webhook: {
                    url: 'https://receiver.test/ok',
                    status: 'pending',
                    attempts: 0,
                    nextAt: now,
                  },
                  openShard: 'OPEN#2',
                  listing: 'CREATIONS#Acc0unt001',
                  listed: creationId,
                },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'LEDGER#2026-11-21T12:00:30.000Z#charge#019aa5a0-1000-7000-8000-00000000000a',
                  kind: 'charge',
                  amountMicros: -40000,
                  creationId: creationId,
                  keyId: keyId,
                  month: '2026_11',
                  requestId: 'req-1',
                  at: '2026-11-21T12:00:30.000Z',
                },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'IDEMPOTENCY#hash',
                  creationId: creationId,
                  requestHash: 'request',
                  expiresAt: now + 86_400_000,
                  expiresAtSeconds: nowSeconds + 86400,
                },
                ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now',
                ExpressionAttributeValues: { ':now': now },
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
          ],
          ClientRequestToken: creationId,
        },
      ],
    ],
  ],
  [
    'A charge without a rate, with a cap and in place of a failed creation',
    (table) =>
      createChargeStore(table).charge({
        creation: aCreation(),
        nowMillis: now,
        monthlyCapMicros: asMicros(40_000),
        idempotency: { hash: 'hash', requestHash: 'request', replaces: otherId },
      }),
    [
      [
        'TransactWriteCommand',
        {
          TransactItems: [
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                UpdateExpression: 'SET availableMicros = availableMicros - :cost, inFlight = inFlight + :one',
                ConditionExpression:
                  '#condition = :active AND availableMicros >= :cost AND inFlight < maxConcurrent',
                ExpressionAttributeNames: { '#condition': 'condition' },
                ExpressionAttributeValues: { ':active': 'active', ':cost': 40000, ':one': 1 },
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
                UpdateExpression: 'ADD #spent :cost SET lastUsedAt = :hour',
                ConditionExpression:
                  'attribute_exists(pk) AND attribute_not_exists(revokedAt) AND monthlyCapMicros = :cap AND (attribute_not_exists(#spent) OR #spent <= :room)',
                ExpressionAttributeNames: { '#spent': 'spent_2026_11' },
                ExpressionAttributeValues: {
                  ':cost': 40000,
                  ':hour': '2026-11-21T12:00:00.000Z',
                  ':cap': 40000,
                  ':room': 0,
                },
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'CREATION#019aa5a0-1000-7000-8000-00000000000a',
                  sk: 'CREATION',
                  id: creationId,
                  accountId: accountId,
                  keyId: keyId,
                  status: 'queued',
                  v: 1,
                  model: 'sandbox-standard',
                  prompt: 'a quiet lake',
                  resolution: '1K',
                  aspectRatio: '1:1',
                  outputFormat: 'png',
                  seed: null,
                  sources: [],
                  metadata: '{}',
                  costMicros: 40000,
                  refundedMicros: 0,
                  chargedMonth: '2026_11',
                  createdAt: '2026-11-21T12:00:30.000Z',
                  deadlineAt: now + 300_000,
                  results: [],
                  routes: [{ provider: 'sandbox', providerModel: 'standard' }],
                  attempts: [],
                  executions: 1,
                  recoveries: 0,
                  dueAt: now + 60_000,
                  openShard: 'OPEN#2',
                  listing: 'CREATIONS#Acc0unt001',
                  listed: creationId,
                },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'LEDGER#2026-11-21T12:00:30.000Z#charge#019aa5a0-1000-7000-8000-00000000000a',
                  kind: 'charge',
                  amountMicros: -40000,
                  creationId: creationId,
                  keyId: keyId,
                  month: '2026_11',
                  at: '2026-11-21T12:00:30.000Z',
                },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'IDEMPOTENCY#hash',
                  creationId: creationId,
                  requestHash: 'request',
                  expiresAt: now + 86_400_000,
                  expiresAtSeconds: nowSeconds + 86400,
                },
                ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now OR creationId = :failed',
                ExpressionAttributeValues: { ':now': now, ':failed': otherId },
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
          ],
          ClientRequestToken: creationId,
        },
      ],
    ],
  ],
];

describeRequests('The store of charges', rows);
