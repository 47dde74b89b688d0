/** What is known of a request before anything is decided: one consistent read, and what is counted. */
import type { Account, ApiKey } from '../account.ts';
import type { CreationRecord } from '../creation.ts';
import type { AccountId, CreationId, KeyId } from '../ids.ts';

export interface RequestQuestion {
  readonly clientAddress: string;
  /** Absent when the request carries no well-formed key. */
  readonly key?: { readonly accountId: AccountId; readonly keyId: KeyId };
  readonly rate: 'get' | 'post';
  readonly nowMillis: number;
  readonly idempotencyHash?: string;
  readonly creationId?: CreationId;
}

export interface IdempotencyRecord {
  readonly creationId: CreationId;
  readonly requestHash: string;
  readonly expiresAt: number;
}

/** Everything that one consistent read says about a request. */
export interface RequestState {
  readonly block?: { readonly untilMillis: number; readonly scope: 'all' | 'public' };
  readonly account?: Account;
  readonly apiKey?: ApiKey;
  /** Requests already counted in this minute. */
  readonly rateCount: number;
  readonly idempotency?: IdempotencyRecord;
  readonly openCreations: number;
  /** Providers that have a credential, or were switched on; read where no creation is asked for. */
  readonly enabledProviders: readonly string[];
  readonly creation?: CreationRecord;
}

export interface RequestStore {
  /** One consistent BatchGetItem. Throws Overloaded when not all of it could be read. */
  read(question: RequestQuestion): Promise<RequestState>;
  /** Counts one request; false when the window's limit is used up. */
  countRequest(
    accountId: AccountId,
    rate: 'get' | 'post',
    limit: number,
    nowMillis: number,
  ): Promise<boolean>;
  /** Notes when a key was last used, to the hour. */
  noteKeyUse(accountId: AccountId, keyId: KeyId, hour: string): Promise<void>;
  /** Stamps a poll; false when the last one is less than the interval ago. */
  stampPoll(creationId: CreationId, intervalMillis: number, nowMillis: number): Promise<boolean>;
  /** Counts a rejected authentication and blocks the address when there were too many. */
  countRejection(clientAddress: string, kind: '401' | '403', nowMillis: number): Promise<void>;
}

/** DynamoDB shed the load, and the retries are used up: nothing was written. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/** No answer says whether a write was made: the books have to be looked at before it is repeated. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}
