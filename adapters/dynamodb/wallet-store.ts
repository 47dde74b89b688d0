/** Money as an operator moves it: each movement with its ledger row, in one transaction. */
import type { AccountId } from '../../core/ids.ts';
import type { LedgerKind, LedgerRow } from '../../core/ledger.ts';
import { asMicros, type Micros } from '../../core/money.ts';
import { queryAll } from './query.ts';
import { keys, type Table } from './table.ts';
import { transact, type TransactItem } from './transaction.ts';

export interface WalletStore {
  /** Adds to the balance; false when a top-up with this reference was already made. */
  topUp(id: AccountId, amount: Micros, reference: string): Promise<boolean>;
  /** Adds to the balance, or takes from it, whatever is there. */
  adjust(id: AccountId, amount: Micros, reason: string): Promise<void>;
  /** False when the credit line is no longer the one that was read. */
  setCreditLine(id: AccountId, from: Micros, to: Micros): Promise<boolean>;
  /** Oldest first. */
  ledger(id: AccountId): Promise<LedgerRow[]>;
}

export function createWalletStore(table: Table): WalletStore {
  return {
    topUp: async (id, amount, reference) => {
      const row = rowOf(table, 'top_up', amount, { reference });
      const once: TransactItem = {
        Put: {
          TableName: table.name,
          Item: { ...keys.reference(id, reference), amountMicros: amount, at: row.at },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      };
      return (await move(table, id, row, [once])) === 'done';
    },
    adjust: async (id, amount, reason) => {
      await move(table, id, rowOf(table, 'adjustment', amount, { reason }));
    },
    setCreditLine: async (id, from, to) => {
      const row = rowOf(table, 'credit_line', asMicros(to - from), {});
      const outcome = await transact(table, [
        {
          Update: {
            TableName: table.name,
            Key: keys.account(id),
            UpdateExpression: 'SET availableMicros = availableMicros + :change, creditLineMicros = :to',
            ConditionExpression: 'creditLineMicros = :from',
            ExpressionAttributeValues: { ':change': row.amountMicros, ':to': to, ':from': from },
          },
        },
        ledgerItem(table, id, row),
      ]);
      if (outcome.kind === 'overloaded') throw stayedBusy(outcome.unclear);
      return outcome.kind === 'done';
    },
    ledger: async (id) => {
      const rows = await queryAll(table, keys.account(id).pk, 'LEDGER#');
      return rows.map(({ pk, sk, ...row }) => row as unknown as LedgerRow);
    },
  };
}

function stayedBusy(unclear: boolean): Error {
  return new Error(unclear ? 'the table stayed busy; whether it was changed is told by the ledger' : 'the table stayed busy; nothing was changed');
}

function rowOf(table: Table, kind: LedgerKind, amountMicros: Micros, more: Partial<LedgerRow>): LedgerRow {
  return { kind, amountMicros, at: new Date(table.clock.now()).toISOString(), ...more };
}

function ledgerItem(table: Table, id: AccountId, row: LedgerRow): TransactItem {
  const random = Buffer.from(table.randomBytes(6)).toString('hex');
  return {
    Put: {
      TableName: table.name,
      Item: { ...keys.ledger(id, row.at, row.kind, random), ...row },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  };
}

async function move(table: Table, id: AccountId, row: LedgerRow, more: readonly TransactItem[] = []): Promise<'done' | 'refused'> {
  const account: TransactItem = {
    Update: {
      TableName: table.name,
      Key: keys.account(id),
      UpdateExpression: 'SET availableMicros = availableMicros + :amount',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':amount': row.amountMicros },
    },
  };
  const outcome = await transact(table, [account, ledgerItem(table, id, row), ...more]);
  if (outcome.kind === 'overloaded') throw stayedBusy(outcome.unclear);
  return outcome.kind;
}
