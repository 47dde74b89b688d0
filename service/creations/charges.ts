/** Charges and refunds. Each is one conditional transaction together with its ledger row. */
import type { Account, AccountCondition, ApiKey } from '../accounts/account.ts';
import type { Budget } from '../accounts/caps.ts';
import type { FailureName } from '../contract/failures.ts';
import type { CreationId, UploadId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import type { CreationRecord, IdempotencyRecord, RouteAttempt } from './creation.ts';
import type { RetryCharge } from './retries.ts';

/** A creation as this release charges it. */
export type NewCreation = CreationRecord & Required<Pick<CreationRecord, 'chargedDay'>>;

export interface ChargeOrder {
  /** One to four, of one account, key, model, user and time, all or none. The first id is the token. */
  readonly creations: readonly [NewCreation, ...NewCreation[]];
  /** The key as it was read. The charge is refused when its caps have changed since. */
  readonly apiKey: ApiKey;
  /** How many creations the account may have open, as it was read. */
  readonly maxConcurrent: number;
  /** The account's rate of POSTs, in which the charge counts the request. Absent: it was counted before. */
  readonly postRate?: number;
  readonly nowMillis: number;
  /** The uploads that the creations use. From the charge on they are not unused any more. */
  readonly uploads?: readonly UploadId[];
  readonly idempotency?: {
    readonly hash: string;
    readonly requestHash: string;
    /** The first of the failed creations that the key names. Their place is free again. */
    readonly replaces?: CreationId;
    /** How long the key names the creations. Absent: as long as an Idempotency-Key of a client. */
    readonly seconds?: number;
  };
  /** Present when the request has a place among the tries of calls (service/creations/retries.ts). */
  readonly retry?: RetryCharge;
}

/** The outcome of a charge. Every outcome but 'charged' has written nothing. */
export type ChargeOutcome =
  | { readonly kind: 'charged' }
  | { readonly kind: 'account_not_active'; readonly condition: AccountCondition | 'gone' }
  /** The key is gone, revoked or expired. */
  | { readonly kind: 'key_revoked' }
  /** The key may no longer order the model. */
  | { readonly kind: 'model_not_allowed' }
  /** Its caps have changed since they were read, or its spend in a neighbouring month has. */
  | { readonly kind: 'key_changed'; readonly apiKey: ApiKey }
  /** Its limits have changed since they were read, and there is room for all creations. */
  | { readonly kind: 'account_changed'; readonly account: Account }
  | { readonly kind: 'rate_used_up' }
  | { readonly kind: 'idempotency_taken'; readonly record: IdempotencyRecord }
  /** A try of the same body was charged or attached meanwhile. Head and entries have to be read again. */
  | { readonly kind: 'retry_moved' }
  | { readonly kind: 'over_budget'; readonly budget: Budget }
  | { readonly kind: 'over_balance'; readonly availableMicros: Micros }
  | { readonly kind: 'too_many_open'; readonly limit: number; readonly current: number }
  | { readonly kind: 'overloaded' };

export interface Cancel {
  readonly nowMillis: number;
  /** The attempts as they are to be stored: the stopped one with its end. */
  readonly attempts: readonly RouteAttempt[];
}

export interface Refund {
  readonly failure: FailureName;
  readonly nowMillis: number;
  /** False when the client gets the failure as the answer to its request: then no webhook is sent. */
  readonly announce: boolean;
  /** The vendor has stopped the job for a cancel: the creation gets its time of cancellation. */
  readonly isCancelled?: boolean;
}
