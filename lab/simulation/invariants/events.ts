/**
 * The invariants of events: after a cursor every end, redelivery and notice of the account is shown once, in
 * the order of all other readers, whenever a client reads, and however late it was committed.
 */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Table } from '../../../service/aws/dynamodb/table.ts';
import type { EventEntry } from '../../../service/creations/event-items.ts';
import { createEventLog } from '../../../service/events/event-store.ts';
import { positionOfCursor } from '../../../service/events/event.ts';
import { parseAccountId, parseNoticeId } from '../../../service/values/ids.ts';
import { withoutAddresses, withoutSignatures } from '../aws/result-keys.ts';
import type { Change } from '../aws/simulated-table.ts';
import { asBody, type Body, memberOf } from '../clients/requests.ts';
import type { World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

/** A read that was answered with 200. */
export interface EventRead {
  /** Which client reads. It reads on from its own last cursor. */
  readonly reader: string;
  readonly account: string;
  /** Absent: from now on. */
  readonly after: string | undefined;
  readonly askedAt: number;
  readonly notices: boolean;
  readonly body: Body;
}

interface Happening {
  readonly account: string;
  readonly of: string;
  readonly again: boolean;
  /** When it was committed. */
  readonly at: number;
}

/** What one client has seen. */
interface Following {
  readonly account: string;
  readonly notices: boolean;
  readonly first: { readonly cursor: string; readonly askedAt: number; readonly answeredAt: number };
  readonly seen: string[];
  cursor: string;
}

const settled = new Set(['delivered', 'failed', 'skipped']);
const isOver = (item: Item | undefined): boolean => /^(completed|failed)$/.test(textOf(item, 'status'));
const webhookStatus = (item: Item | undefined): string => item?.['webhook']?.M?.['status']?.S ?? '';
const once = 'each event is behind a cursor once, in the order of all readers';
const complete = 'no event is skipped';

/**
 * @param bodyOfWebhook the body that a receiver got of a creation, if it got one
 * @param hasNoResults whether the images of a creation are deleted
 */
export function createEventInvariants(
  world: World,
  accuse: Accuse,
  bodyOfWebhook: (creation: string) => string | undefined,
  hasNoResults: (creation: string) => boolean,
) {
  const happened: Happening[] = [];
  const waiting = new Map<string, (() => void)[]>();
  const readers = new Map<string, Following>();
  /** The longest answer after each cursor, by whether it has notices. */
  const answered = new Map<string, readonly string[]>();
  /** The first event of each creation, as it was shown. */
  const firstOf = new Map<string, string>();

  function note(account: string, of: string, again: boolean): void {
    happened.push({ account, of, again, at: world.time.now() });
    for (const tell of waiting.get(account) ?? []) tell();
    waiting.delete(account);
  }

  function isTheWebhook(event: Body): void {
    const payload = asBody(event['payload']) ?? {};
    const id = memberOf(payload, 'id');
    const sent = bodyOfWebhook(id);
    // An event shows no address of deleted results.
    const compared = hasNoResults(id) ? withoutAddresses : withoutSignatures;
    if (sent !== undefined && compared(sent) !== compared(JSON.stringify(payload)))
      accuse('the payload of an event is the body of the webhook', `${id}: ${sent}`);
    if (memberOf(event, 'event') !== memberOf(payload, id.startsWith('ntc_') ? 'notice' : 'event'))
      accuse('an event says what it is', memberOf(event, 'id'));
    const first = event['redelivery_of'];
    if (first === null) firstOf.set(id, memberOf(event, 'id'));
    else if (firstOf.has(id) && firstOf.get(id) !== first)
      accuse('a redelivery names the first event', `${id}: ${JSON.stringify(first)}`);
  }

  /** Two answers after the same cursor begin with the same events. */
  function isTheSameAgain(after: string, ids: readonly string[]): void {
    const before = answered.get(after) ?? [];
    const [short, long] = before.length < ids.length ? [before, ids] : [ids, before];
    if (short.some((id, index) => id !== long[index]))
      accuse(once, `${after}: ${before.join()}, ${ids.join()}`);
    answered.set(after, long);
  }

  function look({ after, notices, body }: EventRead): { ids: string[]; cursor: string } {
    const data: unknown = body['data'];
    const events = (Array.isArray(data) ? data : []).map((event) => asBody(event) ?? {});
    const ids = events.map((event) => memberOf(event, 'id'));
    for (const event of events) isTheWebhook(event);
    if (after !== undefined) isTheSameAgain(`${after} ${notices}`, ids);
    return { ids, cursor: memberOf(body, 'next_cursor') };
  }

  async function behind(
    store: Table,
    { account, notices }: Following,
    cursor: string,
  ): Promise<EventEntry[]> {
    const id = parseAccountId(account);
    const log = createEventLog(store);
    const found: EventEntry[] = [];
    for (let place = id && positionOfCursor(id, cursor); id && place;) {
      const page = await log.read(id, place, 3);
      if (!page) accuse('the log has the place of every cursor', cursor);
      found.push(...(page ?? []));
      place = page?.at(-1)?.next;
    }
    return found.filter(({ of }) => notices || parseNoticeId(of) === undefined);
  }

  /** An event that was committed after the first cursor is shown once. An earlier event is not shown. */
  function isComplete({ account, notices, first }: Following, entries: readonly EventEntry[]): void {
    const own = happened.filter((one) => one.account === account && (notices || !one.of.startsWith('ntc_')));
    const names = new Set([...own, ...entries].map(({ of, again }) => `${of} ${again === true}`));
    const isFaultless = world.injected.length === 0 && world.incidents.size === 0;
    for (const name of names) {
      const is = ({ of, again }: Happening | EventEntry): boolean => `${of} ${again === true}` === name;
      const shown = entries.filter(is).length;
      const sure = own.filter((one) => is(one) && one.at > first.answeredAt).length;
      const may = own.filter((one) => is(one) && (!isFaultless || one.at >= first.askedAt)).length;
      if (shown < sure) accuse(complete, `${name}: ${shown} of ${sure}`);
      if (shown > may) accuse(once, `${name}: ${shown}, and it happened ${may} times`);
    }
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      for (const { sk, before, after } of changes) {
        const account = textOf(after, 'accountId');
        if (sk === 'NOTICE' && !before) note(account, textOf(after, 'id'), false);
        if (sk !== 'CREATION' || !before) continue;
        if (!isOver(before) && isOver(after)) note(account, textOf(after, 'id'), false);
        if (isOver(before) && settled.has(webhookStatus(before)) && webhookStatus(after) === 'pending')
          note(account, textOf(after, 'id'), true);
      }
    },
    /** The client goes on from the cursor of the answer, which is returned. */
    onRead: (read: EventRead): string => {
      const { reader, account, askedAt, notices } = read;
      const { ids, cursor } = look(read);
      const following = readers.get(reader);
      if (following) {
        following.seen.push(...ids);
        following.cursor = cursor;
        return cursor;
      }
      // Nobody knows the cursor from which the first read was held. Its answer has the next one.
      const first = { cursor, askedAt, answeredAt: world.time.now() };
      readers.set(reader, { account, notices, first, seen: [], cursor });
      return cursor;
    },
    /** The client forgets the answer, and asks again with its cursor of before. */
    onRepeated: (read: EventRead) => void look(read),
    /** The service refused a cursor that it had given out. */
    onRefused: (after: string, body: string) =>
      accuse('the service knows every cursor that it gave out', `${after}: ${body}`),
    /** Resolves with the next event of the account. */
    next: (account: string) =>
      new Promise<void>((resolve) => {
        waiting.set(account, [...(waiting.get(account) ?? []), resolve]);
      }),
    /** @param store reads without delays and faults */
    atRest: async (store: Table) => {
      for (const following of readers.values()) {
        const entries = await behind(store, following, following.first.cursor);
        const rest = await behind(store, following, following.cursor);
        const all = entries.map(({ id }) => id).join();
        const seen = [...following.seen, ...rest.map(({ id }) => id)].join();
        if (all !== seen) accuse(once, `all: ${all}; seen: ${seen}`);
        isComplete(following, entries);
      }
    },
  };
}

/** Whether a write is a part of reading events. */
export function isOfReading({ sk, before, after }: Change): boolean {
  if (/^(NEW_EVENT|EVENT_)/.test(sk)) return true;
  const rest = (item: Item | undefined): string =>
    JSON.stringify(Object.entries(item ?? {}).filter(([name]) => name !== 'eventsSince'));
  return sk === 'ACCOUNT' && before !== undefined && rest(before) === rest(after);
}
