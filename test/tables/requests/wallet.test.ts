/** The requests of the store of the wallet. */
import { createWalletStore } from '../../../service/accounts/wallet-store.ts';
import { asMicros } from '../../../service/values/money.ts';
import { accountId } from '../../fixtures/records.ts';
import { describeRequests, type Row } from './recorder.ts';

const rows: readonly Row[] = [
  [
    'A top-up',
    (table) => createWalletStore(table).topUp(accountId, asMicros(5), 'reference'),
    `
TransactWrite
  ClientRequestToken: 000102030405060708090a0b0c0d0e0f
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  Update: SET availableMicros = availableMicros + :amount
  Condition: availableMicros <= :room
  :amount: 5, :room: 999999999999995
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001"
  sk: "LEDGER#2026-11-21T12:00:30.000Z#top_up#000102030405060708090a0b0c0d0e0f", kind: "top_up"
  amountMicros: 5, at: "2026-11-21T12:00:30.000Z", reference: "reference"
Put table
  Condition: attribute_not_exists(pk)
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  pk: "ACCOUNT#Acc0unt001", sk: "REFERENCE#reference", kind: "top_up", amountMicros: 5
  at: "2026-11-21T12:00:30.000Z"`,
  ],
  [
    'An adjustment',
    (table) => createWalletStore(table).adjust(accountId, asMicros(-5), 'reason'),
    `
TransactWrite
  ClientRequestToken: 000102030405060708090a0b0c0d0e0f
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  Update: SET availableMicros = availableMicros + :amount
  Condition: availableMicros >= :room
  :amount: -5, :room: -999999999999995
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001"
  sk: "LEDGER#2026-11-21T12:00:30.000Z#adjustment#000102030405060708090a0b0c0d0e0f", kind: "adjustment"
  amountMicros: -5, at: "2026-11-21T12:00:30.000Z", reason: "reason"`,
  ],
  [
    'An adjustment with a reference',
    (table) => createWalletStore(table).adjust(accountId, asMicros(5), 'reason', 'reference'),
    `
TransactWrite
  ClientRequestToken: 000102030405060708090a0b0c0d0e0f
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  Update: SET availableMicros = availableMicros + :amount
  Condition: availableMicros <= :room
  :amount: 5, :room: 999999999999995
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001"
  sk: "LEDGER#2026-11-21T12:00:30.000Z#adjustment#000102030405060708090a0b0c0d0e0f", kind: "adjustment"
  amountMicros: 5, at: "2026-11-21T12:00:30.000Z", reason: "reason", reference: "reference"
Put table
  Condition: attribute_not_exists(pk)
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  pk: "ACCOUNT#Acc0unt001", sk: "REFERENCE#reference", kind: "adjustment", amountMicros: 5
  at: "2026-11-21T12:00:30.000Z"`,
  ],
  [
    'A new credit line',
    (table) => createWalletStore(table).setCreditLine(accountId, asMicros(3), asMicros(5)),
    `
TransactWrite
  ClientRequestToken: 000102030405060708090a0b0c0d0e0f
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  Update: SET availableMicros = availableMicros + :change, creditLineMicros = :to
  Condition: creditLineMicros = :from AND availableMicros <= :room
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  :change: 2, :to: 5, :from: 3, :room: 999999999999998
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001"
  sk: "LEDGER#2026-11-21T12:00:30.000Z#credit_line#000102030405060708090a0b0c0d0e0f"
  kind: "credit_line", amountMicros: 2, at: "2026-11-21T12:00:30.000Z"`,
  ],
];

describeRequests('The store of the wallet', rows);
