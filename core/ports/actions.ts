/** The log of what people did in the portal. */
import type { PersonId } from '../ids.ts';
import type { PeopleScope } from '../portal/people.ts';

export interface Action {
  /** Where it is listed: in an account, or with the people of the operator. */
  readonly scope: PeopleScope;
  /** The time in milliseconds and random text, so that ids sort by time. */
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  readonly personId: PersonId;
  readonly email: string;
  /** The name of the operation. */
  readonly action: string;
  readonly target?: string;
  /** 'begun': its end is unknown. */
  readonly outcome: 'begun' | 'done' | 'refused';
  readonly note?: string;
}

export interface ActionPage {
  readonly actions: readonly Action[];
  /** The id after which the next page begins. Absent on the last page. */
  readonly after?: string;
}

export interface ActionLog {
  /** Stores the row of an action that begins now. */
  begin(action: Action): Promise<void>;
  /** Notes how the action ended. */
  end(
    action: Action,
    how: { readonly outcome: 'done' | 'refused'; readonly target?: string; readonly note?: string },
  ): Promise<void>;
  /** The newest first. @param after the id of the last row of the page before */
  list(scope: PeopleScope, limit: number, after?: string): Promise<ActionPage>;
}
