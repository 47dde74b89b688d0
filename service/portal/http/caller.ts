/** The caller of the portal's API, as every operation gets it. */
import type { Account } from '../../accounts/account.ts';
import type { ApiAnswer } from '../../api/answer.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { PortalOperationName, portalOperations } from '../../contract/operations.ts';
import type { AnswerOf } from '../../contract/portal-calls.ts';
import type { Member, Person, Session } from '../people.ts';

/** A person who is signed in. */
export interface PersonCaller {
  readonly person: Person;
  readonly session: Session;
  readonly isOperator: boolean;
  /** The account of the session, when the person is a member of it. */
  readonly account?: Account;
  readonly member?: Member;
  /** The person's own address on the network, as the portal's distribution saw it. */
  readonly clientAddress: string;
  /** When the request was authenticated, in Unix milliseconds. */
  readonly nowMillis: number;
}

/** A member of the account of the session, with at least the role of the operation. */
export interface MemberCaller extends PersonCaller {
  readonly account: Account;
  readonly member: Member;
}

/** The caller of an operation follows from the operation's role. */
export type CallerOf<Name extends PortalOperationName> = (typeof portalOperations)[Name]['role'] extends
  | 'person'
  | 'operator'
  ? PersonCaller
  : MemberCaller;

/** What an operation of the portal answers. */
export interface PortalAnswer<Body = unknown> extends ApiAnswer {
  readonly body: Body;
  /** Text instead of a JSON body, such as CSV. Its content-type is in the headers. */
  readonly text?: string;
  /** Values of set-cookie. */
  readonly cookies?: readonly string[];
  /** For the log of actions: what the operation was done to, when the path does not say it, and a remark. */
  readonly logged?: { readonly target?: string; readonly note?: string };
}

/** An operation of the portal. Text, such as CSV, replaces its body. It throws a Problem to refuse. */
export type PortalHandle<Name extends PortalOperationName, Services> = (
  request: ApiRequest,
  caller: CallerOf<Name>,
  services: Services,
) => Promise<PortalAnswer<AnswerOf<Name> extends string ? null : AnswerOf<Name>>>;
