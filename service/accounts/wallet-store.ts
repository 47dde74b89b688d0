/**
 * Movements of money by an operator. One transaction writes each movement with its ledger row. The id of the
 * row is chosen before the first try, and it is also the token of the transaction. So a retry recognizes an
 * earlier try whose answer was lost: DynamoDB knows the token for ten minutes, and the row stays for ever.
 */
import { queryAll } from '../aws/dynamodb/query.ts';
import { getItem, isRefusal } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table } from '../aws/dynamodb/table.ts';
import {
  type Refusal,
  transact,
  type TransactionOutcome,
  type TransactItem,
} from '../aws/dynamodb/transaction.ts';
import { OutcomeUnknown, Overloaded } from '../values/errors.ts';
import type { AccountId, CreationId } from '../values/ids.ts';
import { asMicros, largestAvailableMicros, type Micros } from '../values/money.ts';
import { ledgerRowFromItem } from './account-items.ts';
import type { LedgerKind, LedgerRow } from './account.ts';

/** Movements throw Overloaded when nothing was written, and OutcomeUnknown when that is unknown. */
export type WalletStore = ReturnType<typeof createWalletStore>;

const staysBelowTheLargest = 'availableMicros <= :room';
const staysAboveTheLeast = 'availableMicros >= :room';
const returnOld = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

export function createWalletStore(table: Table) {
  return {
    topUp: (id: AccountId, amount: Micros, reference: string): Promise<MovementOutcome> =>
      move(table, id, rowOf(table, 'top_up', amount, { reference })),
    /** Adds to the balance or takes from it, even below zero. A reference counts only once. */
    adjust: (id: AccountId, amount: Micros, reason: string, reference?: string): Promise<MovementOutcome> =>
      move(
        table,
        id,
        rowOf(table, 'adjustment', amount, { reason, ...(reference !== undefined && { reference }) }),
      ),
    /** 'changed_meanwhile': the stored credit line is no longer `from`. */
    setCreditLine: (id: AccountId, from: Micros, to: Micros): Promise<CreditLineOutcome> =>
      setCreditLine(table, id, from, to),
    charge: async ({
      id,
      accountId,
      createdAt,
    }: {
      readonly id: CreationId;
      readonly accountId: AccountId;
      readonly createdAt: string;
    }): Promise<LedgerRow | undefined> => {
      const item = await getItem(table, keys.ledger(accountId, createdAt, 'charge', id));
      return item && ledgerRowFromItem(item);
    },
    /** Oldest first. */
    ledger: async (id: AccountId): Promise<LedgerRow[]> =>
      (await queryAll(table, keys.account(id).pk, 'LEDGER#')).map(ledgerRowFromItem),
  };
}

function rowOf(table: Table, kind: LedgerKind, amountMicros: Micros, more: Partial<LedgerRow>): LedgerRow {
  return { kind, amountMicros, at: new Date(table.clock.now()).toISOString(), ...more };
}

async function move(table: Table, id: AccountId, row: LedgerRow): Promise<MovementOutcome> {
  const account: TransactItem = {
    Update: {
      TableName: table.name,
      Key: keys.account(id),
      UpdateExpression: 'SET availableMicros = availableMicros + :amount',
      ...inRange(row.amountMicros, { ':amount': row.amountMicros }),
    },
  };
  const reference = row.reference === undefined ? [] : [referenceItem(table, id, row, row.reference)];
  const refusals = await write(table, id, account, row, reference);
  if (refusals === 'written') return { kind: 'applied' };
  const [, , taken] = refusals;
  if (taken?.item) return outcomeOfReference(row, taken.item);
  return { kind: 'out_of_range' };
}

/** An increase has only an upper limit and a decrease only a lower one: any balance can be corrected. */
function inRange(
  change: Micros,
  values: Item,
): { ConditionExpression: string; ExpressionAttributeValues: Item } {
  const isAdded = change >= 0;
  const room = (isAdded ? largestAvailableMicros : 0 - largestAvailableMicros) - change;
  return {
    ConditionExpression: isAdded ? staysBelowTheLargest : staysAboveTheLeast,
    ExpressionAttributeValues: { ...values, ':room': room },
  };
}

