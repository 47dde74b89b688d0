/** GET /events: the query, the wait for new events, and the page. */
import type { Caller } from '../api/admit.ts';
import { openHold } from '../api/hold.ts';
import { type ApiRequest, unknownParameters } from '../api/request.ts';
import type { Handle } from '../api/serve.ts';
import {
  eventMillis,
  eventPausesMillis,
  latestAnswerMillis,
  longestWaitSeconds,
  mostEvents,
  mostPageBytes,
} from '../contract/limits.ts';
import { type AccountId, parseNoticeId, timeOfEvent } from '../values/ids.ts';
import { type FieldError, invalidRequest } from '../values/problem.ts';
import { errorName } from '../values/runtime.ts';
import {
  cursorOf,
  type EventPosition,
  eventView,
  type EventView,
  type PlacedEvent,
  positionOfCursor,
} from './event.ts';
import type { EventServices } from './open.ts';

// `wait`: the answer is held until there is an event, until the seconds have passed, or until shortly before the
// gateway's own time limit.

interface Poll<Found> {
  readonly found: Found | undefined;
  readonly position: EventPosition;
}

/**
 * Polls until there are events, if the account may hold another request.
 * @param first the first poll, without events
 */
async function awaitEvents<Found>(
  account: AccountId,
  seconds: number,
  first: Poll<Found>,
  poll: (position: EventPosition) => Promise<Poll<Found>>,
  services: EventServices,
): Promise<Poll<Found>> {
  const { budget, clock, log } = services;
  const until = Math.min(budget.elapsed() + seconds * 1000, latestAnswerMillis);
  let last = first;
  const hold = openHold(account, until, services);
  try {
    if (!(await hold.take())) return first;
    for (let looks = 0; last.found === undefined; looks += 1) {
      const left = until - budget.elapsed();
      if (left <= 0) return last;
      const pause = eventPausesMillis[looks] ?? eventPausesMillis[2];
      await clock.sleep(Math.min(pause, left), budget.signal);
      last = await poll(last.position);
    }
  } catch (error) {
    // The position is known, so a failed poll is no reason to refuse the request.
    log.info('wait_broken_off', { error: errorName(error) });
  } finally {
    await hold.release();
  }
  return last;
}

/** The query parameters of GET /events. */
const defaultLimit = 20;

interface EventQuery {
  /** Absent: from now on. */
  readonly after?: EventPosition;
  readonly limit: number;
  /** Seconds. 0: the answer is not held. */
  readonly wait: number;
  /** Whether notices are shown, too. */
  readonly notices: boolean;
}

/** Throws 400 that names every wrong parameter. */
function eventQuery(request: ApiRequest, account: AccountId): EventQuery {
  const { after: cursor, limit = String(defaultLimit), wait = '0', include } = request.query;
  const after = cursor === undefined ? undefined : positionOfCursor(account, cursor);
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

/** The cursor is not of this account, or the log does not have its position. */
function wrongCursor(): FieldError {
  const message = 'must be a next_cursor of an answer before';
  return { field: 'after', code: 'invalid_value', message };
}

function wrongUnless(isRight: boolean, field: string, message: string): FieldError[] {
  return isRight ? [] : [{ field, code: 'invalid_value', message }];
}

function isWhole(text: string, least: number, most: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) >= least && Number(text) <= most;
}

/** Time limit of a first read for giving positions. The remaining events come later, as newer ones. */
const positioningMillis = 10_000;

type EventPoll = Poll<readonly EventView[]>;

/** GET /events: the account's events after a cursor, the oldest first; ?after, ?limit, ?wait and ?include. */
export const listEvents: Handle<EventServices> = async (request, caller, services) => {
  const { account, nowMillis } = caller;
  const query = eventQuery(request, account.id);
  if (account.eventsSince === undefined) await services.events.begin(account.id, nowMillis);
  const poll = (position: EventPosition): Promise<EventPoll> => pollFrom(position, query, caller, services);
  const first = query.after ? await poll(query.after) : await fromNowOn(caller, services);
  const last =
    first.found === undefined && query.wait > 0
      ? await awaitEvents(account.id, query.wait, first, poll, services)
      : first;
  return {
    status: 200,
    body: { data: last.found ?? [], next_cursor: cursorOf(account.id, last.position) },
  };
};

async function fromNowOn({ account }: Caller, { events, budget }: EventServices): Promise<EventPoll> {
  const position = await events.end(account.id, () => budget.elapsed() < positioningMillis);
  return { found: undefined, position };
}

/** Skips pages without an event to show, so that an empty answer means that there is no event. */
async function pollFrom(
  after: EventPosition,
  query: EventQuery,
  caller: Caller,
  services: EventServices,
): Promise<EventPoll> {
  for (let from = after; ;) {
    const read = await readAfter(from, query, caller, services);
    const isPassed = read.position.page !== from.page || read.position.index !== from.index;
    if (read.found || !isPassed || services.budget.elapsed() > positioningMillis) return read;
    from = read.position;
  }
}

/** The events after a position that match the filter. The position moves past the others. */
async function readAfter(
  after: EventPosition,
  query: EventQuery,
  { account }: Caller,
  { events, results, clock }: EventServices,
): Promise<EventPoll> {
  const read = await events.read(account.id, after, query.limit);
  if (!read) throw invalidRequest([wrongCursor()]);
  const nowMillis = clock.now();
  const isShown = ({ id, of }: PlacedEvent): boolean =>
    timeOfEvent(id) + eventMillis > nowMillis && (query.notices || parseNoticeId(of) === undefined);
  const records = await events.subjects(read.filter(isShown));
  const addressOf = await results.of([...records.values()].flatMap((one) => ('type' in one ? [] : [one])));
  const found: EventView[] = [];
  let bytes = 0;
  let position = after;
  for (const entry of read) {
    const record = isShown(entry) ? records.get(entry.of) : undefined;
    if (record) {
      const view = eventView(entry, record, addressOf, nowMillis);
      // As in the list of creations: the body is a text in the JSON of Lambda.
      bytes += Buffer.byteLength(JSON.stringify(JSON.stringify(view)));
      if (bytes > mostPageBytes && found.length > 0) break;
      found.push(view);
    }
    position = entry.next;
  }
  return { found: found.length === 0 ? undefined : found, position };
}
