/** Stores an invitation if the counts of the day are still those that were read. */
import { getItem, type UpdateParts } from '../aws/dynamodb/send.ts';
import type { Item, ItemKey, Table } from '../aws/dynamodb/table.ts';
import { type Refusal, transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { Overloaded } from '../values/errors.ts';
import { type InvitationRoom, roomForInvitation } from './invitation-room.ts';
import type { Invitation } from './people.ts';
import { portalKeys } from './portal-key-items.ts';

// Transactions over people, from small steps.

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

export function refusedAt(outcome: Outcome, place: number): boolean {
  return outcome !== 'done' && outcome[place] !== undefined;
}

/** As many as an account may send on a day, and a few of other accounts. */
const mostTries = 25;

interface Count {
  readonly sent: number;
  readonly oneMore: Step;
}

export async function inviteIfRoom(
  table: Table,
  invitation: Invitation,
  steps: readonly Step[],
  { emailsADay, list }: { readonly emailsADay: number; readonly list: () => Promise<readonly Invitation[]> },
): Promise<InvitationRoom> {
  const { accountId, invitedAt } = invitation;
  const day = invitedAt.slice(0, 10);
  for (let attempt = 1; attempt <= mostTries; attempt += 1) {
    const [byAccount, inAll] = await Promise.all([
      readCount(table, portalKeys.invitationsSent(accountId), day),
      readCount(table, portalKeys.allInvitationsSent(), day),
    ]);
    // The list is read after the counts: whatever is added to it later changes the counts as well.
    const sent = { byAccount: byAccount.sent, inAll: inAll.sent };
    const now = { emailsADay, nowMillis: Date.parse(invitedAt) };
    const room = roomForInvitation(invitation, await list(), sent, now);
    if (room.kind !== 'room') return room;
    if ((await inOneStep(table, [byAccount.oneMore, inAll.oneMore, ...steps])) === 'done') return room;
    await table.clock.sleep(attempt * (1 + (table.randomBytes(1)[0] ?? 0) / 16));
  }
  throw new Overloaded('the counts of invitations kept changing');
}

async function readCount(table: Table, key: ItemKey, day: string): Promise<Count> {
  const item = await getItem(table, key);
  const sent = item?.['day'] === day ? Number(item['sent']) : 0;
  return {
    sent,
    oneMore: toUpdate(key, {
      UpdateExpression: 'SET #day = :day, sent = :next',
      ConditionExpression: item ? '#day = :readDay AND sent = :read' : 'attribute_not_exists(pk)',
      ExpressionAttributeNames: { '#day': 'day' },
      ExpressionAttributeValues: {
        ':day': day,
        ':next': sent + 1,
        ...(item && { ':readDay': item['day'], ':read': item['sent'] }),
      },
    }),
  };
}
