/** The record of a creation, and the lease under which an execution works on it. */
import type { CreationRecord, CreationStatus, RouteAttempt, StoredImage } from '../creation.ts';
import type { AccountId, CreationId } from '../ids.ts';

export type LeaseOutcome =
  | { readonly kind: 'leased'; readonly creation: CreationRecord }
  | { readonly kind: 'terminal' }
  | { readonly kind: 'leased_by_another' }
  | { readonly kind: 'absent' };

export interface CreationQuery {
  /** The most creations of the page. */
  readonly limit: number;
  /** The page begins behind this one. */
  readonly before?: CreationId;
  readonly status?: CreationStatus;
  readonly model?: string;
}

export interface CreationPage {
  readonly creations: readonly CreationRecord[];
  /**
   * The creation behind which the next page begins; absent when there are no more. With a
   * filter the work of one call is bounded: a page may be shorter than the limit and go on.
   */
  readonly next?: CreationId;
}

export interface CreationStore {
  read(id: CreationId): Promise<CreationRecord | undefined>;
  /** An account's creations, the newest first, from behind the given one. */
  list(accountId: AccountId, limit: number, before?: CreationId): Promise<readonly CreationRecord[]>;
  /** Those of an account's creations that the query wants, the newest first, and where to go on. */
  page(accountId: AccountId, query: CreationQuery): Promise<CreationPage>;
  lease(id: CreationId, holder: string, untilMillis: number, nowMillis: number): Promise<LeaseOutcome>;
  /** False when the lease is no longer the holder's. */
  renewLease(id: CreationId, holder: string, untilMillis: number): Promise<boolean>;
  /** Writes the list of attempts; false when the lease is no longer the holder's. */
  saveAttempts(id: CreationId, holder: string, attempts: readonly RouteAttempt[]): Promise<boolean>;
  /** 'busy': a conflict outlasted the retries, to be called again. */
  complete(creation: CreationRecord, done: Completion): Promise<'completed' | 'already_terminal' | 'busy'>;
}

export interface Completion {
  readonly results: readonly StoredImage[];
  readonly resultsExpireAt: number;
  readonly attempts: readonly RouteAttempt[];
  readonly nowMillis: number;
}