function referenceItem(
  table: Table,
  id: AccountId,
  { kind, amountMicros, at }: LedgerRow,
  reference: string,
): TransactItem {
  return {
    Put: {
      TableName: table.name,
      Item: { ...keys.reference(id, reference), kind, amountMicros, at },
      ConditionExpression: 'attribute_not_exists(pk)',
      ...returnOld,
    },
  };
}

function outcomeOfReference(row: LedgerRow, item: Item): MovementOutcome {
  // Items of older releases name no kind: only top-ups had a reference.
  const kind = item['kind'] === 'adjustment' ? 'adjustment' : 'top_up';
  const amountMicros = asMicros(Number(item['amountMicros']));
  if (kind === row.kind && amountMicros === row.amountMicros) return { kind: 'already_applied' };
  return { kind: 'reference_taken', by: { kind, amountMicros } };
}

async function setCreditLine(
  table: Table,
  id: AccountId,
  from: Micros,
  to: Micros,
): Promise<CreditLineOutcome> {
  const row = rowOf(table, 'credit_line', asMicros(to - from), {});
  const range = inRange(row.amountMicros, { ':change': row.amountMicros, ':to': to, ':from': from });
  const account: TransactItem = {
    Update: {
      TableName: table.name,
      Key: keys.account(id),
      UpdateExpression: 'SET availableMicros = availableMicros + :change, creditLineMicros = :to',
      ...range,
      ConditionExpression: `creditLineMicros = :from AND ${range.ConditionExpression}`,
      ...returnOld,
    },
  };
  const refusals = await write(table, id, account, row, []);
  if (refusals === 'written') return 'changed';
  return refusals[0]?.item?.['creditLineMicros'] === from ? 'out_of_range' : 'changed_meanwhile';
}

/** Writes the change of the account and its ledger row once, or returns why each item was refused. */
async function write(
  table: Table,
  id: AccountId,
  account: TransactItem,
  row: LedgerRow,
  more: readonly TransactItem[],
): Promise<'written' | readonly Refusal[]> {
  const rowId = Buffer.from(table.randomBytes(16)).toString('hex');
  const key = keys.ledger(id, row.at, row.kind, rowId);
  const ledger: TransactItem = {
    Put: { TableName: table.name, Item: { ...key, ...row }, ConditionExpression: 'attribute_not_exists(pk)' },
  };
  const outcome = await outcomeOf(table, key, transact(table, [account, ledger, ...more], rowId));
  switch (outcome.kind) {
    case 'done':
      return 'written';
    case 'overloaded':
      throw new Overloaded('The table stayed busy: nothing was changed.');
    case 'refused':
      // The row exists already: an earlier try of ours wrote everything, and its answer was lost.
      return outcome.refusals[1] === undefined ? outcome.refusals : 'written';
  }
}

/** If no answer says whether the transaction was written, its ledger row is looked up. */
async function outcomeOf(
  table: Table,
  row: ItemKey,
  sent: Promise<TransactionOutcome>,
): Promise<TransactionOutcome> {
  let cause: unknown;
  try {
    const outcome = await sent;
    if (outcome.kind !== 'overloaded' || !outcome.unclear) return outcome;
  } catch (error) {
    cause = error;
  }
  const found = await getItem(table, row).catch(() => undefined);
  if (found) return { kind: 'done' };
  if (isRefusal(cause)) throw cause;
  throw new OutcomeUnknown('No answer says whether the change was made.', { cause });
}

// Movements of money by the operator.

export interface Movement {
  readonly kind: 'top_up' | 'adjustment';
  readonly amountMicros: Micros;
}

/** The outcome of a movement. Only 'applied' changed anything. */
export type MovementOutcome =
  | { readonly kind: 'applied' }
  /** An earlier call made the same movement with this reference. */
  | { readonly kind: 'already_applied' }
  | { readonly kind: 'reference_taken'; readonly by: Movement }
  | { readonly kind: 'out_of_range' };

export type CreditLineOutcome = 'changed' | 'changed_meanwhile' | 'out_of_range';
