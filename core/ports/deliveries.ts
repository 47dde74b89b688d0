/** Webhooks: their attempts and the delivery log. */
import type { SealedSecret } from '../account.ts';
import type { CreationRecord } from '../creation.ts';
import type { AccountId, CreationId } from '../ids.ts';

export type DeliveryOutcome = 'delivered' | 'failed' | 'unknown';

/** One attempt as the delivery log shows it. */
export interface Delivery {
  readonly id: string;
  readonly accountId: AccountId;
  readonly creationId: CreationId;
  readonly event: string;
  readonly url: string;
  readonly attempt: number;
  readonly startedAt: string;
  readonly outcome?: DeliveryOutcome;
  /** HTTP status of the answer; absent when there was none. */
  readonly status?: number;
  /** Why there was no answer: "timeout", "refused address", "connection". */
  readonly reason?: string;
  readonly millis?: number;
  readonly responseExcerpt?: string;
  /** When the next attempt is due, RFC 3339; absent when there is none. */
  readonly nextAttemptAt?: string;
}

export interface DeliveryClaim {
  readonly delivery: Delivery;
  readonly body: string;
  /** Before this nobody else may send the next attempt. */
  readonly nextAt: number;
  readonly nowMillis: number;
}

export interface DeliveryStore {
  accountSecrets(accountId: AccountId): Promise<readonly SealedSecret[]>;
  /** Takes attempt n before anything is sent, with its row in the log; false when it is not due or another has it. */
  claim(claim: DeliveryClaim): Promise<boolean>;
  /** Completes the attempt's row; undefined as next: the webhook is settled with the given status. */
  settle(
    delivery: Delivery,
    next: { readonly at: number } | { readonly status: 'delivered' | 'failed' },
  ): Promise<void>;
  skip(id: CreationId): Promise<void>;
  /** Fails a webhook whose last attempt was begun and never settled; does nothing when it was settled meanwhile. */
  giveUp(id: CreationId): Promise<void>;
  /** Takes the account's turn for a test delivery; milliseconds to wait when it is too soon, else 0. */
  claimTest(accountId: AccountId, intervalMillis: number, nowMillis: number): Promise<number>;
  /** Logs a delivery that belongs to no creation. */
  record(delivery: Delivery): Promise<void>;
  find(accountId: AccountId, deliveryId: string): Promise<Delivery | undefined>;
  /** The last attempts, the newest first. */
  log(accountId: AccountId, limit: number): Promise<readonly Delivery[]>;
  /** Opens a new round of attempts, with one execution more noted; false when the webhook is still pending. */
  reopen(creation: CreationRecord, nowMillis: number): Promise<boolean>;
}
