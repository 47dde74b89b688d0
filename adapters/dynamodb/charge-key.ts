/**
 * The items of the charge that count the spend of a key: the key itself, and the counter of a user. A
 * condition of DynamoDB cannot add or subtract. So each cap is compared by its room, which is computed from
 * what was read, and the conditions say that this still holds.
 */
import { hourOf, type ApiKey } from '../../core/account.ts';
import {
  budgetsOf,
  capNames,
  counterExpiry,
  oldestDayKept,
  spentIn,
  spentInAll,
  type Budget,
} from '../../core/caps.ts';
import { monthOf, nextMonth } from '../../core/creation.ts';
import { asMicros, type Micros } from '../../core/money.ts';
import type { ChargeOrder } from '../../core/ports/charges.ts';
import { userHash } from '../../core/user.ts';
import { overMarks } from '../../core/watched-caps.ts';
import { dayAttribute, spentAttribute, toldAttribute } from './mapping.ts';
import { keys, ttlAttribute, type Item, type Table } from './table.ts';
import type { TransactItem } from './transaction.ts';

const isNotRevoked = 'attribute_exists(pk) AND attribute_not_exists(revokedAt)';
const isNotExpired = '(attribute_not_exists(expiresAt) OR expiresAt > :at)';
const modelIsAllowed = '(attribute_not_exists(models) OR contains(models, :model))';
const dayCoversTheCost = '(attribute_not_exists(#day) OR #day <= :dayRoom)';
const monthCoversTheCost = '(attribute_not_exists(#spent) OR #spent <= :monthRoom)';
const totalCoversTheCost = '(attribute_not_exists(#spent) OR #spent <= :totalRoom)';
const userCoversTheCost = 'attribute_not_exists(spentMicros) OR spentMicros <= :room';

const returnOld = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

/** The cost of all creations of the order together. */
export function costOf({ creations }: ChargeOrder): Micros {
  return asMicros(creations.reduce((sum, { costMicros }) => sum + costMicros, 0));
}

/** The key: good, with the caps that were read, and with room below each of them. */
export function keyItem(table: Table, order: ChargeOrder): TransactItem {
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
export function userItem(table: Table, order: ChargeOrder): TransactItem[] {
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
