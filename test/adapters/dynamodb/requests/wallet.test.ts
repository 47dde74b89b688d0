/** The requests of the store of the wallet. */
import { createWalletStore } from '../../../../adapters/dynamodb/wallet-store.ts';
import { asMicros } from '../../../../core/money.ts';
import { accountId } from '../../../fixtures/records.ts';
import { describeRequests, type Row } from './recorder.ts';

const rows: readonly Row[] = [
  [
    'A top-up',
    (table) => createWalletStore(table).topUp(accountId, asMicros(5), 'reference'),
    [
      [
        'TransactWriteCommand',
        {
          TransactItems: [
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                UpdateExpression: 'SET availableMicros = availableMicros + :amount',
                ConditionExpression: 'availableMicros <= :room',
                ExpressionAttributeValues: { ':amount': 5, ':room': 999999999999995 },
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'LEDGER#2026-11-21T12:00:30.000Z#top_up#000102030405060708090a0b0c0d0e0f',
                  kind: 'top_up',
                  amountMicros: 5,
                  at: '2026-11-21T12:00:30.000Z',
                  reference: 'reference',
                },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'REFERENCE#reference',
                  kind: 'top_up',
                  amountMicros: 5,
                  at: '2026-11-21T12:00:30.000Z',
                },
                ConditionExpression: 'attribute_not_exists(pk)',
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
          ],
          ClientRequestToken: '000102030405060708090a0b0c0d0e0f',
        },
      ],
    ],
  ],
  [
    'An adjustment',
    (table) => createWalletStore(table).adjust(accountId, asMicros(-5), 'reason'),
    [
      [
        'TransactWriteCommand',
        {
          TransactItems: [
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                UpdateExpression: 'SET availableMicros = availableMicros + :amount',
                ConditionExpression: 'availableMicros >= :room',
                ExpressionAttributeValues: { ':amount': -5, ':room': -999999999999995 },
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'LEDGER#2026-11-21T12:00:30.000Z#adjustment#000102030405060708090a0b0c0d0e0f',
                  kind: 'adjustment',
                  amountMicros: -5,
                  at: '2026-11-21T12:00:30.000Z',
                  reason: 'reason',
                },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
          ],
          ClientRequestToken: '000102030405060708090a0b0c0d0e0f',
        },
      ],
    ],
  ],
  [
    'An adjustment with a reference',
    (table) => createWalletStore(table).adjust(accountId, asMicros(5), 'reason', 'reference'),
    [
      [
        'TransactWriteCommand',
        {
          TransactItems: [
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                UpdateExpression: 'SET availableMicros = availableMicros + :amount',
                ConditionExpression: 'availableMicros <= :room',
                ExpressionAttributeValues: { ':amount': 5, ':room': 999999999999995 },
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'LEDGER#2026-11-21T12:00:30.000Z#adjustment#000102030405060708090a0b0c0d0e0f',
                  kind: 'adjustment',
                  amountMicros: 5,
                  at: '2026-11-21T12:00:30.000Z',
                  reason: 'reason',
                  reference: 'reference',
                },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'REFERENCE#reference',
                  kind: 'adjustment',
                  amountMicros: 5,
                  at: '2026-11-21T12:00:30.000Z',
                },
                ConditionExpression: 'attribute_not_exists(pk)',
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
          ],
          ClientRequestToken: '000102030405060708090a0b0c0d0e0f',
        },
      ],
    ],
  ],
  [
    'A new credit line',
    (table) => createWalletStore(table).setCreditLine(accountId, asMicros(3), asMicros(5)),
    [
      [
        'TransactWriteCommand',
        {
          TransactItems: [
            {
              Update: {
                TableName: 'table',
                Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'ACCOUNT' },
                UpdateExpression: 'SET availableMicros = availableMicros + :change, creditLineMicros = :to',
                ConditionExpression: 'creditLineMicros = :from AND availableMicros <= :room',
                ExpressionAttributeValues: { ':change': 2, ':to': 5, ':from': 3, ':room': 999999999999998 },
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
            {
              Put: {
                TableName: 'table',
                Item: {
                  pk: 'ACCOUNT#Acc0unt001',
                  sk: 'LEDGER#2026-11-21T12:00:30.000Z#credit_line#000102030405060708090a0b0c0d0e0f',
                  kind: 'credit_line',
                  amountMicros: 2,
                  at: '2026-11-21T12:00:30.000Z',
                },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
          ],
          ClientRequestToken: '000102030405060708090a0b0c0d0e0f',
        },
      ],
    ],
  ],
];

describeRequests('The store of the wallet', rows);
