/** The requests of the store of accounts and keys. */
import { createAccountStore } from '../../../service/accounts/account-store.ts';
import { accountId, anAccount, keyId } from '../../fixtures/records.ts';
import { describeRequests, type Row, secret } from './recorder.ts';

const rows: readonly Row[] = [
  [
    'A new account',
    (table) => createAccountStore(table).create(anAccount()),
    `
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT", id: "Acc0unt001", name: "Studio", condition: "active"
  availableMicros: 25000000, creditLineMicros: 0, inFlight: 0, sandbox: true, webhookSecrets: []
  createdAt: "2026-11-01T00:00:00.000Z", postRate: 60, getRate: 600, maxConcurrent: 20
  deadlineSeconds: 300, maxUnusedUploads: 100, hiddenModels: [], listing: "ACCOUNTS"
  listed: "2026-11-01T00:00:00.000Z#Acc0unt001"`,
  ],
  [
    'A change of the secrets',
    (table) =>
      createAccountStore(table).replaceSecrets(accountId, secret('old'), [secret('new'), secret('old')]),
    `
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  Update: SET webhookSecrets = :next
  Condition: webhookSecrets[0].sealed = :current
  :next: [{"sealed":"new","issuedAt":1795262430000},{"sealed":"old","issuedAt":1795262430000}]
  :current: "old"`,
  ],
  [
    'A first secret',
    (table) => createAccountStore(table).replaceSecrets(accountId, undefined, [secret('new')]),
    `
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  Update: SET webhookSecrets = :next
  Condition: attribute_not_exists(webhookSecrets[0])
  :next: [{"sealed":"new","issuedAt":1795262430000}]`,
  ],
  [
    'A revocation',
    (table) => createAccountStore(table).revokeKey(accountId, keyId, 'then'),
    `
Update table pk: "ACCOUNT#Acc0unt001", sk: "KEY#Key001"
  Update: SET revokedAt = if_not_exists(revokedAt, :at)
  Condition: attribute_exists(pk)
  :at: "then"`,
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
    `
Update table pk: "ACCOUNT#Acc0unt001", sk: "KEY#Key001"
  Update: SET #models = :models, #expiresAt = :expiresAt REMOVE #dailyCapMicros, #totalCapMicros, rolled
  Condition: attribute_exists(pk)
  #models: "models", #dailyCapMicros: "dailyCapMicros", #expiresAt: "expiresAt"
  #totalCapMicros: "totalCapMicros"
  :models: ["sandbox-pro"], :expiresAt: "2027-01-01T00:00:00.000Z"`,
  ],
];

describeRequests('The store of accounts and keys', rows);
