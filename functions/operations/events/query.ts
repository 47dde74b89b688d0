/** The query parameters of GET /events. */
import { placeOfCursor } from '../../../core/event-cursor.ts';
import type { AccountId } from '../../../core/ids.ts';
import { longestWaitSeconds, mostEvents } from '../../../core/limits.ts';
import type { EventPlace } from '../../../core/ports/events.ts';
import { invalidRequest, type FieldError } from '../../../core/problem.ts';
import { unknownParameters, type ApiRequest } from '../../http/request.ts';

const defaultLimit = 20;

export interface EventQuery {
  /** Absent: from now on. */
  readonly after?: EventPlace;
  readonly limit: number;
  /** Seconds. 0: the answer is not held. */
  readonly wait: number;
  /** Whether notices are shown, too. */
  readonly notices: boolean;
}

/** Throws 400 that names every wrong parameter. */
export function eventQuery(request: ApiRequest, account: AccountId): EventQuery {
  const { after: cursor, limit = String(defaultLimit), wait = '0', include } = request.query;
  const after = cursor === undefined ? undefined : placeOfCursor(account, cursor);
  const errors = [
    ...unknownParameters(request, 'listEvents'),
    ...(cursor !== undefined && !after ? [wrongCursor()] : []),
    ...wrongUnless(isWhole(limit, 1, mostEvents), 'limit', `must be a whole number from 1 to ${mostEvents}`),
    ...wrongUnless(
      isWhole(wait, 0, longestWaitSeconds),
      'wait',
      `must be a whole number of seconds from 0 to ${longestWaitSeconds}`,
    ),
    ...wrongUnless(include === undefined || include === 'notices', 'include', 'must be "notices"'),
  ];
  if (errors.length > 0) throw invalidRequest(errors);
  return {
    ...(after && { after }),
    limit: Number(limit),
    wait: Number(wait),
    notices: include !== undefined,
  };
}

/** The cursor is not of this account, or the log does not have its place. */
export function wrongCursor(): FieldError {
  const message = 'must be a next_cursor of an answer before';
  return { field: 'after', code: 'invalid_value', message };
}

function wrongUnless(isRight: boolean, field: string, message: string): FieldError[] {
  return isRight ? [] : [{ field, code: 'invalid_value', message }];
}

function isWhole(text: string, least: number, most: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) >= least && Number(text) <= most;
}
