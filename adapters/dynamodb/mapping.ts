/** Converts between the items of the table and the types of core. */
import type {
  Account,
  AccountCondition,
  ApiKey,
  SealedSecret,
  ToldCap,
  ToldWallet,
} from '../../core/account.ts';
import type { UserCounter } from '../../core/audit/books.ts';
import type { CreationRecord } from '../../core/creation.ts';
import type { AccountId, CreationId, KeyId } from '../../core/ids.ts';
import { defaultLimits } from '../../core/limits.ts';
import type { LedgerRow } from '../../core/ledger.ts';
import { asMicros, type Micros } from '../../core/money.ts';
import type { Delivery } from '../../core/ports/deliveries.ts';
import type { Block, IdempotencyRecord } from '../../core/ports/requests.ts';
import type { NoticeRecord } from '../../core/notice.ts';
import type { Upload } from '../../core/upload.ts';
import { keys, listingIndex, openShard, ttlAttribute, type Item, type ItemKey } from './table.ts';

/** How long notices, and the rows of the delivery log, are kept. */
export const keptDays = 30;

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
  /** Absent in an account from before uploads. */
  maxUnusedUploads?: number;
  providers?: string[];
  hiddenModels: string[];
  webhookSecrets: SealedSecret[];
  createdAt: string;
  noticeUrl?: string;
  lowBalanceMicros?: Micros;
  toldLow?: ToldWallet;
  toldEmpty?: ToldWallet;
  toldFailing?: ToldWallet;
  webhookFailures?: number;
  eventsSince?: string;
  sandbox?: true;
}

const optionalAttributes = [
  'noticeUrl',
  'lowBalanceMicros',
  'toldLow',
  'toldEmpty',
  'toldFailing',
  'webhookFailures',
  'eventsSince',
  'sandbox',
] as const satisfies readonly (keyof AccountItem)[];

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
      maxUnusedUploads: stored.maxUnusedUploads ?? defaultLimits.maxUnusedUploads,
    },
    policy: { providers: stored.providers ?? 'all', hiddenModels: stored.hiddenModels },
    webhookSecrets: stored.webhookSecrets,
    createdAt: stored.createdAt,
    ...Object.fromEntries(
      optionalAttributes.flatMap((name) => (stored[name] === undefined ? [] : [[name, stored[name]]])),
    ),
  };
}

/** The spend of each month has its own attribute, so that a charge or a refund changes it by a single ADD. */
export function spentAttribute(month: string): string {
  return `spent_${month}`;
}

/** The mark of a cap for which a notice was sent, one attribute for each kind and period. */
export function toldAttribute(name: string): string {
  return `told_${name}`;
}

/** The spend of a day, as that of a month. */
export function dayAttribute(day: string): string {
  return `day_${day}`;
}

export function apiKeyToItem(key: ApiKey): Item & ItemKey {
  const { id, spent, spentByDay, told = {}, ...rest } = key;
  const months = Object.entries(spent).map(([month, sum]): [string, Micros] => [spentAttribute(month), sum]);
  const days = Object.entries(spentByDay).map(([day, sum]): [string, Micros] => [dayAttribute(day), sum]);
  const marks = Object.fromEntries(Object.entries(told).map(([name, mark]) => [toldAttribute(name), mark]));
  const sums = Object.fromEntries([...months, ...days]);
  return { ...keys.apiKey(key.accountId, id), id, ...rest, ...sums, ...marks };
}

export function apiKeyFromItem(item: Item): ApiKey {
  const { pk, sk, ...stored } = item;
  const months = spendBehind(spentAttribute(''), stored);
  const days = spendBehind(dayAttribute(''), stored);
  const rest = Object.fromEntries(
    Object.entries(stored).filter(([name]) => !/^(spent|day|told)_/.test(name)),
  ) as unknown as Omit<ApiKey, 'spent' | 'spentByDay' | 'told'>;
  const told = Object.fromEntries(
    Object.entries(stored).flatMap(([name, mark]): [string, unknown][] =>
      name.startsWith('told_') ? [[name.slice('told_'.length), mark]] : [],
    ),
  ) as Record<string, ToldCap>;
  return { ...rest, spent: months, spentByDay: days, ...(Object.keys(told).length > 0 && { told }) };
}

