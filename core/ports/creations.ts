/** The record of a creation, and the lease under which an execution works on it. */
import type { CreationRecord, RouteAttempt, StoredImage } from '../creation.ts';
import type { AccountId, CreationId } from '../ids.ts';

export type LeaseOutcome =
  | { readonly kind: 'leased'; readonly creation: CreationRecord }
  | { readonly kind: 'terminal' }
  | { readonly kind: 'leased_by_another' }
  | { readonly kind: 'absent' };

export interface CreationStore {
  read(id: CreationId): Promise<CreationRecord | undefined>;
  /** An account's creations, the newest first, from behind the given one; one more than the limit tells that there are more. */
  list(accountId: AccountId, limit: number, before?: CreationId): Promise<readonly CreationRecord[]>;
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
