/** The log of an account's events. */
import type { CreationRecord } from '../creation.ts';
import type { AccountId, CreationId, EventId, NoticeId } from '../ids.ts';
import type { NoticeRecord } from '../notice.ts';

/** An event as it is stored. Its payload is the webhook body of the creation, or the body of the notice. */
export interface EventEntry {
  readonly id: EventId;
  readonly of: CreationId | NoticeId;
  /** A redelivery. Absent: the end of a creation, or a notice. */
  readonly again?: true;
}

/** A place between two events of the log: `index` events of the page are before it. */
export interface EventPlace {
  readonly page: number;
  readonly index: number;
}

/** An event with the position directly after it. */
export interface PlacedEvent extends EventEntry {
  readonly next: EventPlace;
}

/** Every function throws Overloaded when the table stayed busy. */
export interface EventLog {
  /** Has every end from now on write an event. */
  begin(account: AccountId, nowMillis: number): Promise<void>;
  /**
   * The position after every event that has committed. Gives the events their positions first.
   * @param isTimeLeft false: the work ends, and events without a place will come behind the returned place
   */
  end(account: AccountId, isTimeLeft: () => boolean): Promise<EventPlace>;
  /**
   * The events after a place, the oldest first, as many as the limit at most. Undefined when the log does not
   * have the place, as after a restore of the table.
   */
  read(account: AccountId, after: EventPlace, limit: number): Promise<readonly PlacedEvent[] | undefined>;
  /** The records that the events tell of, by their ids. */
  subjects(entries: readonly EventEntry[]): Promise<ReadonlyMap<string, CreationRecord | NoticeRecord>>;
}
