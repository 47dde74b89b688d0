/** Between items and records: the store's names on one side, core's types on the other. */
import type { Account, AccountCondition, ApiKey, SealedSecret } from '../../core/account.ts';
import type { CreationRecord } from '../../core/creation.ts';
import type { AccountId, KeyId } from '../../core/ids.ts';
import type { Metadata } from '../../core/metadata.ts';
import type { Micros } from '../../core/money.ts';
import type { Delivery } from '../../core/ports/deliveries.ts';
import type { IdempotencyRecord } from '../../core/ports/requests.ts';
import { keys, listingIndex, openShard, type Item, type ItemKey } from './table.ts';

interface AccountItem {
  id: AccountId;
  name: string;
  condition: AccountCondition;
  availableMicros: Micros;
  creditLineMicros: Micros;
  inFlight: number;
  postRate: number;
  getRate: number;
  maxConcurrent: number;
  deadlineSeconds: number;
  providers?: string[];
  hiddenModels: string[];
  webhookSecrets: SealedSecret[];
  createdAt: string;
}

export function accountToItem(account: Account): Item & ItemKey {
  const { limits, policy, ...rest } = account;
  return {
    ...keys.account(account.id),
    ...rest,
    ...limits,
    ...(policy.providers === 'all' ? {} : { providers: policy.providers }),
    hiddenModels: policy.hiddenModels,
    [listingIndex.partition]: 'ACCOUNTS',
    [listingIndex.sort]: `${account.createdAt}#${account.id}`,
  };
}

export function accountFromItem(item: Item): Account {
  const stored = item as unknown as AccountItem;
  return {
    id: stored.id,
    name: stored.name,
    condition: stored.condition,
    availableMicros: stored.availableMicros,
    creditLineMicros: stored.creditLineMicros,
    inFlight: stored.inFlight,
    limits: {
      postRate: stored.postRate,
      getRate: stored.getRate,
      maxConcurrent: stored.maxConcurrent,
      deadlineSeconds: stored.deadlineSeconds,
    },
    policy: { providers: stored.providers ?? 'all', hiddenModels: stored.hiddenModels },
    webhookSecrets: stored.webhookSecrets,
    createdAt: stored.createdAt,
  };
}

/** One attribute a month, so that charge and refund are a single ADD each. */
export function spentAttribute(month: string): string {
  return `spent_${month}`;
}

export function apiKeyToItem(key: ApiKey): Item & ItemKey {
  const { id, spent, ...rest } = key;
  const months = Object.fromEntries(
    Object.entries(spent).map(([month, sum]) => [spentAttribute(month), sum]),
  );
  return { ...keys.apiKey(key.accountId, id), id, ...rest, ...months };
}

export function apiKeyFromItem(item: Item): ApiKey {
  const { pk, sk, ...stored } = item;
  const spent = Object.entries(stored).flatMap(([name, value]): [string, Micros][] =>
    name.startsWith('spent_') ? [[name.slice('spent_'.length), value as Micros]] : [],
  );
  const rest = Object.fromEntries(Object.entries(stored).filter(([name]) => !name.startsWith('spent_')));
  return { ...(rest as unknown as Omit<ApiKey, 'spent'> & { id: KeyId }), spent: Object.fromEntries(spent) };
}

/** Without the request id: the ledger row of the charge holds it, and is written once. */
export function creationToItem({ requestId, ...creation }: CreationRecord): Item {
  return {
    ...keys.creation(creation.id),
    ...creation,
    // One text: the marshaller trips over names of the client's such as constructor, and loses __proto__.
    metadata: JSON.stringify(creation.metadata),
    openShard: openShard('OPEN', creation.id),
    [listingIndex.partition]: `CREATIONS#${creation.accountId}`,
    [listingIndex.sort]: creation.id,
  };
}

export function creationFromItem(item: Item): CreationRecord {
  const { pk, sk, openShard: shard, listing, listed, ...record } = item;
  return { ...(record as unknown as CreationRecord), metadata: metadataFrom(record['metadata']) };
}

/** Records that were written before metadata became one text hold a map. */
function metadataFrom(stored: unknown): Metadata {
  return (typeof stored === 'string' ? JSON.parse(stored) : stored) as Metadata;
}

export function idempotencyFromItem(item: Item): IdempotencyRecord {
  return item as unknown as IdempotencyRecord;
}

export function deliveryFromItem(item: Item): Delivery {
  const { pk, sk, expiresAtSeconds, ...delivery } = item;
  return delivery as unknown as Delivery;
}
