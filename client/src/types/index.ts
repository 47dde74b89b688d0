/** The types of the API: those that its document states, and those that only the client has. */
import type { CreationCompleted, CreationFailed, CreationStatus } from './generated.ts';

export type * from './generated.ts';

/** Which creations to list. */
export interface CreationFilter {
  readonly status?: CreationStatus | undefined;
  readonly model?: string | undefined;
  /** Only creations for this user of yours. */
  readonly user?: string | undefined;
  /** The size of a page: 1 to 100. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** What happened to a creation. */
export interface Event {
  readonly id: string;
  readonly event: 'creation.completed' | 'creation.failed';
  readonly created_at: string;
  /** The body of the webhook. */
  readonly payload: CreationCompleted | CreationFailed;
  /** The id of the first event, if this one repeats it. */
  readonly redelivery_of: string | null;
}

/** Events, the oldest first. */
export interface EventPage {
  readonly data: readonly Event[];
  /** What the next page begins with. */
  readonly next_cursor: string;
}
