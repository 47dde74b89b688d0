/**
 * The charge is the only transaction that takes money. A pure function builds its items from the order, and
 * another one reads why it was refused. transaction.ts sends it.
 *
 *   account      active, covers the cost, has room    available - cost, in flight + 1
 *   key          not revoked, same cap, month covers  month's spend + cost
 *   rate window  below the limit                      count + 1
 *   creation     new                                  queued
 *   ledger row   new                                  -cost
 *   idempotency  absent, expired, or failed one       names the creation
 *   uploads      none: read before, by their account  are not unused any more
 */
import { hourOf } from '../../core/account.ts';
import { idempotencySeconds, rateWindowSeconds } from '../../core/limits.ts';
import { asMicros } from '../../core/money.ts';
import type { ChargeOrder, ChargeOutcome } from '../../core/ports/charges.ts';
import {
  accountFromItem,
  apiKeyFromItem,
  creationToItem,
  idempotencyFromItem,
  spentAttribute,
} from './mapping.ts';
import type { UploadId } from '../../core/ids.ts';
import { noLongerUnused } from './upload-store.ts';
import { keys, minuteOf, ttlAttribute, type Table } from './table.ts';
import type { Refusal, TransactItem } from './transaction.ts';

const isActive = '#condition = :active';
const coversTheCost = 'availableMicros >= :cost';
const hasRoom = 'inFlight < maxConcurrent';
const isNotRevoked = 'attribute_exists(pk) AND attribute_not_exists(revokedAt)';
const capIsAsRead = 'monthlyCapMicros = :cap';
const hasNoCap = 'attribute_not_exists(monthlyCapMicros)';
const monthCoversTheCost = '(attribute_not_exists(#spent) OR #spent <= :room)';
const windowHasRoom = 'attribute_not_exists(#count) OR #count < :limit';
const isNew = 'attribute_not_exists(pk)';
const isFree = 'attribute_not_exists(pk) OR expiresAt <= :now';
const namesTheFailedOne = 'creationId = :failed';

const returnOld = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

export type ChargePart = 'account' | 'key' | 'rate' | 'creation' | 'ledgerRow' | 'idempotency' | 'uploads';

/** The items of the transaction by name. DynamoDB gives its cancellation reasons in the same order. */
export function chargeItems(table: Table, order: ChargeOrder): ReadonlyMap<ChargePart, TransactItem> {
  return new Map<ChargePart, TransactItem>([
    ['account', accountItem(table, order)],
    ['key', keyItem(table, order)],
    ...(order.postRate === undefined ? [] : [['rate', rateItem(table, order, order.postRate)] as const]),
    ['creation', creationItem(table, order)],
    ['ledgerRow', ledgerItem(table, order)],
    ...(order.idempotency
      ? [['idempotency', idempotencyItem(table, order, order.idempotency)] as const]
      : []),
    ...(order.uploads?.length ? [['uploads', uploadsItem(table, order, order.uploads)] as const] : []),
  ]);
}

function accountItem(table: Table, { creation }: ChargeOrder): TransactItem {
  return {
    Update: {
      TableName: table.name,
      Key: keys.account(creation.accountId),
      UpdateExpression: 'SET availableMicros = availableMicros - :cost, inFlight = inFlight + :one',
      ConditionExpression: `${isActive} AND ${coversTheCost} AND ${hasRoom}`,
      ExpressionAttributeNames: { '#condition': 'condition' },
      ExpressionAttributeValues: { ':active': 'active', ':cost': creation.costMicros, ':one': 1 },
      ...returnOld,
    },
  };
}

