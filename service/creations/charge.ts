/**
 * The charge is the only transaction that takes money. Each of its parts is an item with its condition, and says what
 * a failed condition means. An order of several creations has one creation and one ledger row for each, and its cost is
 * their sum.
 *
 *   account      active, covers the cost, has room    available - cost, in flight + creations
 *   key          good, same caps, each cap covers     spend of the day and the month + cost
 *   user         its cap covers (only with such a cap) the user's spend of the month + cost
 *   token        valid, covers the cost (if by token) left - cost, uses left - creations
 *   rate window  below the limit                      count + 1
 *   creation     new                                  queued
 *   ledger row   new                                  -cost
 *   idempotency  absent, expired, or failed one       names the creations
 *   retry head   the call has created nothing yet     counts the entries of calls
 *   retry entry  new, or its creations have failed    names the creations
 *   uploads      none: read before, by their account  are not unused any more
 *
 * A condition of DynamoDB cannot add or subtract. So each cap is compared by its room, which is computed from
 * the values that were read, and the conditions require these values to be unchanged. The file has the whole
 * charge, so it is long.
 */
import {
  accountFromItem,
  apiKeyFromItem,
  dayAttribute,
  spentAttribute,
  toldAttribute,
  userSpentFromItem,
} from '../accounts/account-items.ts';
import { type Account, type AccountCondition, type ApiKey, hourOf } from '../accounts/account.ts';
import {
  allowsModel,
  type Budget,
  budgetsOf,
  capNames,
  counterExpiry,
  exceededBudget,
  isExpired,
  oldestDayKept,
  spentIn,
  spentInAll,
} from '../accounts/caps.ts';
import { userHash } from '../accounts/end-user.ts';
import { expiredMarks } from '../accounts/cap-kinds.ts';
import { type Item, keys, minuteOf, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import type { Refusal, TransactItem } from '../aws/dynamodb/transaction.ts';
import { idempotencySeconds, rateWindowSeconds } from '../contract/limits.ts';
import { noLongerUnused } from '../uploads/upload-store.ts';
import type { CreationId, TokenId, UploadId } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';
import { monthOf, nextMonth } from '../values/time.ts';
import { creationToItem, idempotencyFromItem } from './creation-items.ts';
import type { CreationRecord, IdempotencyRecord } from './creation.ts';
import type { RetryCharge } from './retries.ts';
import { retryItems } from './retry-store.ts';
import type { TokenCharge, TokenRefusal } from './token-items.ts';

export type NewCreation = CreationRecord & Required<Pick<CreationRecord, 'chargedDay'>>;

export interface ChargeOrder {
  /** One to four, of one account, key, model, user and time, all or none. The first id is the token. */
  readonly creations: readonly [NewCreation, ...NewCreation[]];
  /** The key as it was read. The charge is refused when its caps have changed since. */
  readonly apiKey: ApiKey;
  /** The token of an end user that ordered the creations. The rate is then the token's own. */
  readonly token?: {
    readonly id: TokenId;
    readonly part: (table: Table, charge: TokenCharge) => ChargePart;
  };
  /** How many creations the account may have open, as it was read. */
  readonly maxConcurrent: number;
  /** The account's rate of POSTs, in which the charge counts the request. Absent: it was counted before. */
  readonly postRate?: number;
  readonly nowMillis: number;
  /** The uploads that the creations use. From the charge on they no longer count as unused. */
  readonly uploads?: readonly UploadId[];
  readonly idempotency?: {
    readonly hash: string;
    readonly requestHash: string;
    /** The first of the failed creations that the key names. The new creations replace them. */
    readonly replaces?: CreationId;
    /** How long the key names the creations. Absent: as long as an Idempotency-Key of a client. */
    readonly seconds?: number;
  };
  /** Present when the request can be a retry of an openai library (service/creations/retries.ts). */
  readonly retry?: RetryCharge;
}

/** The outcome of a charge. Every outcome but 'charged' has written nothing. */
export type ChargeOutcome =
  | { readonly kind: 'charged' }
  | { readonly kind: 'account_not_active'; readonly condition: AccountCondition | 'gone' }
  /** The key is gone, revoked or expired. */
  | { readonly kind: 'key_revoked' }
  | TokenRefusal
  | { readonly kind: 'model_not_allowed' }
  /** The key's caps, or its spend in a neighbouring month, have changed since they were read. */
  | { readonly kind: 'key_changed'; readonly apiKey: ApiKey }
  /** Its limits have changed since they were read, and there is room for all creations. */
  | { readonly kind: 'account_changed'; readonly account: Account }
  | { readonly kind: 'rate_used_up' }
  | { readonly kind: 'idempotency_taken'; readonly record: IdempotencyRecord }
  /** A try of the same body was charged or attached meanwhile. Head and entries have to be read again. */
  | { readonly kind: 'retry_moved' }
  | { readonly kind: 'over_budget'; readonly budget: Budget }
  | { readonly kind: 'over_balance'; readonly availableMicros: Micros }
  | { readonly kind: 'too_many_open'; readonly limit: number; readonly current: number }
  | { readonly kind: 'overloaded' };

/** When several conditions fail, the first of these is the answer. */
const precedence: readonly ChargeOutcome['kind'][] = [
  'account_not_active',
  'key_revoked',
  'token_ended',
  'model_not_allowed',
  'rate_used_up',
  'idempotency_taken',
  'retry_moved',
  'token_used_up',
  'key_changed',
  'over_budget',
  'over_balance',
  'account_changed',
  'too_many_open',
];

export interface ChargePart {
  readonly item: TransactItem;
  /** The refusal for a failed condition, by the item at that moment. Absent: the condition cannot fail. */
  readonly refusal?: (old: Item | undefined) => ChargeOutcome | undefined;
}

/** The parts of the transaction. DynamoDB gives its cancellation reasons in the same order. */
export function chargeParts(table: Table, order: ChargeOrder): readonly ChargePart[] {
  const { apiKey, creations, idempotency, nowMillis, postRate, retry, token, uploads = [] } = order;
  const retried = retry ? retryItems(table, retry, idsOf(order), order.nowMillis) : [];
  return [
    accountPart(table, order),
    keyPart(table, order),
    ...(apiKey.perUserMonthlyCapMicros === undefined
      ? []
      : [userPart(table, order, apiKey.perUserMonthlyCapMicros)]),
    ...(token ? [token.part(table, { cost: costOf(order), count: creations.length, nowMillis })] : []),
    ...(postRate === undefined ? [] : [ratePart(table, order, postRate)]),
    ...creations
      .flatMap((creation) => [creationToItem(creation), ledgerRowOf(creation)])
      .map((item) => ({
        item: { Put: { TableName: table.name, Item: item, ConditionExpression: isNew } },
      })),
    ...(idempotency ? [idempotencyPart(table, order, idempotency)] : []),
    ...retried.map((item) => ({ item, refusal: () => ({ kind: 'retry_moved' }) as const })),
    ...(uploads.length > 0 ? [uploadsPart(table, order, uploads)] : []),
  ];
}

export function refusedCharge(parts: readonly ChargePart[], refusals: readonly Refusal[]): ChargeOutcome {
  const found = parts.flatMap(({ refusal }, index) => {
    const refused = refusals[index];
    return (refused && refusal?.(refused.item)) ?? [];
  });
  const first = precedence.flatMap((kind) => found.find((one) => one.kind === kind) ?? [])[0];
  if (!first) throw new Error('the charge was refused by a condition that no refusal stands for');
  return first;
}

function costOf({ creations }: ChargeOrder): Micros {
  return asMicros(creations.reduce((sum, { costMicros }) => sum + costMicros, 0));
}

function idsOf({ creations: [first, ...rest] }: ChargeOrder): readonly [CreationId, ...CreationId[]] {
  return [first.id, ...rest.map(({ id }) => id)];
}

const isNew = 'attribute_not_exists(pk)';
const returnOld = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

const isActive = '#condition = :active';
const coversTheCost = 'availableMicros >= :cost';
const hasRoom = 'inFlight < maxConcurrent';
/** A condition cannot add, so room for several is computed from the limit that was read. */
const hasRoomForAll = 'inFlight <= :room AND maxConcurrent >= :limit';

function accountPart(table: Table, order: ChargeOrder): ChargePart {
  const { creations, maxConcurrent } = order;
  const count = creations.length;
  const cost = costOf(order);
  const item = {
    Update: {
      TableName: table.name,
      Key: keys.account(creations[0].accountId),
      UpdateExpression: `SET availableMicros = availableMicros - :cost, inFlight = inFlight + ${count === 1 ? ':one' : ':count'}`,
      ConditionExpression: `${isActive} AND ${coversTheCost} AND ${count === 1 ? hasRoom : hasRoomForAll}`,
      ExpressionAttributeNames: { '#condition': 'condition' },
      ExpressionAttributeValues: {
        ':active': 'active',
        ':cost': cost,
        ...(count === 1
          ? { ':one': 1 }
          : { ':count': count, ':room': maxConcurrent - count, ':limit': maxConcurrent }),
      },
      ...returnOld,
    },
  };
  const refusal = (old: Item | undefined): ChargeOutcome => {
    const account = old && accountFromItem(old);
    if (account?.condition !== 'active')
      return { kind: 'account_not_active', condition: account?.condition ?? 'gone' };
    const {
      availableMicros,
      inFlight,
      limits: { maxConcurrent: limit },
    } = account;
    if (availableMicros < cost) return { kind: 'over_balance', availableMicros };
    return limit !== maxConcurrent && inFlight + count <= limit
      ? { kind: 'account_changed', account }
      : { kind: 'too_many_open', limit, current: inFlight };
  };
  return { item, refusal };
}

const isNotRevoked = 'attribute_exists(pk) AND attribute_not_exists(revokedAt)';
const isNotExpired = '(attribute_not_exists(expiresAt) OR expiresAt > :at)';
const modelIsAllowed = '(attribute_not_exists(models) OR contains(models, :model))';
const dayCoversTheCost = '(attribute_not_exists(#day) OR #day <= :dayRoom)';
const monthCoversTheCost = '(attribute_not_exists(#spent) OR #spent <= :monthRoom)';
const totalCoversTheCost = '(attribute_not_exists(#spent) OR #spent <= :totalRoom)';

/** The key: good, with the caps that were read, and with room below each of them. */
function keyPart(table: Table, order: ChargeOrder): ChargePart {
  const { nowMillis, apiKey } = order;
  const { accountId, keyId, model, chargedDay, chargedMonth } = order.creations[0];
  const cost = costOf(order);
  const oldest = oldestDayKept(chargedDay);
  const over = [
    ...Object.keys(apiKey.spentByDay).flatMap((day) => (day < oldest ? [dayAttribute(day)] : [])),
    ...expiredMarks(apiKey, chargedDay).map(toldAttribute),
  ];
  const removal = over.length === 0 ? '' : ` REMOVE ${over.map((_, index) => `#over${index}`).join(', ')}`;
  const { dailyCapMicros: daily, monthlyCapMicros: monthly } = apiKey;
  const total = totalCondition(order);
  const item = {
    Update: {
      TableName: table.name,
      Key: keys.apiKey(accountId, keyId),
      UpdateExpression: `ADD #spent :cost, #day :cost SET lastUsedAt = :hour${removal}`,
      ConditionExpression: [
        isNotRevoked,
        isNotExpired,
        modelIsAllowed,
        // The room below a cap is computed from the cap, so the cap must be the one that was read.
        ...capNames.map((name) =>
          apiKey[name] === undefined ? `attribute_not_exists(${name})` : `${name} = :${name}`,
        ),
        ...(daily === undefined ? [] : [dayCoversTheCost]),
        ...(monthly === undefined ? [] : [monthCoversTheCost]),
        ...total.conditions,
      ].join(' AND '),
      ExpressionAttributeNames: {
        '#spent': spentAttribute(chargedMonth),
        '#day': dayAttribute(chargedDay),
        ...Object.fromEntries(over.map((name, index) => [`#over${index}`, name])),
        ...total.names,
      },
      ExpressionAttributeValues: {
        ':cost': cost,
        ':hour': hourOf(nowMillis),
        ':at': new Date(nowMillis).toISOString(),
        ':model': model,
        ...Object.fromEntries(
          capNames.flatMap((name) => (apiKey[name] === undefined ? [] : [[`:${name}`, apiKey[name]]])),
        ),
        ...(daily !== undefined && { ':dayRoom': daily - cost }),
        ...(monthly !== undefined && { ':monthRoom': monthly - cost }),
        ...total.values,
      },
      ...returnOld,
    },
  };
  const refusal = (old: Item | undefined): ChargeOutcome => {
    const key = old && apiKeyFromItem(old);
    if (!key || key.revokedAt !== undefined || isExpired(key, nowMillis)) return { kind: 'key_revoked' };
    if (!allowsModel(key, model)) return { kind: 'model_not_allowed' };
    const isAsRead = capNames.every((name) => key[name] === apiKey[name]);
    const budget = isAsRead ? exceededBudget(key, cost, nowMillis, asMicros(0)) : undefined;
    return budget ? { kind: 'over_budget', budget } : { kind: 'key_changed', apiKey: key };
  };
  return { item, refusal };
}

/**
 * The total is the sum of the months. The room of this month is the cap without the other months, as they were read. At
 * the turn of a month another charge may still come into a neighbouring month, so those two must not have grown. No
 * charge comes into any other month, and a refund there only makes more room.
 */
function totalCondition(order: ChargeOrder): {
  readonly conditions: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Item;
} {
  const { apiKey } = order;
  const { chargedMonth: month } = order.creations[0];
  if (apiKey.totalCapMicros === undefined) return { conditions: [] };
  const first = Date.parse(`${month.replace('_', '-')}-01`);
  const beside = { Before: monthOf(first - 1), After: monthOf(Date.parse(nextMonth(first))) };
  const sides = Object.entries(beside).map(([side, name]) => ({ side, name, read: apiKey.spent[name] }));
  return {
    conditions: [
      totalCoversTheCost,
      ...sides.map(({ side, read }) =>
        read === undefined ? `attribute_not_exists(#month${side})` : `#month${side} <= :month${side}`,
      ),
    ],
    names: Object.fromEntries(sides.map(({ side, name }) => [`#month${side}`, spentAttribute(name)])),
    values: {
      ':totalRoom': apiKey.totalCapMicros - costOf(order) - spentInOthers(apiKey, month),
      ...Object.fromEntries(
        sides.flatMap(({ side, read }) => (read === undefined ? [] : [[`:month${side}`, read]])),
      ),
    },
  };
}

/** The first budget that is too small even when unspent: a condition treats an absent spend as room. */
export function hopelessBudget(order: ChargeOrder): Budget | undefined {
  const { apiKey, nowMillis } = order;
  const { chargedMonth: month } = order.creations[0];
  const cost = costOf(order);
  return budgetsOf(apiKey, nowMillis, asMicros(0)).find(
    ({ period, capMicros }) => cost > capMicros - (period === 'total' ? spentInOthers(apiKey, month) : 0),
  );
}

function spentInOthers(apiKey: ApiKey, month: string): number {
  return spentInAll(apiKey) - spentIn(apiKey, month);
}

/** The counter of the user, only when the key has a cap for each user: the counter costs one more write. */
function userPart(table: Table, order: ChargeOrder, cap: Micros): ChargePart {
  const { accountId, keyId, user, chargedMonth: month, countedForUser } = order.creations[0];
  const cost = costOf(order);
  if (user === undefined || !countedForUser)
    throw new Error('a charge of a key with a cap for each user names no user');
  const item = {
    Update: {
      TableName: table.name,
      Key: keys.userSpend(accountId, keyId, month, userHash(user)),
      UpdateExpression: 'ADD spentMicros :cost SET #ttl = :ttl',
      ConditionExpression: 'attribute_not_exists(spentMicros) OR spentMicros <= :room',
      ExpressionAttributeNames: { '#ttl': ttlAttribute },
      ExpressionAttributeValues: {
        ':cost': cost,
        ':room': cap - cost,
        ':ttl': Math.ceil(counterExpiry(month) / 1000),
      },
      ...returnOld,
    },
  };
  const refusal = (old: Item | undefined): ChargeOutcome | undefined => {
    const budgets = budgetsOf(order.apiKey, order.nowMillis, userSpentFromItem(old));
    const budget = budgets.find(({ period }) => period === 'user');
    return budget && { kind: 'over_budget', budget };
  };
  return { item, refusal };
}

function ratePart(table: Table, { creations, nowMillis, token }: ChargeOrder, postRate: number): ChargePart {
  const item = {
    Update: {
      TableName: table.name,
      Key: keys.rate(creations[0].accountId, 'post', minuteOf(nowMillis), token?.id),
      UpdateExpression: 'ADD #count :one SET #ttl = :ttl',
      ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
      ExpressionAttributeNames: { '#count': 'count', '#ttl': ttlAttribute },
      ExpressionAttributeValues: {
        ':one': 1,
        ':limit': postRate,
        ':ttl': Math.floor(nowMillis / 1000) + 2 * rateWindowSeconds,
      },
    },
  };
  return { item, refusal: () => ({ kind: 'rate_used_up' }) };
}

function ledgerRowOf(creation: NewCreation): Item {
  return {
    ...keys.ledger(creation.accountId, creation.createdAt, 'charge', creation.id),
    kind: 'charge',
    amountMicros: 0 - creation.costMicros,
    creationId: creation.id,
    keyId: creation.keyId,
    month: creation.chargedMonth,
    day: creation.chargedDay,
    ...(creation.countedForUser && { countedForUser: true }),
    ...(creation.user !== undefined && { user: creation.user }),
    ...(creation.requestId !== undefined && { requestId: creation.requestId }),
    model: creation.model,
    at: creation.createdAt,
  };
}

const isFree = 'attribute_not_exists(pk) OR expiresAt <= :now';
const namesTheFailedOne = 'creationId = :failed';

function idempotencyPart(
  table: Table,
  order: ChargeOrder,
  { hash, requestHash, replaces, seconds = idempotencySeconds }: NonNullable<ChargeOrder['idempotency']>,
): ChargePart {
  const { creations, nowMillis } = order;
  const [first] = creations;
  const expiresAt = nowMillis + seconds * 1000;
  const item = {
    Put: {
      TableName: table.name,
      Item: {
        ...keys.idempotency(first.accountId, hash),
        creationId: first.id,
        ...(creations.length > 1 && { creationIds: idsOf(order) }),
        requestHash,
        expiresAt,
        [ttlAttribute]: Math.ceil(expiresAt / 1000),
      },
      ConditionExpression: replaces === undefined ? isFree : `${isFree} OR ${namesTheFailedOne}`,
      ExpressionAttributeValues: {
        ':now': nowMillis,
        ...(replaces !== undefined && { ':failed': replaces }),
      },
      ...returnOld,
    },
  };
  return { item, refusal: (old) => old && { kind: 'idempotency_taken', record: idempotencyFromItem(old) } };
}

function uploadsPart(table: Table, { creations }: ChargeOrder, uploads: readonly UploadId[]): ChargePart {
  const Key = keys.unusedUploads(creations[0].accountId);
  return { item: { Update: { TableName: table.name, Key, ...noLongerUnused(uploads) } } };
}
