/** The people of an account, signed in before a scenario begins. */
import { createHash } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Role } from '../../../service/contract/operations.ts';
import { personIdOf } from '../../../service/portal/people.ts';
import { portalKeys } from '../../../service/portal/portal-key-items.ts';
import { hashToken, sessionValue } from '../../../service/portal/session.ts';
import type { AccountId, PersonId } from '../../../service/values/ids.ts';
import type { Service } from '../aws/deployed-service.ts';
import { tableName } from '../aws/simulated-table.ts';
import type { World } from '../world/simulated-world.ts';
import { emailOf, issuer, subjectOf } from './addresses.ts';
import { peopleAtStart } from './portal-step.ts';

/** Before the start, so that no wrong clock takes the session for a later one. Sign-ins are fresh for 15 minutes. */
const signedInMillis = 120_000;

export interface PersonHeld {
  readonly id: PersonId;
  readonly role: Role;
  /** The value of the session's cookie, and its random part. */
  readonly cookie: string;
  readonly token: string;
  readonly sessionHash: string;
}

/**
 * Writes people, their places and their sessions straight into the table, as sign-ins would. It draws nothing from
 * the world's stream of randomness.
 */
export function openPeople(accountId: AccountId, world: World, service: Service): readonly PersonHeld[] {
  const signedInAt = world.time.now() - signedInMillis;
  const at = new Date(signedInAt).toISOString();
  const put = (item: object): void =>
    void service.table.perform('PutItem', {
      TableName: tableName,
      Item: marshall(item, { removeUndefinedValues: true }),
    });
  put({
    ...portalKeys.people(accountId),
    owners: peopleAtStart.filter((role) => role === 'owner').length,
  });
  return peopleAtStart.map((role, place) => {
    const subject = subjectOf(accountId, place);
    const id = personIdOf(issuer, subject);
    const email = emailOf(place);
    const token = createHash('sha256').update(`session of ${subject}`).digest('base64url');
    const sessionHash = hashToken(token);
    put({
      ...portalKeys.person(id),
      id,
      issuer,
      subject,
      email,
      accounts: new Set([accountId]),
      createdAt: at,
      lastSignInAt: at,
    });
    put({ ...portalKeys.member(accountId, id), accountId, personId: id, email, role, since: at });
    put({
      ...portalKeys.session(sessionHash),
      hash: sessionHash,
      personId: id,
      accountId,
      authenticatedAt: signedInAt,
      createdAt: signedInAt,
      lastSeenAt: signedInAt,
    });
    return { id, role, token, sessionHash, cookie: sessionValue(token, { personId: id, accountId }) };
  });
}
