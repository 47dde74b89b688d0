/** The one consistent read at the beginning of a request, and the counters of requests. */
import type { Account, ApiKey, ToldCap } from '../account.ts';
import type { CreationRecord } from '../creation.ts';
import type { AccountId, CreationId, KeyId } from '../ids.ts';
import type { Micros } from '../money.ts';
import type { ProviderSwitches } from '../providers.ts';
import type { ClosedService } from './service-switch.ts';

export interface RequestQuestion {
  readonly clientAddress: string;
  /** Absent when the request carries no well-formed key. */
  readonly key?: { readonly accountId: AccountId; readonly keyId: KeyId };
  readonly rate: 'get' | 'post';
  readonly nowMillis: number;
  readonly idempotencyHash?: string;
  readonly creationId?: CreationId;
  /** core/user.ts. Reads what is spent in this month for the user by this key. */
  readonly userHash?: string;
}

export interface IdempotencyRecord {
  /** The creations that one charge made. */
  readonly creationIds: readonly [CreationId, ...CreationId[]];
  readonly requestHash: string;
  readonly expiresAt: number;
}

/** Why an authentication was rejected: there was no key, the key or cookie was wrong, or the account is paused. */
export type Rejection = 'keyless' | '401' | '403';

/** An address that is blocked for a while. */
export interface Block {
  readonly untilMillis: number;
  readonly scope: 'all' | 'public';
  /** Fewer wrong keys than a block takes came in: the rest had no key. People who are signed in to the portal go on. */
  readonly isKeyless?: boolean;
}

/**
 * Everything that the consistent read returns about a request. No provider is enabled or paused when the question
 * names a creation.
 */
export interface RequestState extends ProviderSwitches {
  readonly block?: Block;
  readonly account?: Account;
  readonly apiKey?: ApiKey;
  /** Requests already counted in this minute. */
  readonly rateCount: number;
  readonly idempotency?: IdempotencyRecord;
  /** In the whole service, as an estimate. Only for a POST that names no creation. */
  readonly openCreations: number;
  /** The operator has closed the service. Never set when the question names a creation. */
  readonly closed?: ClosedService;
  /** Of the operator's catalog. Absent: there is none, or the question names a creation. */
  readonly catalogRevision?: string;
  readonly creation?: CreationRecord;
  /** What is spent in this month for the user, as far as the key's cap for each user has counted it. */
  readonly userSpentMicros?: Micros;
  /** The notices sent about the cap of this user. */
  readonly userTold?: ToldCap;
}

export interface RequestStore {
  /** One consistent BatchGetItem. Throws Overloaded when not all of it could be read. */
  read(question: RequestQuestion): Promise<RequestState>;
  /** Counts one request. False when the limit of the window is used up. */
  countRequest(
    accountId: AccountId,
    rate: 'get' | 'post',
    limit: number,
    nowMillis: number,
  ): Promise<boolean>;
  /** Notes when a key was last used, to the hour. */
  noteKeyUse(accountId: AccountId, keyId: KeyId, hour: string): Promise<void>;
  /** Notes the time of a poll. False when the last poll is less than the interval ago. */
  stampPoll(creationId: CreationId, intervalMillis: number, nowMillis: number): Promise<boolean>;
  /** Counts a rejected authentication, and blocks the address after too many of them. */
  countRejection(clientAddress: string, rejection: Rejection, nowMillis: number): Promise<void>;
}

/** DynamoDB was too busy until the retries were used up. Nothing was written. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/**
 * No answer says whether a write was made. The caller has to read the stored state before it repeats the
 * write.
 */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}
