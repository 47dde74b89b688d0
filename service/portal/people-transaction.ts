/** Transactions over people, from small steps. */
import type { UpdateParts } from '../aws/dynamodb/send.ts';
import type { Item, ItemKey, Table } from '../aws/dynamodb/table.ts';
import { type Refusal, transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { Overloaded } from '../values/errors.ts';

/** One item of a transaction, without the name of the table. */
export type Step = (table: string) => TransactItem;

export function toDelete(key: ItemKey, condition: string, values?: Item): Step {
  return (table) => ({
    Delete: {
      TableName: table,
      Key: key,
      ConditionExpression: condition,
      ...(values && { ExpressionAttributeValues: values }),
    },
  });
}

/** Puts the item under each key that the returned function is called with. */
export function toPut(item: Item, condition?: string): (key: ItemKey) => Step {
  return (key) => (table) => ({
    Put: {
      TableName: table,
      Item: { ...item, ...key },
      ...(condition !== undefined && { ConditionExpression: condition }),
    },
  });
}

export function toUpdate(key: ItemKey, parts: UpdateParts): Step {
  return (table) => ({
    Update: { TableName: table, Key: key, ...parts, UpdateExpression: parts.UpdateExpression ?? '' },
  });
}

/** The refusals of the steps, in their order; or that everything was written. */
export type Outcome = 'done' | readonly Refusal[];

/** Throws Overloaded when the table stayed busy. */
export async function inOneStep(table: Table, steps: readonly Step[]): Promise<Outcome> {
  const token = Buffer.from(table.randomBytes(24)).toString('base64url');
  const outcome = await transact(
    table,
    steps.map((step) => step(table.name)),
    token,
  );
  switch (outcome.kind) {
    case 'done':
      return 'done';
    case 'refused':
      return outcome.refusals;
    case 'overloaded':
      throw new Overloaded('the people of the account stayed busy');
  }
}

/** Whether the condition of the step at this place did not hold. */
export function refusedAt(outcome: Outcome, place: number): boolean {
  return outcome !== 'done' && outcome[place] !== undefined;
}