/** The sums of the attributes whose names begin so, by the rest of their names. */
function spendBehind(prefix: string, item: Item): Record<string, Micros> {
  return Object.fromEntries(
    Object.entries(item).flatMap(([name, value]): [string, Micros][] =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), asMicros(Number(value))]] : [],
    ),
  );
}

/** The counter of a user, whose key names the API key, the month and the hash of the user. */
export function userCounterFromItem(item: Item): UserCounter {
  const [, keyId = '', month = '', userHash = ''] = String(item['sk']).split('#');
  return { keyId: keyId as KeyId, month, userHash, spentMicros: userSpentFromItem(item) };
}

/** What the counter of a user holds. Absent: nothing was counted. */
export function userSpentFromItem(item: Item | undefined): Micros {
  return asMicros(Number(item?.['spentMicros'] ?? 0));
}

/** The notices sent about the cap of a user. The counter holds the mark, and both expire together. */
export function userToldFromItem(item: Item | undefined): ToldCap | undefined {
  return item?.['told'] as ToldCap | undefined;
}

/**
 * The item has no request id. The ledger row of the charge holds the request id, and nothing ever changes
 * that row.
 */
export function creationToItem({ requestId, ...creation }: CreationRecord): Item {
  return {
    ...keys.creation(creation.id),
    ...creation,
    // Stored as one text, because the SDK's marshaller fails on names such as constructor and loses
    // __proto__.
    metadata: JSON.stringify(creation.metadata),
    openShard: openShard('OPEN', creation.id),
    [listingIndex.partition]: `CREATIONS#${creation.accountId}`,
    [listingIndex.sort]: creation.id,
  };
}

export function creationFromItem(item: Item): CreationRecord {
  const { pk, sk, openShard: shard, listing, listed, ...record } = item;
  return { ...record, metadata: metadataFrom(record['metadata']) } as unknown as CreationRecord;
}

/** Older records hold a map instead of one text. */
function metadataFrom(stored: unknown): unknown {
  return typeof stored === 'string' ? JSON.parse(stored) : stored;
}

/** The id of a creation in a row of the listing index. */
export function listedIdOf(row: Item): CreationId {
  return String(row['listed']) as CreationId;
}

interface IdempotencyItem extends Omit<IdempotencyRecord, 'creationIds'> {
  readonly creationId: CreationId;
  /** Only when one charge made several creations. */
  readonly creationIds?: IdempotencyRecord['creationIds'];
}

export function idempotencyFromItem(item: Item): IdempotencyRecord {
  const { creationId, creationIds, requestHash, expiresAt } = item as unknown as IdempotencyItem;
  return { creationIds: creationIds ?? [creationId], requestHash, expiresAt };
}

export function blockFromItem(item: Item): Block {
  return {
    untilMillis: Number(item['untilMillis']),
    scope: item['scope'] === 'all' ? 'all' : 'public',
    ...(item['isKeyless'] === true && { isKeyless: true }),
  };
}

/** The webhook secrets of an account's item, or of a projection of it. */
export function secretsFromItem(item: Item | undefined): readonly SealedSecret[] {
  return (item?.['webhookSecrets'] ?? []) as readonly SealedSecret[];
}

export function ledgerRowFromItem({ pk, sk, ...row }: Item): LedgerRow {
  return row as unknown as LedgerRow;
}

/** A notice is kept as long as its deliveries are. */
export function noticeToItem(notice: NoticeRecord): Item {
  const createdSeconds = Math.floor(Date.parse(notice.createdAt) / 1000);
  return {
    ...keys.notice(notice.id),
    ...notice,
    openShard: openShard('WEBHOOK', notice.id),
    [ttlAttribute]: createdSeconds + keptDays * 86_400,
  };
}

export function noticeFromItem(item: Item): NoticeRecord {
  const { pk, sk, openShard: shard, expiresAtSeconds, ...record } = item;
  return record as unknown as NoticeRecord;
}

export function uploadToItem(upload: Upload): Item & ItemKey {
  return {
    ...keys.upload(upload.accountId, upload.id),
    ...upload,
    [ttlAttribute]: Math.ceil(upload.expiresAt / 1000),
  };
}

export function uploadFromItem({ pk, sk, expiresAtSeconds, ...upload }: Item): Upload {
  return upload as unknown as Upload;
}

export function deliveryFromItem(item: Item): Delivery {
  const { pk, sk, expiresAtSeconds, ...delivery } = item;
  return delivery as unknown as Delivery;
}
