/**
 * The one table: its keys, its indexes, and the client through which everything in
 * this folder speaks to it. architecture.md lists the items.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { AccountId, CreationId, KeyId } from '../../core/ids.ts';
import type { Clock, RandomBytes } from '../../core/ports/runtime.ts';

export interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** Aborts when the time of the request is used up: from then on nothing is sent. Absent: no request waits. */
  readonly signal?: AbortSignal;
  /** Hears of each try of a transaction that others were in the way of, with the transaction's token. */
  readonly onConflict?: (token: string | undefined) => void;
}

/** A document as lib-dynamodb gives it: attribute names to plain values. */
export type Item = Record<string, unknown>;

export interface ItemKey extends Item {
  readonly pk: string;
  readonly sk: string;
}

/** Sparse, keys only: creations that still need something, by the time it is due. */
export const openWorkIndex = { name: 'open_work', partition: 'openShard', sort: 'dueAt' } as const;
/** Keys only: what is listed newest or oldest first (an account's creations, all accounts). */
export const listingIndex = { name: 'listing', partition: 'listing', sort: 'listed' } as const;
export const ttlAttribute = 'expiresAtSeconds';

/** An index partition takes 1,000 writes a second; four of them carry the start rate of Step Functions. */
const shards = [0, 1, 2, 3] as const;
export type OpenKind = 'OPEN' | 'WEBHOOK';

/** The shards of what is not yet terminal (OPEN), or terminal with its webhook pending (WEBHOOK). */
export function openShards(kind: OpenKind): string[] {
  return shards.map((shard) => `${kind}#${shard}`);
}

/** The shard of a creation: by the last, random digit of its id. */
export function openShard(kind: OpenKind, id: CreationId): string {
  return `${kind}#${Number.parseInt(id.slice(-1), 16) % shards.length}`;
}

export const keys = {
  account: (id: AccountId): ItemKey => ({ pk: `ACCOUNT#${id}`, sk: 'ACCOUNT' }),
  apiKey: (account: AccountId, key: KeyId): ItemKey => ({ pk: `ACCOUNT#${account}`, sk: `KEY#${key}` }),
  rate: (account: AccountId, rate: 'get' | 'post', minute: number): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `RATE#${rate.toUpperCase()}#${minute}`,
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
  testDelivery: (account: AccountId): ItemKey => ({ pk: `ACCOUNT#${account}`, sk: 'TEST_DELIVERY' }),
  delivery: (account: AccountId, time: string, id: string): ItemKey => ({
    pk: `ACCOUNT#${account}`,
    sk: `DELIVERY#${time}#${id}`,
  }),
  creation: (id: CreationId): ItemKey => ({ pk: `CREATION#${id}`, sk: 'CREATION' }),
  poll: (id: CreationId): ItemKey => ({ pk: `CREATION#${id}`, sk: 'POLL' }),
  block: (address: string): ItemKey => ({ pk: `IP#${address}`, sk: 'BLOCK' }),
  rejected: (address: string, kind: string, minute: number): ItemKey => ({
    pk: `IP#${address}`,
    sk: `REJECTED#${kind}#${minute}`,
  }),
  service: (): ItemKey => ({ pk: 'SERVICE', sk: 'SERVICE' }),
} as const;

/** The minute a time falls in, counted from the epoch. */
export function minuteOf(millis: number): number {
  return Math.floor(millis / 60_000);
}
