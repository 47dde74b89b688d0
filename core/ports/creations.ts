/** The records of creations, and the lease under which an execution works on a creation. */
import type { CreationRecord, CreationStatus, RouteAttempt, StoredImage } from '../creation.ts';
import type { AccountId, CreationId, KeyId } from '../ids.ts';

export type LeaseOutcome =
  /** `turn` is higher than that of every earlier lease of the creation. */
  | { readonly kind: 'leased'; readonly creation: CreationRecord; readonly turn: number }
  | { readonly kind: 'terminal' }
  | { readonly kind: 'leased_by_another' }
  | { readonly kind: 'absent' };

export interface CreationQuery {
  /** The most creations of the page. */
  readonly limit: number;
  /** The page begins after this creation. */
  readonly before?: CreationId;
  readonly status?: CreationStatus;
  readonly model?: string;
  /** Whom the client renders for. */
  readonly user?: string;
  readonly keyId?: KeyId;
  /** The UTC day of the acceptance, "2026-11-21". */
  readonly day?: string;
}

export interface CreationPage {
  readonly creations: readonly CreationRecord[];
  /**
   * The creation after which the next page begins. Absent on the last page. With a filter the
   * work of one call is bounded, so that a page may be shorter than the limit and not the last.
   */
  readonly next?: CreationId;
}

export interface CreationReader {
  read(id: CreationId): Promise<CreationRecord | undefined>;
}

export interface CreationReads extends CreationReader {
  /**
   * The creations of these ids with their leases, consistently and in this order, without those that do not
   * exist.
   */
  readAll(ids: readonly CreationId[]): Promise<readonly CreationRecord[]>;
  /** The creations of an account, the newest first, from the one after `before` on. */
  list(accountId: AccountId, limit: number, before?: CreationId): Promise<readonly CreationRecord[]>;
  /** One page of the account's creations that fit the query, the newest first. */
  page(accountId: AccountId, query: CreationQuery): Promise<CreationPage>;
}

export interface CreationStore extends CreationReads {
  /**
   * Takes the lease of a creation that is still open, which makes the attempts of every earlier renderer too
   * late.
   * @param taskToken the token of the execution's task. It is stored before the creation is read, so that
   *   whoever ends the creation meanwhile finds the token. Without it the stored token stays.
   */
  lease(
    id: CreationId,
    holder: string,
    untilMillis: number,
    nowMillis: number,
    taskToken?: string,
  ): Promise<LeaseOutcome>;
  /** The token of the task that waits for the creation. One consistent read. */
  taskToken(id: CreationId): Promise<string | undefined>;
  /** False when the holder no longer has the lease. */
  renewLease(id: CreationId, holder: string, untilMillis: number): Promise<boolean>;
  /**
   * Writes the list of attempts. False when the creation has ended, or another renderer has taken it up in a
   * later turn.
   */
  saveAttempts(id: CreationId, turn: number, attempts: readonly RouteAttempt[]): Promise<boolean>;
  /**
   * Notes that a vendor is about to be asked to stop the job. False when the creation has ended, or its attempts
   * are no longer those of the given record.
   */
  noteCancel(creation: CreationRecord, at: string): Promise<boolean>;
  /**
   * Removes this note, so that the creation is not ended as cancelled because of it. False when the creation
   * has ended, its attempts have changed, or a later cancel has replaced the note.
   */
  withdrawCancel(creation: CreationRecord, at: string): Promise<boolean>;
  /** 'busy': a conflict outlasted the retries. The caller has to call again. */
  complete(creation: CreationRecord, done: Completion): Promise<'completed' | 'already_terminal' | 'busy'>;
}

export interface Completion {
  readonly results: readonly StoredImage[];
  readonly resultsExpireAt: number;
  readonly attempts: readonly RouteAttempt[];
  readonly nowMillis: number;
}
