/** The attempts of webhooks, and the delivery log. */
import type { SealedSecret } from '../accounts/account.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { FailureKind } from '../outbound/outbound.ts';
import type { AccountId, CreationId, NoticeId } from '../values/ids.ts';

export type DeliveryOutcome = 'delivered' | 'failed' | 'unknown';

/** The beginnings of the signatures of an attempt: enough to recognize them, and of no other use. */
export interface SignatureCuts {
  readonly current: string;
  readonly previous?: string;
  readonly standard: readonly string[];
}

/** One attempt, a row of the delivery log. */
export interface Delivery {
  readonly id: string;
  readonly accountId: AccountId;
  /** Of a webhook. Absent: the attempt sent a notice. */
  readonly creationId?: CreationId;
  readonly noticeId?: NoticeId;
  /** The event of the creation, or the type of the notice. */
  readonly event: string;
  readonly url: string;
  readonly attempt: number;
  readonly startedAt: string;
  readonly outcome?: DeliveryOutcome;
  /** The HTTP status of the answer. Absent when no answer came. */
  readonly status?: number;
  /** Why no answer came: "timeout", "refused address" or "connection". */
  readonly reason?: string;
  /** The same, as exactly as the connection reported it. Absent in rows of older releases. */
  readonly failure?: FailureKind;
  readonly millis?: number;
  /** At most 1 KiB of the answer's body. */
  readonly responseExcerpt?: string;
  /** At most 16 headers of the answer, and 1 KiB of them. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** Unix seconds: the time that the signatures cover. */
  readonly signedAt?: number;
  readonly cuts?: SignatureCuts;
  /** When the next attempt is due, RFC 3339. Absent when no attempt follows. */
  readonly nextAttemptAt?: string;
}

export interface DeliveryClaim {
  readonly delivery: Delivery;
  readonly body: string;
  /** Unix milliseconds before which no other invocation may send the next attempt. */
  readonly nextAt: number;
  readonly nowMillis: number;
}

/** What the attempt of a webhook has to know of its account. */
export interface DeliveringAccount {
  readonly secrets: readonly SealedSecret[];
  /** Absent: the account gets no notices, and its failed attempts are not counted. */
  readonly failures?: { readonly inARow: number; readonly isTold: boolean };
}

export interface DeliveryStore {
  /** One read, also for the count of failures: a success costs no further call. */
  deliveringAccount(accountId: AccountId): Promise<DeliveringAccount>;
  /** Counts one more failed attempt of a webhook. Returns how many have failed in a row. */
  countFailure(accountId: AccountId): Promise<number>;
  /** Resets the count of failed attempts. The next ten cause a notice again. */
  resetFailures(accountId: AccountId): Promise<void>;
  /**
   * Takes an attempt and writes its row before anything is sent. False when it is not due or another
   * invocation has it.
   */
  claim(claim: DeliveryClaim): Promise<boolean>;
  /**
   * Completes the row of the attempt. `next` is the time of the next attempt, or the final status of the
   * webhook.
   */
  settle(
    delivery: Delivery,
    next: { readonly at: number } | { readonly status: 'delivered' | 'failed' },
  ): Promise<void>;
  skip(id: CreationId | NoticeId): Promise<void>;
  /**
   * Fails a webhook whose last attempt began and was never settled. Does nothing when it was settled
   * meanwhile.
   */
  giveUp(id: CreationId | NoticeId): Promise<void>;
  /** Claims a test delivery for the account. Returns 0, or the milliseconds to wait when it is too soon. */
  claimTest(accountId: AccountId, intervalMillis: number, nowMillis: number): Promise<number>;
  /** Writes the row of a delivery that belongs to no creation. */
  record(delivery: Delivery): Promise<void>;
  find(accountId: AccountId, deliveryId: string): Promise<Delivery | undefined>;
  /** The latest attempts of the account, the newest first. */
  log(accountId: AccountId, limit: number): Promise<readonly Delivery[]>;
  /**
   * The creations of the attempts since a moment after which no other attempt followed, and that did not deliver.
   * The oldest first, some at once. A creation may come more than once, and its webhook may be delivered by now.
   */
  lastAttemptsSince(accountId: AccountId, sinceMillis: number): AsyncIterable<readonly CreationId[]>;
  /** Opens a new round of attempts and counts one more execution. False when the webhook is still pending. */
  reopen(creation: CreationRecord, nowMillis: number): Promise<boolean>;
}
