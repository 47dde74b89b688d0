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
import type { ApiKey } from '../../core/account.ts';
import { allowsModel, capNames, exceededBudget, isExpired } from '../../core/caps.ts';
import { idempotencySeconds, rateWindowSeconds } from '../../core/limits.ts';
import { asMicros } from '../../core/money.ts';
import type { ChargeOrder, ChargeOutcome, NewCreation } from '../../core/ports/charges.ts';
import { costOf, keyItem, userItem } from './charge-key.ts';
import {
  accountFromItem,
  apiKeyFromItem,
  creationToItem,
  idempotencyFromItem,
  userSpentFromItem,
} from './mapping.ts';
import type { CreationId, UploadId } from '../../core/ids.ts';
import { retryItems } from './retry-items.ts';
import { noLongerUnused } from './upload-store.ts';
import { keys, minuteOf, ttlAttribute, type Table } from './table.ts';
import type { Refusal, TransactItem } from './transaction.ts';

const isActive = '#condition = :active';
const coversTheCost = 'availableMicros >= :cost';
const hasRoom = 'inFlight < maxConcurrent';
/** A condition cannot add, so room for several is computed from the limit that was read. */
const hasRoomForAll = 'inFlight <= :room AND maxConcurrent >= :limit';
const windowHasRoom = 'attribute_not_exists(#count) OR #count < :limit';
const isNew = 'attribute_not_exists(pk)';
const isFree = 'attribute_not_exists(pk) OR expiresAt <= :now';
const namesTheFailedOne = 'creationId = :failed';

const returnOld = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

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

/**
 * The budget that refused the charge. A key whose caps are no longer those that were read, or whose budgets
 * do cover the cost as they are now, has to be looked at again.
 */
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