function keyItem(table: Table, { creation, nowMillis, monthlyCapMicros: cap }: ChargeOrder): TransactItem {
  return {
    Update: {
      TableName: table.name,
      Key: keys.apiKey(creation.accountId, creation.keyId),
      UpdateExpression: 'ADD #spent :cost SET lastUsedAt = :hour',
      ConditionExpression:
        cap === undefined
          ? `${isNotRevoked} AND ${hasNoCap}`
          : `${isNotRevoked} AND ${capIsAsRead} AND ${monthCoversTheCost}`,
      ExpressionAttributeNames: { '#spent': spentAttribute(creation.chargedMonth) },
      ExpressionAttributeValues: {
        ':cost': creation.costMicros,
        ':hour': hourOf(nowMillis),
        ...(cap !== undefined && { ':cap': cap, ':room': cap - creation.costMicros }),
      },
      ...returnOld,
    },
  };
}

function rateItem(table: Table, { creation, nowMillis }: ChargeOrder, postRate: number): TransactItem {
  return {
    Update: {
      TableName: table.name,
      Key: keys.rate(creation.accountId, 'post', minuteOf(nowMillis)),
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

function creationItem(table: Table, { creation }: ChargeOrder): TransactItem {
  return { Put: { TableName: table.name, Item: creationToItem(creation), ConditionExpression: isNew } };
}

function ledgerItem(table: Table, { creation }: ChargeOrder): TransactItem {
  const ledgerRow = {
    ...keys.ledger(creation.accountId, creation.createdAt, 'charge', creation.id),
    kind: 'charge',
    amountMicros: 0 - creation.costMicros,
    creationId: creation.id,
    keyId: creation.keyId,
    month: creation.chargedMonth,
    ...(creation.requestId !== undefined && { requestId: creation.requestId }),
    at: creation.createdAt,
  };
  return { Put: { TableName: table.name, Item: ledgerRow, ConditionExpression: isNew } };
}

function idempotencyItem(
  table: Table,
  order: ChargeOrder,
  own: NonNullable<ChargeOrder['idempotency']>,
): TransactItem {
  const { creation, nowMillis } = order;
  const expiresAt = nowMillis + idempotencySeconds * 1000;
  return {
    Put: {
      TableName: table.name,
      Item: {
        ...keys.idempotency(creation.accountId, own.hash),
        creationId: creation.id,
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

function uploadsItem(table: Table, { creation }: ChargeOrder, uploads: readonly UploadId[]): TransactItem {
  return {
    Update: {
      TableName: table.name,
      Key: keys.unusedUploads(creation.accountId),
      ...noLongerUnused(uploads),
    },
  };
}

/**
 * Why the charge was refused. If several conditions failed, the first check in this function wins: account,
 * key, rate, idempotency, budget of the key, balance, concurrent creations.
 */
export function refusedCharge(order: ChargeOrder, refusals: ReadonlyMap<ChargePart, Refusal>): ChargeOutcome {
  const account = refusals.get('account');
  const key = refusals.get('key');
  const idempotency = refusals.get('idempotency');
  const accountThen = account?.item && accountFromItem(account.item);
  const keyThen = key?.item && apiKeyFromItem(key.item);
  const cost = order.creation.costMicros;
  if (account && accountThen?.condition !== 'active') {
    return { kind: 'account_not_active', condition: accountThen?.condition ?? 'gone' };
  }
  if (key && (!keyThen || keyThen.revokedAt !== undefined)) return { kind: 'key_revoked' };
  if (refusals.get('rate')) return { kind: 'rate_used_up' };
  if (idempotency?.item) return { kind: 'idempotency_taken', record: idempotencyFromItem(idempotency.item) };
  if (keyThen && keyThen.monthlyCapMicros !== order.monthlyCapMicros)
    return { kind: 'key_changed', apiKey: keyThen };
  if (keyThen)
    return { kind: 'over_budget', spentMicros: keyThen.spent[order.creation.chargedMonth] ?? asMicros(0) };
  if (accountThen && accountThen.availableMicros < cost)
    return { kind: 'over_balance', availableMicros: accountThen.availableMicros };
  if (accountThen)
    return { kind: 'too_many_open', limit: accountThen.limits.maxConcurrent, current: accountThen.inFlight };
  throw new Error('the charge was refused by a condition that no refusal stands for');
}
