/** The requests of the store of accounts and keys. */
import { createAccountStore } from '../../../../adapters/dynamodb/account-store.ts';
import { accountId, keyId, now, anAccount } from '../../../fixtures/records.ts';
import { describeRequests, secret, type Row } from './recorder.ts';

const rows: readonly Row[] = [
  [
    'A new account',
    (table) => createAccountStore(table).create(anAccount()),
    [
      [
        'PutCommand',
        {
          TableName: 'table',
          Item: {
            pk: 'ACCOUNT#Acc0unt001',
            sk: 'ACCOUNT',
            id: accountId,
            name: 'Studio',
            condition: 'active',
            availableMicros: 25000000,
            creditLineMicros: 0,
            inFlight: 0,
            webhookSecrets: [],
            createdAt: '2026-11-01T00:00:00.000Z',
            postRate: 60,
            getRate: 600,
            maxConcurrent: 20,
            deadlineSeconds: 300,
            maxUnusedUploads: 100,
            hiddenModels: [],
            sandbox: true,
            listing: 'ACCOUNTS',
            listed: '2026-11-01T00:00:00.000Z#Acc0unt001',
          },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      ],
    ],
  ],
  [
    'A change of the secrets',
    (table) =>
      createAccountStore(table).replaceSecrets(accountId, secret('old'), [secret('new'), secret('old')]),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          UpdateExpression: 'SET webhookSecrets = :next',
          ConditionExpression: 'webhookSecrets[0].sealed = :current',
          ExpressionAttributeValues: {
            ':next': [
              { sealed: 'new', issuedAt: now },
              { sealed: 'old', issuedAt: now },
            ],
            ':current': 'old',
          },
        },
      ],
    ],
  ],
  [
    'A first secret',
    (table) => createAccountStore(table).replaceSecrets(accountId, undefined, [secret('new')]),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          UpdateExpression: 'SET webhookSecrets = :next',
          ConditionExpression: 'attribute_not_exists(webhookSecrets[0])',
          ExpressionAttributeValues: { ':next': [{ sealed: 'new', issuedAt: now }] },
        },
      ],
    ],
  ],
  [
    'A revocation',
    (table) => createAccountStore(table).revokeKey(accountId, keyId, 'then'),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
          UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :at)',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':at': 'then' },
        },
      ],
    ],
  ],
  [
    'Limits that are set and limits that are removed at once',
    (table) =>
      createAccountStore(table).changeKey(accountId, keyId, {
        models: ['sandbox-pro'],
        dailyCapMicros: null,
        expiresAt: '2027-01-01T00:00:00.000Z',
        totalCapMicros: null,
      }),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
          UpdateExpression:
            'SET #models = :models, #expiresAt = :expiresAt REMOVE #dailyCapMicros, #totalCapMicros, rolled',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeNames: {
            '#models': 'models',
            '#dailyCapMicros': 'dailyCapMicros',
            '#expiresAt': 'expiresAt',
            '#totalCapMicros': 'totalCapMicros',
          },
          ExpressionAttributeValues: {
            ':models': ['sandbox-pro'],
            ':expiresAt': '2027-01-01T00:00:00.000Z',
          },
        },
      ],
    ],
  ],
];

describeRequests('The store of accounts and keys', rows);
