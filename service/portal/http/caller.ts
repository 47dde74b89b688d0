/** The caller of the portal's API, as every operation gets it. */
import type { Account } from '../../accounts/account.ts';
import type { ApiAnswer } from '../../api/answer.ts';
import { addressBlocked } from '../../api/problems.ts';
import type { Block } from '../../api/request-store.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { PortalOperationName, portalOperations } from '../../contract/operations.ts';
import type { AnswerOf } from '../../contract/portal-calls.ts';
import type { Clock } from '../../values/runtime.ts';
import type { Member, Person, Session } from '../people.ts';
import type { PortalAccess } from '../session-store.ts';
import { cookieIn, cookieNames, isAlive, isSameSession, parseSession, wasEndedHere } from '../session.ts';
import type { PortalSettings } from '../settings.ts';
import { type PortalRequest, sessionRequired } from './portal-request.ts';

export interface PersonCaller {
  readonly person: Person;
  readonly session: Session;
  readonly isOperator: boolean;
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

export type CallerOf<Name extends PortalOperationName> = (typeof portalOperations)[Name]['role'] extends
  | 'person'
  | 'operator'
  ? PersonCaller
  : MemberCaller;

export interface PortalAnswer<Body = unknown> extends ApiAnswer {
  readonly body: Body;
  /** Text instead of a JSON body, such as CSV. Its content-type is in the headers. */
  readonly text?: string;
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

/** The caller, by one consistent read without a cache: an ended session is dead at once. */
interface AccessServices {
  readonly access: PortalAccess;
  readonly settings: PortalSettings;
  readonly clock: Pick<Clock, 'now'>;
}

/** Throws 429 for a blocked address, and 401 without a session that lives. */
export async function authenticatePerson(
  request: PortalRequest,
  { access, settings, clock }: AccessServices,
): Promise<PersonCaller> {
  const cookie = cookieIn(request.cookies, cookieNames(settings.portalUrl).session);
  const presented = cookie === undefined ? undefined : parseSession(cookie);
  const nowMillis = clock.now();
  const { clientAddress } = request;
  const state = await access.read({ clientAddress, nowMillis, ...(presented && { session: presented }) });
  const { block, session, person } = state;
  const isSignedIn = presented && session && isSameSession(session, presented) && isAlive(session, nowMillis);
  if (block && isBlocked(block, isSignedIn === true)) throw addressBlocked(block.untilMillis - nowMillis);
  if (cookie === undefined) throw sessionRequired('no_session');
  if (!presented || !session || !isSameSession(session, presented)) {
    // A real cookie matches the stored session. Every other cookie is a guess.
    await access.countRejection(clientAddress, nowMillis);
    throw sessionRequired('unknown_session');
  }
  const { member, account, operator } = state;
  if (!person || !isAlive(session, nowMillis)) throw sessionRequired('session_ended');
  if (member && wasEndedHere(session, member)) throw sessionRequired('session_ended');
  return {
    person,
    session,
    isOperator: operator !== undefined && !wasEndedHere(session, operator),
    ...(member && account && { member, account }),
    clientAddress,
    nowMillis,
  };
}

/** Only a block of the address for everything closes the portal: one of the public API does not. */
export function isBlocked({ scope, isKeyless }: Block, isSpared: boolean): boolean {
  return scope === 'all' && !(isKeyless === true && isSpared);
}
