/** Changes of members. The last owner of an account stays: the same transaction looks at the count of owners. */
import type { AccountId, PersonId } from '../../../core/ids.ts';
import type { PlaceChange } from '../../../core/ports/people.ts';
import type { Member } from '../../../core/portal/people.ts';
import { inOneStep, refusedAt, toDelete, toUpdate, type Step } from './people-transaction.ts';
import { portalKeys } from './portal-keys.ts';
import { getItem } from '../send.ts';
import type { Item, Table } from '../table.ts';

export async function changeMember(
  table: Table,
  read: Member,
  { role, keyCapMicros }: Pick<Member, 'role' | 'keyCapMicros'>,
): Promise<PlaceChange> {
  const { accountId, personId } = read;
  const same = asItWasRead(read);
  const owners = Number(role === 'owner') - Number(read.role === 'owner');
  const change = toUpdate(portalKeys.member(accountId, personId), {
    UpdateExpression: `SET #role = :next${keyCapMicros === undefined ? ' REMOVE keyCapMicros' : ', keyCapMicros = :nextCap'}`,
    ConditionExpression: same.condition,
    ExpressionAttributeNames: { '#role': 'role' },
    ExpressionAttributeValues: {
      ...same.values,
      ':next': role,
      ...(keyCapMicros !== undefined && { ':nextCap': keyCapMicros }),
    },
  });
  return ending(table, read, [change, ...(owners === 0 ? [] : [countOwners(accountId, owners)])]);
}

export async function removeMember(table: Table, read: Member): Promise<PlaceChange> {
  const { accountId, personId } = read;
  const same = asItWasRead(read);
  const removal: Step = (name) => ({
    Delete: {
      TableName: name,
      Key: portalKeys.member(accountId, personId),
      ConditionExpression: same.condition,
      ExpressionAttributeNames: { '#role': 'role' },
      ExpressionAttributeValues: same.values,
    },
  });
  const leave = toUpdate(portalKeys.person(personId), {
    UpdateExpression: 'DELETE accounts :accounts',
    ExpressionAttributeValues: { ':accounts': new Set([accountId]) },
  });
  return ending(table, read, [
    removal,
    ...(read.role === 'owner' ? [countOwners(accountId, -1)] : []),
    leave,
  ]);
}

export async function removeOperator(table: Table, personId: PersonId): Promise<PlaceChange> {
  const removal = toDelete(portalKeys.member('SERVICE', personId), 'attribute_exists(pk)');
  return (await inOneStep(table, [removal])) === 'done' ? 'changed' : 'gone';
}

/** The condition that the member is as the caller read it. */
function asItWasRead({ role, keyCapMicros }: Member): { condition: string; values: Item } {
  const hasSameCap =
    keyCapMicros === undefined ? 'attribute_not_exists(keyCapMicros)' : 'keyCapMicros = :cap';
  return {
    condition: `#role = :role AND ${hasSameCap}`,
    values: { ':role': role, ...(keyCapMicros !== undefined && { ':cap': keyCapMicros }) },
  };
}

/** @param by 1 or -1. The last owner cannot be taken away. */
function countOwners(accountId: AccountId, by: number): Step {
  return toUpdate(portalKeys.people(accountId), {
    UpdateExpression: 'ADD owners :by',
    ...(by < 0 && { ConditionExpression: 'owners > :one' }),
    ExpressionAttributeValues: { ':by': by, ...(by < 0 && { ':one': 1 }) },
  });
}

/** @param steps the change of the member is the first; when owners are counted, the count is the second */
async function ending(table: Table, read: Member, steps: readonly Step[]): Promise<PlaceChange> {
  const outcome = await inOneStep(table, steps);
  if (outcome === 'done') return 'changed';
  if (!refusedAt(outcome, 0)) return 'last_owner';
  return (await getItem(table, portalKeys.member(read.accountId, read.personId))) ? 'conflict' : 'gone';
}
