/** People, their places in accounts, and invitations. */
import type { AccountId, PersonId } from '../ids.ts';
import type { InvitationRoom } from '../portal/invitation-room.ts';
import type { Invitation, Member, Operator, PeopleScope, Person } from '../portal/people.ts';

/** Who signs in, as the issuer names them. */
export interface Identity {
  readonly id: PersonId;
  readonly issuer: string;
  readonly subject: string;
  /** As normalEmail() gives it. Absent: the issuer names no verified address. */
  readonly email?: string;
}

/** Only a verified address takes up an invitation. */
export interface VerifiedIdentity extends Identity {
  readonly email: string;
}

/**
 * How the e-mail to an invited person ended. "none": the person has signed in before, or the service has no
 * user pool. "refused": the user pool took no e-mail for this address now. The invitation stands all the
 * same.
 */
export type InvitationEmail = 'sent' | 'none' | 'refused';

/** How a change of a membership ended. */
export type PlaceChange =
  | 'changed'
  /** There is no such person here. */
  | 'gone'
  /** The membership has changed since it was read. */
  | 'conflict'
  /** The account would be left without an owner. */
  | 'last_owner';

/** Every function throws Overloaded when the table stayed busy. */
export interface PeopleStore {
  findPerson(id: PersonId): Promise<Person | undefined>;
  /** The members of an account, the oldest first. */
  listMembers(account: AccountId): Promise<Member[]>;
  listOperators(): Promise<Operator[]>;
  /** The open invitations, also those that expired, the oldest first. */
  listInvitations(scope: PeopleScope): Promise<Invitation[]>;
  /**
   * Stores the invitation, if there is room for it, and counts it for its day. It takes the place of an earlier one to
   * the same address.
   * @param emailsADay of the sender that all accounts share. Absent: that of the user pool. Infinity: no
   * e-mails are sent.
   */
  invite(invitation: Invitation, emailsADay?: number): Promise<InvitationRoom>;
  /** False when there is no such invitation. */
  withdraw(scope: PeopleScope, invitationId: string): Promise<boolean>;
  /** The invitations to this address, from everywhere. */
  invitationsTo(invitationId: string): Promise<Invitation[]>;
  /**
   * Gives the person the place of the invitation, and deletes the invitation, in one transaction. False when the
   * invitation is gone or somebody else has taken it up. A person who is here already keeps their place.
   */
  accept(invitation: Invitation, person: VerifiedIdentity, at: string): Promise<boolean>;
  /** Notes a sign-in in the person and in all of the person's places. */
  noteSignIn(person: Person, identity: Identity, at: string): Promise<void>;
  /** Changes role and limit of a member, if they are still those that were read. */
  changeMember(read: Member, next: Pick<Member, 'role' | 'keyCapMicros'>): Promise<PlaceChange>;
  /** Takes the person's place away. */
  removeMember(read: Member): Promise<PlaceChange>;
  removeOperator(personId: PersonId): Promise<PlaceChange>;
  /** All sessions of the person that began by now are dead here. False when there is no such person here. */
  endSessions(scope: PeopleScope, personId: PersonId, nowMillis: number): Promise<boolean>;
}
