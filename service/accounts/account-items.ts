/** Converts between the items of the table and the types of core. */
import { type Item, type ItemKey, keys, listingIndex } from '../aws/dynamodb/table.ts';
import { defaultLimits, type ResultAccess } from '../contract/limits.ts';
import type { AccountId, KeyId } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';
import type {
  Account,
  AccountCondition,
  ApiKey,
  LedgerRow,
  SealedSecret,
  ToldBudget,
  ToldCap,
  ToldWallet,
  UserCounter,
} from './account.ts';

interface AccountItem {
  id: AccountId;
  name: string;
  condition: AccountCondition;
  availableMicros: Micros;
  creditLineMicros: Micros;
  inFlight: number;
  postRate: number;
  getRate: number;
  /** Absent in an account from before these could be set. */
  userPostRate?: number;
  userGetRate?: number;
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
  monthlyBudgetMicros?: Micros;
  toldLow?: ToldWallet;
  toldEmpty?: ToldWallet;
  toldFailing?: ToldWallet;
  toldBudget?: ToldBudget;
  webhookFailures?: number;
  creationEndpoints?: true;
  noticeEndpoints?: true;
  copies?: true;
  mailChoices?: number;
  hasAutoTopUp?: true;
  eventsSince?: string;
  sandbox?: true;
  results?: ResultAccess;
  resultsMinutes?: number;
  externalId?: string;
  openedBy?: string;
}

/** The type requires every optional member of an account, so no stored member is left unread. */
const optional: Record<OptionalMember, true> = {
  noticeUrl: true,
  lowBalanceMicros: true,
  monthlyBudgetMicros: true,
  toldLow: true,
  toldEmpty: true,
  toldFailing: true,
  toldBudget: true,
  webhookFailures: true,
  creationEndpoints: true,
  noticeEndpoints: true,
  copies: true,
  mailChoices: true,
  hasAutoTopUp: true,
  eventsSince: true,
  sandbox: true,
  results: true,
  resultsMinutes: true,
  externalId: true,
  openedBy: true,
};
type OptionalMember = keyof AccountItem &
  { [Name in keyof Account]-?: undefined extends Account[Name] ? Name : never }[keyof Account];
const optionalMembers = Object.keys(optional) as OptionalMember[];

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
      userPostRate: stored.userPostRate ?? defaultLimits.userPostRate,
      userGetRate: stored.userGetRate ?? defaultLimits.userGetRate,
      maxConcurrent: stored.maxConcurrent,
      deadlineSeconds: stored.deadlineSeconds,
      maxUnusedUploads: stored.maxUnusedUploads ?? defaultLimits.maxUnusedUploads,
    },
    policy: { providers: stored.providers ?? 'all', hiddenModels: stored.hiddenModels },
    webhookSecrets: stored.webhookSecrets,
    createdAt: stored.createdAt,
    ...Object.fromEntries(
      optionalMembers.flatMap((name) => (stored[name] === undefined ? [] : [[name, stored[name]]])),
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

export function userSpentFromItem(item: Item | undefined): Micros {
  return asMicros(Number(item?.['spentMicros'] ?? 0));
}

/** The notices sent about the cap of a user. The counter holds the mark, and both expire together. */
export function userToldFromItem(item: Item | undefined): ToldCap | undefined {
  return item?.['told'] as ToldCap | undefined;
}

/** Older records hold a map instead of one text. */
export function metadataFrom(stored: unknown): unknown {
  return typeof stored === 'string' ? JSON.parse(stored) : stored;
}

/** The webhook secrets of an account's item, or of a projection of it. */
export function secretsFromItem(item: Item | undefined): readonly SealedSecret[] {
  return (item?.['webhookSecrets'] ?? []) as readonly SealedSecret[];
}

export function ledgerRowFromItem({ pk, sk, ...row }: Item): LedgerRow {
  return row as unknown as LedgerRow;
}
