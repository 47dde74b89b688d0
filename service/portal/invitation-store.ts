/**
 * Stores an invitation together with the counts of its day. The transaction requires the counts that were read, and
 * every invitation changes them: so of invitations at the same time one is stored, and the others count
 * again.
 */
import { getItem } from '../aws/dynamodb/send.ts';
import type { ItemKey, Table } from '../aws/dynamodb/table.ts';
import { Overloaded } from '../values/errors.ts';
import { type InvitationRoom, roomForInvitation } from './invitation-room.ts';
import { inOneStep, type Step, toUpdate } from './people-transaction.ts';
import type { Invitation } from './people.ts';
import { portalKeys } from './portal-key-items.ts';

/** As many as an account may send on a day, and a few of other accounts. */
const mostTries = 25;

interface Count {
  readonly sent: number;
  /** One more on this day, if the item is still the one that was read. */
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
