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
  toPutNew,
  transact,
  type TransactionOutcome,
  type TransactItem,
} from '../aws/dynamodb/transaction.ts';
import { OutcomeUnknown, Overloaded } from '../values/errors.ts';
import type { AccountId, CreationId } from '../values/ids.ts';
import { asMicros, largestAvailableMicros, type Micros } from '../values/money.ts';
import { accountToItem, ledgerRowFromItem } from './account-items.ts';
import type { Account, LedgerKind, LedgerRow } from './account.ts';

/** Movements throw Overloaded when nothing was written, and OutcomeUnknown when that is unknown. */
export type WalletStore = ReturnType<typeof createWalletStore>;

const staysBelowTheLargest = 'availableMicros <= :room';
const staysAboveTheLeast = 'availableMicros >= :room';
const returnOld = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

export function createWalletStore(table: Table) {
  return {
    /** Stores a new account with the rows of its opening balance and its credit line: all, or nothing. */
    open: (account: Account, beside: readonly TransactItem[] = []): Promise<OpeningOutcome> =>
      open(table, account, beside),
    /** Adds to the balance or takes from it. A reference counts only once, for all kinds of movements. */
    move: (id: AccountId, entry: Entry, more: MovementLimits = {}): Promise<MovementOutcome> =>
      move(table, id, { ...entry, at: nowOf(table) }, more),
    topUp: (id: AccountId, amountMicros: Micros, reference: string): Promise<MovementOutcome> =>
      move(table, id, { kind: 'top_up', amountMicros, reference, at: nowOf(table) }),
    adjust: (
      id: AccountId,
      amountMicros: Micros,
      reason: string,
      reference?: string,
    ): Promise<MovementOutcome> => {
      const named = { reason, ...(reference !== undefined && { reference }) };
      return move(table, id, { kind: 'adjustment', amountMicros, at: nowOf(table), ...named });
    },
    /** 'changed_meanwhile': the stored credit line is no longer `from`. */
    setCreditLine: (
      id: AccountId,
      from: Micros,
      to: Micros,
      more: CreditLineLimits = {},
    ): Promise<CreditLineOutcome> => setCreditLine(table, id, from, to, more),
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

function nowOf({ clock }: Table): string {
  return new Date(clock.now()).toISOString();
}

const openingReference = 'opening balance';

async function open(
  table: Table,
  account: Account,
  beside: readonly TransactItem[],
): Promise<OpeningOutcome> {
  const { id, createdAt: at, creditLineMicros } = account;
  const balanceMicros = asMicros(account.availableMicros - creditLineMicros);
  const token = Buffer.from(table.randomBytes(16)).toString('hex');
  const row = (kind: LedgerKind, amountMicros: Micros, more: Partial<LedgerRow>): TransactItem =>
    toPutNew(table, { ...keys.ledger(id, at, kind, token), kind, amountMicros, at, ...more });
  const topUp = { kind: 'top_up', amountMicros: balanceMicros, at } as const;
  const by = account.openedBy === undefined ? {} : { by: account.openedBy };
  const items = [
    toPutNew(table, accountToItem(account)),
    ...(balanceMicros > 0
      ? [
          row('top_up', balanceMicros, { reference: openingReference, ...by }),
          referenceItem(table, id, topUp, openingReference),
        ]
      : []),
    ...(creditLineMicros > 0 ? [row('credit_line', creditLineMicros, by)] : []),
  ];
  const isOurs = (found: Item | undefined): boolean => found?.['createdAt'] === at;
  const sent = transact(table, [...items, ...beside], token);
  const outcome = await outcomeOf(table, keys.account(id), sent, isOurs);
  switch (outcome.kind) {
    case 'done':
      return 'opened';
    case 'overloaded':
      throw new Overloaded('The table stayed busy: nothing was changed.');
    case 'refused': {
      const isTaken = outcome.refusals[0] !== undefined;
      return isTaken && isOurs(await getItem(table, keys.account(id))) ? 'opened' : 'refused';
    }
  }
}

async function move(
  table: Table,
  id: AccountId,
  row: Entry & Pick<LedgerRow, 'at'>,
  { beside = [], creditLineMicros: line }: MovementLimits = {},
): Promise<MovementOutcome> {
  const { amountMicros } = row;
  const range = inRange(amountMicros, { ':amount': amountMicros });
  const account: TransactItem = {
    Update: {
      TableName: table.name,
      Key: keys.account(id),
      UpdateExpression: 'SET availableMicros = availableMicros + :amount',
      ...range,
      ...(line !== undefined && {
        ConditionExpression: `${range.ConditionExpression} AND creditLineMicros = :line AND availableMicros >= :least`,
        ExpressionAttributeValues: {
          ...range.ExpressionAttributeValues,
          ':line': line,
          ':least': line - amountMicros,
        },
        ...returnOld,
      }),
    },
  };
  const reference = row.reference === undefined ? [] : [referenceItem(table, id, row, row.reference)];
  const refusals = await write(table, id, account, row, [...reference, ...beside]);
  if (refusals === 'written') return { kind: 'applied' };
  const taken = row.reference === undefined ? undefined : refusals[2];
  if (taken?.item) return outcomeOfReference(row, taken.item);
  const refused = refusals[0];
  if (!refused) return { kind: 'refused_beside' };
  const available = Number(refused.item?.['availableMicros']);
  if (line === undefined || isOutOfRange(available, amountMicros)) return { kind: 'out_of_range' };
  const balanceMicros = asMicros(available - Number(refused.item?.['creditLineMicros']));
  return { kind: 'below_zero', balanceMicros };
}

function isOutOfRange(available: number, change: Micros): boolean {
  const after = available + change;
  return change >= 0 ? after > largestAvailableMicros : after < 0 - largestAvailableMicros;
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
  { kind, amountMicros, at, payment }: Pick<LedgerRow, 'kind' | 'amountMicros' | 'at' | 'payment'>,
  reference: string,
): TransactItem {
  return {
    Put: {
      TableName: table.name,
      Item: {
        ...keys.reference(id, reference),
        kind,
        amountMicros,
        at,
        ...(payment !== undefined && { payment }),
      },
      ConditionExpression: 'attribute_not_exists(pk)',
      ...returnOld,
    },
  };
}

function outcomeOfReference({ kind, amountMicros, payment }: Entry, item: Item): MovementOutcome {
  const by: Movement = {
    // Items of older releases name no kind: only top-ups had a reference.
    kind: (item['kind'] ?? 'top_up') as Movement['kind'],
    amountMicros: asMicros(Number(item['amountMicros'])),
    at: String(item['at']),
    ...(typeof item['payment'] === 'string' && { payment: item['payment'] }),
  };
  // A reversal repeats another one only if both belong to one payment. A payment has its id from this item.
  const isOther = by.kind === 'payment_reversed' && by.payment !== payment;
  const isSame = by.kind === kind && by.amountMicros === amountMicros && !isOther;
  return { kind: isSame ? 'already_applied' : 'reference_taken', by };
}

async function setCreditLine(
  table: Table,
  id: AccountId,
  from: Micros,
  to: Micros,
  { by, beside = [] }: CreditLineLimits,
): Promise<CreditLineOutcome> {
  const amountMicros = asMicros(to - from);
  const row: LedgerRow = {
    kind: 'credit_line',
    amountMicros,
    at: nowOf(table),
    ...(by !== undefined && { by }),
  };
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
  const refusals = await write(table, id, account, row, beside);
  if (refusals === 'written') return 'changed';
  if (!refusals[0]) return 'refused_beside';
  return refusals[0].item?.['creditLineMicros'] === from ? 'out_of_range' : 'changed_meanwhile';
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
  const items = [account, toPutNew(table, { ...key, ...row }), ...more];
  const outcome = await outcomeOf(table, key, transact(table, items, rowId));
  switch (outcome.kind) {
    case 'done':
      return 'written';
    case 'overloaded':
      throw new Overloaded('The table stayed busy: nothing was changed.');
    case 'refused':
      // The row exists already: our earlier try wrote everything, and its answer was lost.
      return outcome.refusals[1] === undefined ? outcome.refusals : 'written';
  }
}

/** If no answer says whether the transaction was written, reads the item that only this transaction makes. */
async function outcomeOf(
  table: Table,
  made: ItemKey,
  sent: Promise<TransactionOutcome>,
  isOurs: (found: Item) => boolean = () => true,
): Promise<TransactionOutcome> {
  let cause: unknown;
  try {
    const outcome = await sent;
    if (outcome.kind !== 'overloaded' || !outcome.unclear) return outcome;
  } catch (error) {
    cause = error;
  }
  const found = await getItem(table, made).catch(() => undefined);
  if (found && isOurs(found)) return { kind: 'done' };
  if (isRefusal(cause)) throw cause;
  throw new OutcomeUnknown('No answer says whether the change was made.', { cause });
}

// Movements of money by the operator.

/** What an operator enters into the ledger. The reference, if there is one, counts once for the account. */
export type Entry = Pick<LedgerRow, 'amountMicros' | 'reference' | 'reason' | 'payment' | 'by'> & {
  readonly kind: Exclude<LedgerKind, 'charge' | 'refund' | 'credit_line'>;
};

export interface MovementLimits {
  /** Written in the same transaction. When one of these conditions fails, nothing is written. */
  readonly beside?: readonly TransactItem[];
  /** The credit line that was read: the movement must not take the balance below zero. */
  readonly creditLineMicros?: Micros;
}

export type CreditLineLimits = Pick<MovementLimits, 'beside'> & Pick<LedgerRow, 'by'>;

export interface Movement {
  readonly kind: Entry['kind'];
  readonly amountMicros: Micros;
  readonly at: string;
  /** The id of the payment. */
  readonly payment?: string;
}

/** The outcome of a movement. Only 'applied' changed anything. */
export type MovementOutcome =
  | { readonly kind: 'applied' }
  /** 'already_applied': an earlier call made the same movement with this reference. */
  | { readonly kind: 'already_applied' | 'reference_taken'; readonly by: Movement }
  | { readonly kind: 'out_of_range' | 'refused_beside' }
  | { readonly kind: 'below_zero'; readonly balanceMicros: Micros };

export type CreditLineOutcome = 'changed' | 'changed_meanwhile' | 'out_of_range' | 'refused_beside';

/** 'refused': the id is taken, or a condition beside the account failed. */
export type OpeningOutcome = 'opened' | 'refused';
