/** The requests of an account in the last days: refused ones of the log, and accepted ones by their creations. */
import { playgroundKeyId } from '../accounts/key-changes.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { type Item, keys, refusalPartition, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { firstIdOf, pageOfCreations } from '../creations/creation-reads.ts';
import type { CreationRecord } from '../creations/creation.ts';
import { type AccountId, type CreationId, type KeyId, timeOfUuidV7 } from '../values/ids.ts';
import { requestSent } from './request-sent.ts';
import { cutSecrets } from './cut-secrets.ts';
import { loggedDays, type LoggedRefusal, type RequestDoor } from './logged-refusal.ts';

export interface RequestQuery {
  readonly limit: number;
  readonly after?: Places;
  readonly outcome?: 'accepted' | 'refused';
  /** "429", or "4xx" and "5xx". */
  readonly status?: string;
  readonly code?: string;
  readonly keyId?: KeyId;
  readonly door?: RequestDoor;
  /** Unix milliseconds. */
  readonly from?: number;
  readonly to?: number;
}

/** How far each list was read. Absent: it begins. Empty: it has ended. */
export interface Places {
  readonly refused?: string;
  readonly accepted?: string;
}

export interface LoggedRequest extends Partial<Omit<LoggedRefusal, 'at' | 'keyId'>> {
  /** Its position in its list: unique in the account. */
  readonly place: string;
  readonly at: string;
  readonly keyId: KeyId;
  readonly creationId?: CreationId;
}

export interface RequestPage {
  readonly requests: readonly LoggedRequest[];
  /** Absent on the last page. A page with a filter may be short. */
  readonly next?: Places;
}

interface Found {
  readonly place: string;
  readonly time: number;
  readonly request: Omit<LoggedRequest, 'place'>;
}

/** A part of one list, the newest first. `next`: where its next part begins. Absent: it has ended. */
interface Part {
  readonly found: readonly Found[];
  readonly next?: { readonly place: string; readonly time: number };
}

/** The most rows that one call reads for a filter. */
const mostRead = 1_000;
const dayMillis = 86_400_000;

export function createRequestLogReads(table: Table) {
  return {
    page: (account: AccountId, query: RequestQuery): Promise<RequestPage> =>
      pageOfRequests(table, account, query),
    /** The row of a refused request. Undefined: the request was only counted, or was not refused. */
    refusal: async (requestId: string, account: AccountId, atMillis: number) =>
      firstRow(table, refusalPartition(account), 'REFUSED#', requestId, atMillis) as Promise<
        LoggedRefusal | undefined
      >,
    /** The creation that a request made: the ledger row of its charge names the request. */
    creation: async (requestId: string, account: AccountId, atMillis: number) =>
      (await firstRow(table, keys.account(account).pk, 'LEDGER#', requestId, atMillis))?.['creationId'] as
        | CreationId
        | undefined,
  };
}

/** Of rows whose sort key is a time: the first one of this request. Clocks differ, and a request takes a while. */
async function firstRow(
  table: Table,
  pk: string,
  beginning: string,
  requestId: string,
  atMillis: number,
): Promise<Item | undefined> {
  const sortKey = (at: number): string => beginning + new Date(at).toISOString();
  const pages = queryPages(table, {
    KeyConditionExpression: 'pk = :pk',
    FilterExpression: 'requestId = :request',
    ExpressionAttributeValues: { ':pk': pk, ':request': requestId },
    range: { sort: 'sk', from: sortKey(atMillis - 10_000), to: sortKey(atMillis + 60_000) },
  });
  for await (const { Items: [found] = [] } of pages) if (found) return found;
  return undefined;
}

async function pageOfRequests(table: Table, account: AccountId, query: RequestQuery): Promise<RequestPage> {
  const { limit, after = {} } = query;
  const nowMillis = table.clock.now();
  const bounds = {
    from: Math.max(query.from ?? 0, nowMillis - loggedDays * dayMillis),
    to: Math.min(query.to ?? Infinity, nowMillis + dayMillis),
  };
  const isEnded = (list: keyof Places): boolean => after[list] === '' || !asksFor(list, query);
  const [refused, accepted] = await Promise.all([
    isEnded('refused') ? ended : refusedPart(table, account, query, bounds),
    isEnded('accepted') ? ended : acceptedPart(table, account, query, bounds),
  ]);
  // A list that was read only in part may hide requests that are older than its end.
  const horizon = Math.max(refused.next?.time ?? 0, accepted.next?.time ?? 0);
  const page = [...refused.found, ...accepted.found]
    .filter(({ time }) => time >= horizon)
    .sort((a, b) => b.time - a.time)
    .slice(0, limit);
  const next = {
    refused: placeBehind(refused, page, after.refused),
    accepted: placeBehind(accepted, page, after.accepted),
  };
  const hasMore = next.refused !== '' || next.accepted !== '';
  return {
    requests: page.map(({ request, place }) => ({ ...request, place })),
    ...(hasMore && { next: withoutAbsent(next) }),
  };
}

