/** The keys of people and sessions. They are apart, because only the portal uses them. */
import { type ItemKey, keys } from '../aws/dynamodb/table.ts';
import type { AccountId, PersonId } from '../values/ids.ts';
import { partitionOf } from '../operated/action-store.ts';
import { invitationIdOf, type PeopleScope } from './people.ts';

export const portalKeys = {
  session: (hash: string): ItemKey => ({ pk: `SESSION#${hash}`, sk: 'SESSION' }),
  person: (id: PersonId): ItemKey => ({ pk: `PERSON#${id}`, sk: 'PERSON' }),
  /** The membership of a person in an account, or among the people of the operator. */
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
} as const;

/** People are found by their address in the index of lists. The address itself stays out of the index. */
export function listOfEmail(email: string): string {
  return `EMAIL#${invitationIdOf(email)}`;
}
