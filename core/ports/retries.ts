/** What is kept of the tries of calls (core/retries.ts). Charges write new entries. */
import type { RetryEntry, RetryHead, RetryPlace, Told, Try } from '../retries.ts';

export interface RetryStore {
  /** Consistent. Undefined: no try of this body has come, or its record has expired. */
  readHead(place: RetryPlace): Promise<RetryHead | undefined>;
  /**
   * The entries that have not expired, newest first. Consistent. The head must be read before them: then an
   * entry that is missing here makes the charge fail that names the head.
   */
  entries(place: RetryPlace, nowMillis: number): Promise<readonly RetryEntry[]>;
  /**
   * Notes that the entry has seen the try. False when another request was faster: with the same number, or with
   * a charge in its place. Then head and entries have to be read again.
   */
  attach(request: Try, entry: RetryEntry, nowMillis: number): Promise<boolean>;
  /** Notes what an answer about the entry has said. Changes nothing when it names other creations by now. */
  note(place: RetryPlace, entry: Pick<RetryEntry, 'id' | 'creationIds'>, told: Told): Promise<void>;
}