const ended: Part = { found: [] };

/** Of an accepted request only the playground is known as its door. */
function asksFor(list: keyof Places, { outcome, status, code, door }: RequestQuery): boolean {
  if (outcome !== undefined) return outcome === list;
  return (
    list === 'refused' || (status === undefined && code === undefined && (door ?? 'portal') === 'portal')
  );
}

function placeBehind({ found, next }: Part, page: readonly Found[], before: string | undefined) {
  const taken = found.filter((one) => page.includes(one));
  return taken.length === found.length ? (next?.place ?? '') : (taken.at(-1)?.place ?? before);
}

function withoutAbsent({ refused, accepted }: Record<keyof Places, string | undefined>): Places {
  return { ...(refused !== undefined && { refused }), ...(accepted !== undefined && { accepted }) };
}

interface Bounds {
  readonly from: number;
  readonly to: number;
}

async function refusedPart(
  table: Table,
  account: AccountId,
  query: RequestQuery,
  { from, to }: Bounds,
): Promise<Part> {
  const pk = refusalPartition(account);
  const range = { sort: 'sk', from: sortKeyAt(from), to: `${sortKeyAt(to)}~` };
  const place = query.after?.refused;
  // DynamoDB refuses a beginning outside the range. A cursor can be older than what is kept.
  if (place !== undefined && place < range.from) return ended;
  const isInRange = place !== undefined && place <= range.to;
  const isFiltered = [query.status, query.code, query.keyId, query.door].some((one) => one !== undefined);
  const pages = queryPages(
    table,
    {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      range,
      ScanIndexForward: false,
      ...(isInRange && { ExclusiveStartKey: { pk, sk: place } }),
    },
    isFiltered ? mostRead : query.limit,
  );
  const found: Found[] = [];
  let next: Part['next'];
  for await (const { Items = [], LastEvaluatedKey: last } of pages) {
    for (const item of Items) {
      const sk = String(item['sk']);
      const time = timeOfSortKey(sk);
      next = { place: sk, time };
      const row = item as unknown as LoggedRefusal;
      if (!isKept(item, table.clock.now()) || !isWanted(row, query)) continue;
      found.push({ place: sk, time, request: row });
      if (found.length === query.limit) return { found, next };
    }
    if (!last) return { found };
  }
  return { found, ...(next && { next }) };
}

function sortKeyAt(millis: number): string {
  return `REFUSED#${new Date(millis).toISOString()}`;
}

function timeOfSortKey(sk: string): number {
  return Date.parse(sk.slice('REFUSED#'.length).split('#')[0] ?? '');
}

/** DynamoDB deletes an expired item only some time later. */
function isKept(item: Item, nowMillis: number): boolean {
  return Number(item[ttlAttribute]) * 1000 > nowMillis;
}

function isWanted(
  row: LoggedRefusal,
  { status, code, keyId, door }: Pick<RequestQuery, 'status' | 'code' | 'keyId' | 'door'>,
): boolean {
  return (
    (status === undefined || String(row.status).startsWith(status.replace('xx', ''))) &&
    (code === undefined || row.code === code) &&
    (keyId === undefined || row.keyId === keyId) &&
    (door === undefined || row.door === door)
  );
}

async function acceptedPart(
  table: Table,
  account: AccountId,
  { limit, after, keyId, door }: RequestQuery,
  { from, to }: Bounds,
): Promise<Part> {
  const ofPlayground = door === 'portal' ? playgroundKeyId : undefined;
  if (ofPlayground && keyId && keyId !== ofPlayground) return ended;
  const wanted = keyId ?? ofPlayground;
  const before = after?.accepted ?? firstIdOf(new Date(to + 1).toISOString());
  const { creations, next } = await pageOfCreations(table, account, {
    limit,
    before: before as CreationId,
    ...(wanted && { keyId: wanted }),
  });
  const found = creations
    .map((creation) => ({ place: creation.id, time: timeOf(creation.id), creation }))
    // A request for several images is shown once, by the first of its creations.
    .filter(({ creation, time }) => time >= from && (creation.index ?? 0) === 0)
    .map(({ creation, ...found }) => ({ ...found, request: acceptedRequest(creation) }));
  const isOver = next === undefined || next < firstIdOf(new Date(from).toISOString());
  return { found, ...(!isOver && { next: { place: next, time: timeOf(next) } }) };
}

const timeOf = (id: CreationId): number => timeOfUuidV7(id) ?? 0;

/** The row of an accepted request, read from the record of its creation. No row of its own is stored. */
function acceptedRequest(creation: CreationRecord): Found['request'] {
  const { id, createdAt: at, keyId, tokenId } = creation;
  return {
    at,
    keyId,
    ...(tokenId && { tokenId }),
    ...(keyId === playgroundKeyId && { door: 'portal' }),
    creationId: id,
    body: cutSecrets(JSON.stringify(requestSent(creation))),
  };
}
