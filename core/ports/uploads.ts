/** The records of uploads, and the addresses to which clients put their bytes. */
import type { AccountId, UploadId } from '../ids.ts';
import type { Upload, UploadTarget } from '../upload.ts';

export type NewUploadOutcome =
  | { readonly kind: 'created' }
  /** The account has as many uploads that no accepted creation has used and that have not expired. */
  | { readonly kind: 'too_many_unused'; readonly current: number };

export interface UploadReader {
  /** Those of these uploads that the account has and that have not expired at this time. */
  usable(accountId: AccountId, ids: readonly UploadId[], nowMillis: number): Promise<readonly Upload[]>;
}

export interface UploadStore extends UploadReader {
  /**
   * Stores the record, and takes one of the account's places for unused uploads. Exact, however many calls
   * come at once. Throws Overloaded.
   */
  create(upload: Upload, mostUnused: number, nowMillis: number): Promise<NewUploadOutcome>;
}

export interface UploadTargets {
  /** Signs a request that takes exactly the type and length of the upload, for a quarter of an hour. */
  sign(upload: Upload, nowMillis: number): Promise<UploadTarget>;
}
