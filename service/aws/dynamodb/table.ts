/** The one table: its keys, its indexes and its client. docs/architecture.md lists the items. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  type AccountId,
  type CreationId,
  type EventId,
  type KeyId,
  type NoticeId,
  parseNoticeId,
  type TokenId,
  type UploadId,
} from '../../values/ids.ts';
import type { Clock, RandomBytes } from '../../values/runtime.ts';

export interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** Aborts when the time of the request is used up. After that nothing is sent. Absent outside a request. */
  readonly signal?: AbortSignal;
  /** Is called, with the token of the transaction, for each try that conflicts with another transaction. */
  readonly onConflict?: (token: string | undefined) => void;
}

/** An item as lib-dynamodb returns it: an object from attribute names to plain values. */
export type Item = Record<string, unknown>;

export interface ItemKey extends Item {
  readonly pk: string;
  readonly sk: string;
}

/** Creations and notices that need work, by the time when it is due. The index is sparse, keys only. */
export const openWorkIndex = { name: 'open_work', partition: 'openShard', sort: 'dueAt' } as const;
/** The lists of the API, by age: an account's creations, and all accounts. The index holds keys only. */
export const listingIndex = { name: 'listing', partition: 'listing', sort: 'listed' } as const;
export const ttlAttribute = 'expiresAtSeconds';

/** A partition of an index takes 1,000 writes a second. Four take as many starts as Step Functions does. */
const shards = [0, 1, 2, 3] as const;
export type OpenKind = 'OPEN' | 'WEBHOOK' | 'ERASE' | 'RESULTS';

/**
 * Open creations (OPEN), ended ones that owe a webhook, with unsent notices (WEBHOOK), erased ones (ERASE), and those
 * whose images alone were deleted (RESULTS).
 */
export function openShards(kind: OpenKind): string[] {
  return shards.map((shard) => `${kind}#${shard}`);
}

export function openShard(kind: OpenKind, id: CreationId | NoticeId): string {
  return `${kind}#${shardOf(id)}`;
}

/** The last digit of an id is random. */
function shardOf(id: CreationId | NoticeId): number {
  return Number.parseInt(id.slice(-1), 16) % shards.length;
}

/** The counters of open creations. Each is a partition of its own, as the shards of the index are. */
export const openCountKeys: readonly ItemKey[] = shards.map(openCounter);

export function openCountKey(id: CreationId): ItemKey {
  return openCounter(shardOf(id));
}

function openCounter(shard: number): ItemKey {
  return { pk: `OPEN_COUNT#${shard}`, sk: 'OPEN_COUNT' };
}

export const keys = {
  account: (id: AccountId): ItemKey => ({ pk: `ACCOUNT#${id}`, sk: 'ACCOUNT' }),
  apiKey: (account: AccountId, key: KeyId): ItemKey => ({ pk: `ACCOUNT#${account}`, sk: `KEY#${key}` }),
  addedKeys: (account: AccountId): ItemKey => ({ pk: `ACCOUNT#${account}`, sk: 'ADDED_KEYS' }),
  /** @param token counts apart from its account */
  rate: (account: AccountId, rate: 'get' | 'post', minute: number, token?: TokenId): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `RATE#${rate.toUpperCase()}#${minute}${token === undefined ? '' : `#${token}`}`,
  }),
  userToken: (account: AccountId, token: TokenId): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `USER_TOKEN#${token.slice(0, 6)}#${token.slice(6)}`,
  }),
  idempotency: (account: AccountId, hash: string): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `IDEMPOTENCY#${hash}`,
  }),
  ledger: (account: AccountId, time: string, kind: string, id: string): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `LEDGER#${time}#${kind}#${id}`,
  }),
  reference: (account: AccountId, reference: string): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `REFERENCE#${reference}`,
  }),
  /** What a key spent in a month for one user. The key of the item holds a hash, and no text of a client. */
  userSpend: (account: AccountId, key: KeyId, month: string, userHash: string): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `USER#${key}#${month}#${userHash}`,
  }),
  upload: (account: AccountId, id: UploadId): ItemKey => ({ pk: `ACCOUNT#${account}`, sk: `UPLOAD#${id}` }),
  unusedUploads: (account: AccountId): ItemKey => ({ pk: `ACCOUNT#${account}`, sk: 'UNUSED_UPLOADS' }),
  testDelivery: (account: AccountId): ItemKey => ({ pk: `ACCOUNT#${account}`, sk: 'TEST_DELIVERY' }),
  delivery: (account: AccountId, time: string, id: string): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `DELIVERY#${time}#${id}`,
  }),
  /** An event that no reader has put into a page of the log yet. */
  newEvent: (account: AccountId, id: EventId): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `NEW_EVENT#${id}`,
  }),
  creation: (id: CreationId): ItemKey => ({ pk: `CREATION#${id}`, sk: 'CREATION' }),
  notice: (id: NoticeId): ItemKey => ({ pk: `NOTICE#${id}`, sk: 'NOTICE' }),
  lease: (id: CreationId): ItemKey => ({ pk: `CREATION#${id}`, sk: 'LEASE' }),
  poll: (id: CreationId): ItemKey => ({ pk: `CREATION#${id}`, sk: 'POLL' }),
  /** Asks for the second deletion of its images. The creation itself may still be due for its webhook. */
  deletedResults: (id: CreationId): ItemKey => ({ pk: `CREATION#${id}`, sk: 'RESULTS' }),
  block: (address: string): ItemKey => ({ pk: `IP#${address}`, sk: 'BLOCK' }),
  rejected: (address: string, kind: string, minute: number): ItemKey => ({
    pk: `IP#${address}`,
    sk: `REJECTED#${kind}#${minute}`,
  }),
  service: (): ItemKey => ({ pk: 'SERVICE', sk: 'SERVICE' }),
  /** In a partition of its own: after a change every function reads it once, and it may be large. */
  operatorCatalog: (): ItemKey => ({ pk: 'OPERATOR_CATALOG', sk: 'OPERATOR_CATALOG' }),
} as const;

/** The log of an account's refused requests. A storm in it must not slow the account's own partition. */
export function refusalPartition(account: AccountId): string {
  return `${keys.account(account).pk}#REFUSED`;
}

/** What only readers of events use. It is apart, so that it is in the bundle of one function. */
export const eventKeys = {
  /** The newest page of the log, with its number. */
  log: (account: AccountId): ItemKey => ({ pk: `ACCOUNT#${account}`, sk: 'EVENT_LOG' }),
  page: (account: AccountId, page: number): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `EVENT_PAGE#${String(page).padStart(12, '0')}`,
  }),
} as const;

/** The endpoints for webhooks of an account, all in one item. Only the functions that use them bundle this key. */
export function endpointsKey(account: AccountId): ItemKey {
  return { pk: `ACCOUNT#${account}`, sk: 'ENDPOINTS' };
}

export function heldKey(account: AccountId, door: Door): ItemKey {
  return { pk: `ACCOUNT#${account}`, sk: `HELD#${door}` };
}

/** The key of the item that holds a webhook and its schedule: of a creation or of a notice. */
export function keyOf(id: CreationId | NoticeId): ItemKey {
  const notice = parseNoticeId(id);
  return notice ? keys.notice(notice) : keys.creation(id as CreationId);
}

/** The minute of a time, counted from the epoch. */
export function minuteOf(millis: number): number {
  return Math.floor(millis / 60_000);
}

/** Where a request can be held: GET /events, `Prefer: wait`, the OpenAI-shaped endpoint, MCP. */
export type Door = 'events' | 'generate' | 'images' | 'mcp';
