/**
 * The charge is the only transaction that takes money. A pure function builds its items from the order, and
 * another one reads why it was refused. transaction.ts sends it. An order of several creations has one
 * creation and one ledger row for each, and its cost is their sum.
 *
 *   account      active, covers the cost, has room    available - cost, in flight + creations
 *   key          good, same caps, each cap covers     spend of the day and the month + cost
 *   user         its cap covers (only with such a cap) the user's spend of the month + cost
 *   rate window  below the limit                      count + 1
 *   creation     new                                  queued
 *   ledger row   new                                  -cost
 *   idempotency  absent, expired, or failed one       names the creations
 *   retry head   nothing made that the try belongs to counts the entries of calls
 *   retry entry  new, or its creations have failed    names the creations
 *   uploads      none: read before, by their account  are not unused any more
 */
import {
  accountFromItem,
  apiKeyFromItem,
  dayAttribute,
  spentAttribute,
  toldAttribute,
  userSpentFromItem,
} from '../accounts/account-items.ts';
import { type ApiKey, hourOf } from '../accounts/account.ts';
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
import { overMarks } from '../accounts/watched-caps.ts';
import { type Item, keys, minuteOf, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import type { Refusal, TransactItem } from '../aws/dynamodb/transaction.ts';
import { idempotencySeconds, rateWindowSeconds } from '../contract/limits.ts';
import { noLongerUnused } from '../uploads/upload-store.ts';
import type { CreationId, UploadId } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';
import { monthOf, nextMonth } from '../values/time.ts';
import type { ChargeOrder, ChargeOutcome, NewCreation } from './charges.ts';
import { creationToItem, idempotencyFromItem } from './creation-items.ts';
import { retryItems } from './retry-store.ts';

/**
 * The items of the charge that count the spend of a key: the key itself, and the counter of a user. A
 * condition of DynamoDB cannot add or subtract. So each cap is compared by its room, which is computed from
 * what was read, and the conditions say that this still holds.
 */
const isNotRevoked = 'attribute_exists(pk) AND attribute_not_exists(revokedAt)';
const isNotExpired = '(attribute_not_exists(expiresAt) OR expiresAt > :at)';
const modelIsAllowed = '(attribute_not_exists(models) OR contains(models, :model))';
const dayCoversTheCost = '(attribute_not_exists(#day) OR #day <= :dayRoom)';
const monthCoversTheCost = '(attribute_not_exists(#spent) OR #spent <= :monthRoom)';
const totalCoversTheCost = '(attribute_not_exists(#spent) OR #spent <= :totalRoom)';
const userCoversTheCost = 'attribute_not_exists(spentMicros) OR spentMicros <= :room';

const returnOld = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

/** The cost of all creations of the order together. */
function costOf({ creations }: ChargeOrder): Micros {
  return asMicros(creations.reduce((sum, { costMicros }) => sum + costMicros, 0));
}

/** The key: good, with the caps that were read, and with room below each of them. */
function keyItem(table: Table, order: ChargeOrder): TransactItem {
  const { nowMillis, apiKey } = order;
  const [creation] = order.creations;
  const oldest = oldestDayKept(creation.chargedDay);
  const over = [
    ...Object.keys(apiKey.spentByDay).flatMap((day) => (day < oldest ? [dayAttribute(day)] : [])),
    ...overMarks(apiKey, creation.chargedDay).map(toldAttribute),
  ];
  const removal = over.length === 0 ? '' : ` REMOVE ${over.map((_, index) => `#over${index}`).join(', ')}`;
  const asRead = capsAsRead(apiKey);
  const covering = coveringConditions(order);
  return {
    Update: {
      TableName: table.name,
      Key: keys.apiKey(creation.accountId, creation.keyId),
      UpdateExpression: `ADD #spent :cost, #day :cost SET lastUsedAt = :hour${removal}`,
      ConditionExpression: [
        isNotRevoked,
        isNotExpired,
        modelIsAllowed,
        ...asRead.conditions,
        ...covering.conditions,
      ].join(' AND '),
      ExpressionAttributeNames: {
        '#spent': spentAttribute(creation.chargedMonth),
        '#day': dayAttribute(creation.chargedDay),
        ...Object.fromEntries(over.map((name, index) => [`#over${index}`, name])),
        ...covering.names,
      },
      ExpressionAttributeValues: {
        ':cost': costOf(order),
        ':hour': hourOf(nowMillis),
        ':at': new Date(nowMillis).toISOString(),
        ':model': creation.model,
        ...asRead.values,
        ...covering.values,
      },
      ...returnOld,
    },
  };
}

interface Conditions {
  readonly conditions: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
  readonly values: Item;
}

/** The room below a cap is computed from the cap, so the cap must be the one that was read. */
function capsAsRead(apiKey: ApiKey): Conditions {
  const set = capNames.filter((name) => apiKey[name] !== undefined);
  return {
    conditions: capNames.map((name) =>
      set.includes(name) ? `${name} = :${name}` : `attribute_not_exists(${name})`,
    ),
    values: Object.fromEntries(set.map((name) => [`:${name}`, apiKey[name]])),
  };
}

/** For each cap: the spend of its period is at most the cap without the cost. */
function coveringConditions(order: ChargeOrder): Conditions {
  const { dailyCapMicros: daily, monthlyCapMicros: monthly } = order.apiKey;
  const cost = costOf(order);
  const total = totalConditions(order);
  return {
    conditions: [
      ...(daily === undefined ? [] : [dayCoversTheCost]),
      ...(monthly === undefined ? [] : [monthCoversTheCost]),
      ...total.conditions,
    ],
    ...(total.names && { names: total.names }),
    values: {
      ...(daily !== undefined && { ':dayRoom': daily - cost }),
      ...(monthly !== undefined && { ':monthRoom': monthly - cost }),
      ...total.values,
    },
  };
}

/**
 * The total is the sum of the months. The room of this month is the cap without the other months, as they
 * were read. At the turn of a month another charge may still come into a neighbouring month, so those two
 * must not have grown. No charge comes into any other month, and a refund there only makes more room.
 */
function totalConditions(order: ChargeOrder): Conditions {
  const { apiKey } = order;
  const { chargedMonth: month } = order.creations[0];
  if (apiKey.totalCapMicros === undefined) return { conditions: [], values: {} };
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

/**
 * The first budget whose cap leaves no room for the cost even if nothing of its period were spent. A
 * condition would take an absent spend for room, so such an order is never sent.
 */
export function hopelessBudget(order: ChargeOrder): Budget | undefined {
  const { apiKey, nowMillis } = order;
  const { chargedMonth: month } = order.creations[0];
  const cost = costOf(order);
  return budgetsOf(apiKey, nowMillis, asMicros(0)).find(
    ({ period, capMicros }) => cost > capMicros - (period === 'total' ? spentInOthers(apiKey, month) : 0),
  );
}

/** What the key spent in all months but this one. */
function spentInOthers(apiKey: ApiKey, month: string): number {
  return spentInAll(apiKey) - spentIn(apiKey, month);
}

/** The counter of the user, only when the key has a cap for each user: it costs one more write. */
function userItem(table: Table, order: ChargeOrder): TransactItem[] {
  const cap = order.apiKey.perUserMonthlyCapMicros;
  if (cap === undefined) return [];
  const { accountId, keyId, user, chargedMonth: month, countedForUser } = order.creations[0];
  const cost = costOf(order);
  if (user === undefined || !countedForUser)
    throw new Error('a charge of a key with a cap for each user names no user');
  return [
    {
      Update: {
        TableName: table.name,
        Key: keys.userSpend(accountId, keyId, month, userHash(user)),
        UpdateExpression: 'ADD spentMicros :cost SET #ttl = :ttl',
        ConditionExpression: userCoversTheCost,
        ExpressionAttributeNames: { '#ttl': ttlAttribute },
        ExpressionAttributeValues: {
          ':cost': cost,
          ':room': cap - cost,
          ':ttl': Math.ceil(counterExpiry(month) / 1000),
        },
        ...returnOld,
      },
    },
  ];
}

const isActive = '#condition = :active';
const coversTheCost = 'availableMicros >= :cost';
const hasRoom = 'inFlight < maxConcurrent';
/** A condition cannot add, so room for several is computed from the limit that was read. */
const hasRoomForAll = 'inFlight <= :room AND maxConcurrent >= :limit';
const windowHasRoom = 'attribute_not_exists(#count) OR #count < :limit';
const isNew = 'attribute_not_exists(pk)';
const isFree = 'attribute_not_exists(pk) OR expiresAt <= :now';
const namesTheFailedOne = 'creationId = :failed';

export type ChargePart =
  | 'account'
  | 'key'
  | 'user'
  | 'rate'
  | `creation${number}`
  | `ledgerRow${number}`
  | 'idempotency'
  | 'retryHead'
  | 'retryEntry'
  | 'uploads';

/** The items of the transaction by name. DynamoDB gives its cancellation reasons in the same order. */
export function chargeItems(table: Table, order: ChargeOrder): ReadonlyMap<ChargePart, TransactItem> {
  return new Map<ChargePart, TransactItem>([
    ['account', accountItem(table, order)],
    ['key', keyItem(table, order)],
    ...userItem(table, order).map((item) => ['user', item] as const),
    ...(order.postRate === undefined ? [] : [['rate', rateItem(table, order, order.postRate)] as const]),
    ...order.creations.flatMap((creation, index): [ChargePart, TransactItem][] => [
      [`creation${index}`, creationItem(table, creation)],
      [`ledgerRow${index}`, ledgerItem(table, creation)],
    ]),
    ...(order.idempotency
      ? [['idempotency', idempotencyItem(table, order, order.idempotency)] as const]
      : []),
    ...(order.retry ? retryItems(table, order.retry, idsOf(order), order.nowMillis) : []),
    ...(order.uploads?.length ? [['uploads', uploadsItem(table, order, order.uploads)] as const] : []),
  ]);
}

function idsOf({ creations: [first, ...rest] }: ChargeOrder): readonly [CreationId, ...CreationId[]] {
  return [first.id, ...rest.map(({ id }) => id)];
}

function accountItem(table: Table, order: ChargeOrder): TransactItem {
  const { creations, maxConcurrent } = order;
  const count = creations.length;
  return {
    Update: {
      TableName: table.name,
      Key: keys.account(creations[0].accountId),
      UpdateExpression: `SET availableMicros = availableMicros - :cost, inFlight = inFlight + ${count === 1 ? ':one' : ':count'}`,
      ConditionExpression: `${isActive} AND ${coversTheCost} AND ${count === 1 ? hasRoom : hasRoomForAll}`,
      ExpressionAttributeNames: { '#condition': 'condition' },
      ExpressionAttributeValues: {
        ':active': 'active',
        ':cost': costOf(order),
        ...(count === 1
          ? { ':one': 1 }
          : { ':count': count, ':room': maxConcurrent - count, ':limit': maxConcurrent }),
      },
      ...returnOld,
    },
  };
}

function rateItem(table: Table, { creations, nowMillis }: ChargeOrder, postRate: number): TransactItem {
  return {
    Update: {
      TableName: table.name,
      Key: keys.rate(creations[0].accountId, 'post', minuteOf(nowMillis)),
      UpdateExpression: 'ADD #count :one SET #ttl = :ttl',
      ConditionExpression: windowHasRoom,
      ExpressionAttributeNames: { '#count': 'count', '#ttl': ttlAttribute },
      ExpressionAttributeValues: {
        ':one': 1,
        ':limit': postRate,
        ':ttl': Math.floor(nowMillis / 1000) + 2 * rateWindowSeconds,
      },
    },
  };
}

function creationItem(table: Table, creation: NewCreation): TransactItem {
  return { Put: { TableName: table.name, Item: creationToItem(creation), ConditionExpression: isNew } };
}

function ledgerItem(table: Table, creation: NewCreation): TransactItem {
  const ledgerRow = {
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
  return { Put: { TableName: table.name, Item: ledgerRow, ConditionExpression: isNew } };
}

function idempotencyItem(
  table: Table,
  order: ChargeOrder,
  own: NonNullable<ChargeOrder['idempotency']>,
): TransactItem {
  const { creations, nowMillis } = order;
  const [first] = creations;
  const expiresAt = nowMillis + (own.seconds ?? idempotencySeconds) * 1000;
  return {
    Put: {
      TableName: table.name,
      Item: {
        ...keys.idempotency(first.accountId, own.hash),
        creationId: first.id,
        ...(creations.length > 1 && { creationIds: idsOf(order) }),
        requestHash: own.requestHash,
        expiresAt,
        [ttlAttribute]: Math.ceil(expiresAt / 1000),
      },
      ConditionExpression: own.replaces === undefined ? isFree : `${isFree} OR ${namesTheFailedOne}`,
      ExpressionAttributeValues: {
        ':now': nowMillis,
        ...(own.replaces !== undefined && { ':failed': own.replaces }),
      },
      ...returnOld,
    },
  };
}

function uploadsItem(table: Table, { creations }: ChargeOrder, uploads: readonly UploadId[]): TransactItem {
  return {
    Update: {
      TableName: table.name,
      Key: keys.unusedUploads(creations[0].accountId),
      ...noLongerUnused(uploads),
    },
  };
}

/**
 * Why the charge was refused. If several conditions failed, the first check in this function wins: account,
 * key, model, rate, idempotency, tries of the call, budgets of the key, balance, concurrent creations.
 */
export function refusedCharge(order: ChargeOrder, refusals: ReadonlyMap<ChargePart, Refusal>): ChargeOutcome {
  const account = refusals.get('account');
  const key = refusals.get('key');
  const user = refusals.get('user');
  const idempotency = refusals.get('idempotency');
  const accountThen = account?.item && accountFromItem(account.item);
  const keyThen = key?.item && apiKeyFromItem(key.item);
  const cost = costOf(order);
  const count = order.creations.length;
  const { model } = order.creations[0];
  if (account && accountThen?.condition !== 'active') {
    return { kind: 'account_not_active', condition: accountThen?.condition ?? 'gone' };
  }
  if (key && (!keyThen || keyThen.revokedAt !== undefined || isExpired(keyThen, order.nowMillis)))
    return { kind: 'key_revoked' };
  if (keyThen && !allowsModel(keyThen, model)) return { kind: 'model_not_allowed' };
  if (refusals.get('rate')) return { kind: 'rate_used_up' };
  if (idempotency?.item) return { kind: 'idempotency_taken', record: idempotencyFromItem(idempotency.item) };
  if (refusals.get('retryHead') || refusals.get('retryEntry')) return { kind: 'retry_moved' };
  if (keyThen || user) return overBudget(order, keyThen, user);
  if (accountThen && accountThen.availableMicros < cost)
    return { kind: 'over_balance', availableMicros: accountThen.availableMicros };
  if (accountThen) {
    const { maxConcurrent: limit } = accountThen.limits;
    const isChanged = limit !== order.maxConcurrent && accountThen.inFlight + count <= limit;
    if (isChanged) return { kind: 'account_changed', account: accountThen };
    return { kind: 'too_many_open', limit, current: accountThen.inFlight };
  }
  throw new Error('the charge was refused by a condition that no refusal stands for');
}

/** The budget that refused the charge. With other caps than read, the key is looked at again. */
function overBudget(order: ChargeOrder, keyThen: ApiKey | undefined, user: Refusal): ChargeOutcome {
  const { nowMillis, apiKey } = order;
  if (keyThen && capNames.some((name) => keyThen[name] !== apiKey[name]))
    return { kind: 'key_changed', apiKey: keyThen };
  const userSpent = user ? userSpentFromItem(user.item) : asMicros(0);
  const budget = exceededBudget(keyThen ?? withoutOwnCaps(apiKey), costOf(order), nowMillis, userSpent);
  if (budget) return { kind: 'over_budget', budget };
  if (keyThen) return { kind: 'key_changed', apiKey: keyThen };
  throw new Error('the charge was refused by the counter of a user that covers its cost');
}

/** The key's own conditions held, so what was read of its own spend does not matter. */
function withoutOwnCaps(apiKey: ApiKey): ApiKey {
  const { dailyCapMicros: _daily, monthlyCapMicros: _monthly, totalCapMicros: _total, ...rest } = apiKey;
  return rest;
}
