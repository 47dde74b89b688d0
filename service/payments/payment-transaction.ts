/** The transactions of payments: the refusal of a condition is a normal outcome. */
import type { ItemKey, Table } from '../aws/dynamodb/table.ts';
import { type Refusal, transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { Overloaded } from '../values/errors.ts';

/** Undefined: written. Else why each item was refused. Throws Overloaded when nothing was written. */
export async function sendItems(
  table: Table,
  items: readonly TransactItem[],
): Promise<readonly Refusal[] | undefined> {
  const token = Buffer.from(table.randomBytes(16)).toString('hex');
  const outcome = await transact(table, items, token);
  if (outcome.kind === 'overloaded') throw new Overloaded('the payment stayed busy');
  return outcome.kind === 'refused' ? outcome.refusals : undefined;
}

const mostTries = 5;

/** Repeats the work until the records are unchanged since the read. `undefined`: a record has changed. */
export async function again<Value>(work: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const value = await work();
    if (value !== undefined) return value;
  }
  throw new Overloaded('the payment stayed busy');
}

type UpdateOf = Omit<NonNullable<TransactItem['Update']>, 'TableName' | 'Key'>;

export function update(table: Table, Key: ItemKey, parts: UpdateOf): TransactItem {
  return { Update: { TableName: table.name, Key, ...parts } };
}
