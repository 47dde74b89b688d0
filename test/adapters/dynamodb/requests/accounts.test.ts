/** The requests of the store of accounts and keys. */
import { createAccountStore } from '../../../../adapters/dynamodb/account-store.ts';
import { putKey } from '../../../../adapters/dynamodb/put-key.ts';
import { asMicros } from '../../../../core/money.ts';
import { accountId, keyId, now, anAccount, anApiKey } from '../../../fixtures/records.ts';
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
    'A new account that may use certain providers only',
    (table) =>
      createAccountStore(table).create(
        anAccount({ policy: { providers: ['sandbox'], hiddenModels: ['sandbox-pro'] } }),
      ),
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
            providers: ['sandbox'],
            hiddenModels: ['sandbox-pro'],
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
    'A new key of a playground',
    (table) => putKey(table, anApiKey({ spent: { '2026_11': asMicros(7) } })),
    [
      [
        'PutCommand',
        {
          TableName: 'table',
          Item: {
            pk: 'ACCOUNT#Acc0unt001',
            sk: 'KEY#Key001',
            id: keyId,
            accountId: accountId,
            name: 'server',
            hash: 'd7d157086f69920f4e382c19df3e269db130cbb69624738f67b00f5ece44db7d',
            createdAt: '2026-11-01T00:00:00.000Z',
            spent_2026_11: 7,
          },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      ],
    ],
  ],
  [
    'A read of an account',
    (table) => createAccountStore(table).read(accountId),
    [
      [
        'GetCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
          ConsistentRead: true,
        },
      ],
    ],
  ],
  [
    'A change of an account',
    (table) => createAccountStore(table).change(accountId, { name: 'Atelier', providers: ['sandbox'] }),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
          UpdateExpression: 'SET #n0 = :v0, #n1 = :v1',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeNames: { '#n0': 'name', '#n1': 'providers' },
          ExpressionAttributeValues: { ':v0': 'Atelier', ':v1': ['sandbox'] },
        },
      ],
    ],
  ],
  [
    'A change to all providers',
    (table) => createAccountStore(table).change(accountId, { providers: 'all' }),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
          UpdateExpression: 'REMOVE #providers',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeNames: { '#providers': 'providers' },
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
    'A new cap',
    (table) => createAccountStore(table).changeKey(accountId, keyId, { monthlyCapMicros: asMicros(5) }),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
          UpdateExpression: 'SET #monthlyCapMicros = :monthlyCapMicros',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeNames: { '#monthlyCapMicros': 'monthlyCapMicros' },
          ExpressionAttributeValues: { ':monthlyCapMicros': 5 },
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
  [
    'A removed cap',
    (table) => createAccountStore(table).changeKey(accountId, keyId, { monthlyCapMicros: null }),
    [
      [
        'UpdateCommand',
        {
          TableName: 'table',
          Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'KEY#Key001' },
          UpdateExpression: 'REMOVE #monthlyCapMicros',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeNames: { '#monthlyCapMicros': 'monthlyCapMicros' },
        },
      ],
    ],
  ],
  [
    'A list of keys',
    (table) => createAccountStore(table).listKeys(accountId),
    [
      [
        'QueryCommand',
        {
          TableName: 'table',
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :beginning)',
          ExpressionAttributeValues: { ':pk': 'ACCOUNT#Acc0unt001', ':beginning': 'KEY#' },
          ScanIndexForward: true,
        },
      ],
    ],
  ],
];

describeRequests('The store of accounts and keys', rows);
