/** Reads what is known of the tries of a call. */
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { getItem, type QueryParts } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { toPutNew, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { retryMillis } from '../contract/limits.ts';
import type { CreationId } from '../values/ids.ts';
import {
  type Attempt,
  entryIdOf,
  firstSeen,
  type RetryCharge,
  type RetryEntry,
  type RetryHead,
  type RetryPlace,
  type Told,
  type Try,
} from './retries.ts';

/**
 * The items by which retries of a call find its creations. The head counts the entries that were made. An
 * entry holds the creations of one call, and has an attribute for each number that it has seen: try0, try1, …
 * The value names the request that sent the number.
 *
 *   RETRY#key#body             head
 *   RETRY#key#body#time#id     entry
 */
const nothingWasMade = 'attribute_not_exists(made)';
const madeIsAsRead = 'made = :made';
const noRetryMadeOne = 'attribute_not_exists(madeByRetry)';
const madeByRetryIsAsRead = 'madeByRetry = :madeByRetry';
const holdsTheSame = 'creationId = :creation';
const hasNotSeenIt = 'attribute_not_exists(#mark)';
const toldRendering = 'told = :rendering';
const isOurs = '#mark = :token';

export const retryKeys = {
  head: ({ accountId, keyId, bodyHash }: RetryPlace): ItemKey => ({
    pk: keys.account(accountId).pk,
    sk: `RETRY#${keyId}#${bodyHash}`,
  }),
  entry: (place: RetryPlace, id: string): ItemKey => {
    const { pk, sk } = retryKeys.head(place);
    return { pk, sk: `${sk}#${id}` };
  },
} as const;

/** Like CreationIds of an Idempotency-Key: the list is there only for several. */
type CreationIds = readonly [CreationId, ...CreationId[]];
const idsOf = (ids: CreationIds): Item => ({
  creationId: ids[0],
  ...(ids.length > 1 && { creationIds: ids }),
});

/** What the charge of a try writes: a new entry and the head, or the entry whose creations have failed. */
export function retryItems(
  table: Table,
  retry: RetryCharge,
  creationIds: CreationIds,
  nowMillis: number,
): readonly TransactItem[] {
  return retry.kind === 'same_entry'
    ? [sameEntry(table, retry, creationIds, nowMillis)]
    : [countedHead(table, retry, nowMillis), newEntry(table, retry, creationIds, nowMillis)];
}

type NewEntry = Extract<RetryCharge, { kind: 'new_entry' }>;
type SameEntry = Extract<RetryCharge, { kind: 'same_entry' }>;

function countedHead(table: Table, { place, attempt, head }: NewEntry, nowMillis: number): TransactItem {
  const isRetry = firstSeen(attempt) > 0;
  const guard = guardOf(attempt, head);
  return {
    Update: {
      TableName: table.name,
      Key: retryKeys.head(place),
      UpdateExpression: `ADD made :one${isRetry ? ', madeByRetry :one' : ''} SET #ttl = :ttl`,
      ...(guard.condition !== undefined && { ConditionExpression: guard.condition }),
      ExpressionAttributeNames: { '#ttl': ttlAttribute },
      ExpressionAttributeValues: {
        ':one': 1,
        ':ttl': Math.ceil((nowMillis + retryMillis.longest) / 1000),
        ...guard.values,
      },
    },
  };
}

/** No entry was made meanwhile to which the try would attach. First tries make none for one another. */
function guardOf(
  attempt: Attempt,
  head: RetryHead | undefined,
): { readonly condition?: string; readonly values?: Item } {
  if (attempt === undefined) return {};
  if (attempt > 0)
    return head ? { condition: madeIsAsRead, values: { ':made': head.made } } : { condition: nothingWasMade };
  return head && head.madeByRetry > 0
    ? { condition: madeByRetryIsAsRead, values: { ':madeByRetry': head.madeByRetry } }
    : { condition: noRetryMadeOne };
}

function newEntry(table: Table, retry: NewEntry, creationIds: CreationIds, nowMillis: number): TransactItem {
  const expiresAt = nowMillis + retryMillis.afterTry;
  const item = {
    ...retryKeys.entry(retry.place, entryIdOf(retry, creationIds[0], nowMillis)),
    ...idsOf(creationIds),
    [tryAttribute(firstSeen(retry.attempt))]: creationIds[0],
    madeAt: nowMillis,
    expiresAt,
    [ttlAttribute]: Math.ceil(expiresAt / 1000),
  };
  return toPutNew(table, item);
}

function sameEntry(
  table: Table,
  { place, attempt, entry }: SameEntry,
  creationIds: CreationIds,
  nowMillis: number,
): TransactItem {
  const sight = { attempt, nowMillis, token: creationIds[0] };
  return {
    Update: {
      TableName: table.name,
      Key: retryKeys.entry(place, entry.id),
      ...seesTry(entry, sight, creationIds),
    },
  };
}

export interface EntryUpdate {
  readonly UpdateExpression: string;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues: Item;
}

export interface Sight {
  readonly attempt: Attempt;
  readonly nowMillis: number;
  /**
   * Identifies the request that wrote the number. Its repeated write, after a lost answer, succeeds again.
   */
  readonly token: string;
}

/** The entry sees the try, lives on, and is unanswered again. @param instead the new creations */
function seesTry(
  entry: RetryEntry,
  { attempt, nowMillis, token }: Sight,
  instead?: CreationIds,
): EntryUpdate {
  const expiresAt = Math.min(nowMillis + retryMillis.afterTry, entry.madeAt + retryMillis.longest);
  const several = instead && instead.length > 1;
  const sets = ['#mark = :token', 'expiresAt = :until', '#ttl = :ttl'];
  if (instead) sets.push('creationId = :new');
  if (several) sets.push('creationIds = :several');
  return {
    UpdateExpression: `SET ${sets.join(', ')} REMOVE told${instead && !several ? ', creationIds' : ''}`,
    ConditionExpression: `${holdsTheSame} AND (${attempt === undefined ? toldRendering : hasNotSeenIt} OR ${isOurs})`,
    ExpressionAttributeNames: {
      '#ttl': ttlAttribute,
      '#mark': attempt === undefined ? 'takenBy' : tryAttribute(attempt),
    },
    ExpressionAttributeValues: {
      ':token': token,
      ':creation': entry.creationIds[0],
      ':until': expiresAt,
      ':ttl': Math.ceil(expiresAt / 1000),
      ...(attempt === undefined && { ':rendering': 'rendering' }),
      ...(instead && { ':new': instead[0] }),
      ...(several && { ':several': instead }),
    },
  };
}

function saysTold(entry: Pick<RetryEntry, 'creationIds'>, told: Told): EntryUpdate {
  return {
    UpdateExpression: 'SET told = :told',
    ConditionExpression: holdsTheSame,
    ExpressionAttributeValues: { ':told': told, ':creation': entry.creationIds[0] },
  };
}

function headFromItem(item: Item): RetryHead {
  return { made: Number(item['made']), madeByRetry: Number(item['madeByRetry'] ?? 0) };
}

function entryFromItem(item: Item, place: RetryPlace): RetryEntry {
  const told = item['told'] as Told | undefined;
  return {
    id: String(item['sk']).slice(retryKeys.entry(place, '').sk.length),
    creationIds: (item['creationIds'] ?? [item['creationId']]) as CreationIds,
    madeAt: Number(item['madeAt']),
    seen: Object.keys(item)
      .flatMap((name) => (/^try\d+$/.test(name) ? [Number(name.slice(3))] : []))
      .sort((one, other) => one - other),
    ...(told !== undefined && { told }),
  };
}

function tryAttribute(attempt: number): string {
  return `try${attempt}`;
}

export function createRetryStore(table: Table) {
  return {
    /** Consistent. Undefined: no try of this body has come, or its record has expired. */
    readHead: async (place: RetryPlace): Promise<RetryHead | undefined> => {
      const item = await getItem(table, retryKeys.head(place));
      return item && headFromItem(item);
    },
    /** The entries that have not expired, newest first, consistently. Read the head before them. */
    entries: async (place: RetryPlace, nowMillis: number): Promise<readonly RetryEntry[]> => {
      const items: Item[] = [];
      for await (const page of queryPages(table, youngEntries(place, nowMillis)))
        items.push(...(page.Items ?? []));
      return items
        .filter(({ expiresAt }) => Number(expiresAt) > nowMillis)
        .map((item) => entryFromItem(item, place));
    },
    /** Notes that the entry has seen the try. False when another request was faster: read both again. */
    attach: ({ place, attempt }: Try, entry: RetryEntry, nowMillis: number): Promise<boolean> => {
      const token = Buffer.from(table.randomBytes(12)).toString('base64url');
      return updateIf(table, retryKeys.entry(place, entry.id), seesTry(entry, { attempt, nowMillis, token }));
    },
    /** Notes what an answer about the entry said. Changes nothing when it names other creations by now. */
    note: async (place: RetryPlace, entry: Pick<RetryEntry, 'id' | 'creationIds'>, told: Told) => {
      await updateIf(table, retryKeys.entry(place, entry.id), saysTold(entry, told));
    },
  };
}

/** DynamoDB may keep expired items for two days, so the query begins with the oldest entry that may live. */
function youngEntries(place: RetryPlace, nowMillis: number): QueryParts {
  const oldest = retryKeys.entry(place, String(nowMillis - retryMillis.longest));
  return {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': oldest.pk },
    range: { sort: 'sk', from: oldest.sk, to: retryKeys.entry(place, '~').sk },
    ScanIndexForward: false,
  };
}

/** What is kept of the tries of calls (service/creations/retries.ts). Charges write new entries. */
export type RetryStore = ReturnType<typeof createRetryStore>;
