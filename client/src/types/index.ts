/** The types of the API: those that its document states, and those that only the client has. */
import type { CreationStatus } from './generated.ts';

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
