/** The one consistent read at the beginning of a request of the portal, and what follows from it. */
import type { Account } from '../account.ts';
import type { AccountId, PersonId } from '../ids.ts';
import type { Member, Operator, Person, Session } from '../portal/people.ts';
import type { PresentedSession } from '../portal/session.ts';
import type { Block } from './requests.ts';

export interface PortalQuestion {
  /** core/client-address.ts. */
  readonly clientAddress: string;
  readonly nowMillis: number;
  /** Absent when the request has no well-formed cookie. */
  readonly session?: PresentedSession;
}

export interface PortalState {
  readonly block?: Block;
  readonly session?: Session;
  readonly person?: Person;
  /** The person's place in the account that the cookie names. */
  readonly member?: Member;
  readonly account?: Account;
  /** The person's place among the people of the operator. */
  readonly operator?: Operator;
}

export interface PortalAccess {
  /** One consistent BatchGetItem. Throws Overloaded when not all of it could be read. */
  read(question: PortalQuestion): Promise<PortalState>;
  /** Counts a cookie that nobody was given, and blocks the address after too many of them. */
  countRejection(clientAddress: string, nowMillis: number): Promise<void>;
  /** Stores a new session. */
  open(session: Session): Promise<void>;
  /** Notes to the minute that the session is in use. A session that has ended stays as it is. */
  touch(hash: string, nowMillis: number): Promise<void>;
  /** The session is dead at the next request. */
  end(hash: string, nowMillis: number): Promise<void>;
  /** The places of the person in these accounts, and among the people of the operator. */
  placesOf(
    personId: PersonId,
    accounts: readonly AccountId[],
  ): Promise<{ readonly members: readonly Member[]; readonly operator?: Operator }>;
}
