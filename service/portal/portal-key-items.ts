/** The keys of people, sessions and actions. They are apart, because only the portal uses them. */
import { type ItemKey, keys } from '../aws/dynamodb/table.ts';
import type { AccountId, PersonId } from '../values/ids.ts';
import type { PeopleScope } from './people.ts';

export function partitionOf(scope: PeopleScope): string {
  return scope === 'SERVICE' ? keys.service().pk : keys.account(scope).pk;
}

export const portalKeys = {
  session: (hash: string): ItemKey => ({ pk: `SESSION#${hash}`, sk: 'SESSION' }),
  person: (id: PersonId): ItemKey => ({ pk: `PERSON#${id}`, sk: 'PERSON' }),
  /** The place of a person in an account, or among the people of the operator. */
  member: (scope: PeopleScope, id: PersonId): ItemKey => ({ pk: partitionOf(scope), sk: `MEMBER#${id}` }),
  people: (account: AccountId): ItemKey => ({ pk: keys.account(account).pk, sk: 'PEOPLE' }),
  invitation: (scope: PeopleScope, id: string): ItemKey => ({
    pk: partitionOf(scope),
    sk: `INVITATION#${id}`,
  }),
  invitationsSent: (scope: PeopleScope): ItemKey => ({ pk: partitionOf(scope), sk: 'INVITATIONS_SENT' }),
  /** The same count over all accounts. Who may write an invitation may write this item, and no item of the service. */
  allInvitationsSent: (): ItemKey => ({ pk: 'INVITED#ALL', sk: 'INVITATIONS_SENT' }),
  invited: (scope: PeopleScope, id: string): ItemKey => ({ pk: `INVITED#${id}`, sk: scope }),
  /** @param id begins with the time of the action */
  action: (scope: PeopleScope, id: string): ItemKey => ({ pk: partitionOf(scope), sk: `ACTION#${id}` }),
} as const;
