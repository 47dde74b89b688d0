/** Converts between items and people. */
import type { AccountId } from '../../../core/ids.ts';
import type { Invitation, Member, Operator, Person } from '../../../core/portal/people.ts';
import { ttlAttribute, type Item } from '../table.ts';

function withoutKeys(item: Item): Item {
  const { pk: _pk, sk: _sk, [ttlAttribute]: _ttl, ...rest } = item;
  return rest;
}

/** DynamoDB keeps no empty set: a person without accounts has no attribute. */
export function personFromItem(item: Item): Person {
  const { accounts, ...rest } = withoutKeys(item);
  const ids = accounts instanceof Set ? ([...accounts] as AccountId[]) : [];
  return { ...rest, accounts: ids.sort() } as unknown as Person;
}

export function memberFromItem(item: Item): Member {
  return withoutKeys(item) as unknown as Member;
}

export function operatorFromItem(item: Item): Operator {
  return withoutKeys(item) as unknown as Operator;
}

export function invitationFromItem(item: Item): Invitation {
  return withoutKeys(item) as unknown as Invitation;
}
