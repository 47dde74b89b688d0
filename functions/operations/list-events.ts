import { cursorOf } from '../../core/event-cursor.ts';
import { eventView, type EventView } from '../../core/event.ts';
import { parseNoticeId, timeOfEvent } from '../../core/ids.ts';
import { eventMillis, mostPageBytes } from '../../core/limits.ts';
import type { EventPlace, PlacedEvent } from '../../core/ports/events.ts';
import { invalidRequest } from '../../core/problem.ts';
import { serve, type Handle } from '../http/serve.ts';
import type { Caller } from '../http/caller.ts';
import { openEvents, type EventServices } from '../services/events.ts';
import { base, dynamodb } from '../services/lambda.ts';
import { atFirstRequest } from '../services/open.ts';
import { awaitEvents, type Look } from './events/await-events.ts';
import { eventQuery, wrongCursor, type EventQuery } from './events/query.ts';

/**
 * Time limit of a first read for giving positions. The client gets the remaining events later, as newer ones.
 */
const placingMillis = 10_000;

type EventLook = Look<readonly EventView[]>;

/** GET /events: the account's events after a cursor, the oldest first; ?after, ?limit, ?wait and ?include. */
export const listEvents: Handle<EventServices> = async (request, caller, services) => {
  const { account, nowMillis } = caller;
  const query = eventQuery(request, account.id);
  if (account.eventsSince === undefined) await services.events.begin(account.id, nowMillis);
  const look = (place: EventPlace): Promise<EventLook> => lookFrom(place, query, caller, services);
  const first = query.after ? await look(query.after) : await fromNowOn(caller, services);
  const last =
    first.found === undefined && query.wait > 0
      ? await awaitEvents(account.id, query.wait, first, look, services)
      : first;
  return {
    status: 200,
    body: { data: last.found ?? [], next_cursor: cursorOf(account.id, last.place) },
  };
};

async function fromNowOn({ account }: Caller, { events, budget }: EventServices): Promise<EventLook> {
  const place = await events.end(account.id, () => budget.elapsed() < placingMillis);
  return { found: undefined, place };
}

/** Skips pages without an event to show, so that an empty answer means that there is no event. */
async function lookFrom(
  after: EventPlace,
  query: EventQuery,
  caller: Caller,
  services: EventServices,
): Promise<EventLook> {
  for (let from = after; ;) {
    const look = await lookBehind(from, query, caller, services);
    const isPassed = look.place.page !== from.page || look.place.index !== from.index;
    if (look.found || !isPassed || services.budget.elapsed() > placingMillis) return look;
    from = look.place;
  }
}

/** The events after a place that are to be shown. The position moves past the others. */
async function lookBehind(
  after: EventPlace,
  query: EventQuery,
  { account }: Caller,
  { events, resultsBaseUrl, clock }: EventServices,
): Promise<EventLook> {
  const read = await events.read(account.id, after, query.limit);
  if (!read) throw invalidRequest([wrongCursor()]);
  const nowMillis = clock.now();
  const isShown = ({ id, of }: PlacedEvent): boolean =>
    timeOfEvent(id) + eventMillis > nowMillis && (query.notices || parseNoticeId(of) === undefined);
  const records = await events.subjects(read.filter(isShown));
  const found: EventView[] = [];
  let bytes = 0;
  let place = after;
  for (const entry of read) {
    const record = isShown(entry) ? records.get(entry.of) : undefined;
    if (record) {
      const view = eventView(entry, record, resultsBaseUrl);
      // As in the list of creations: the body is a text in the JSON of Lambda.
      bytes += Buffer.byteLength(JSON.stringify(JSON.stringify(view)));
      if (bytes > mostPageBytes && found.length > 0) break;
      found.push(view);
    }
    place = entry.next;
  }
  return { found: found.length === 0 ? undefined : found, place };
}

export const handler = serve(
  'get',
  listEvents,
  atFirstRequest(() => openEvents({ ...base(), dynamodb: dynamodb() })),
);
