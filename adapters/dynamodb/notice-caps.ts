/**
 * The item that marks a notice about a cap: the key, or the counter of a user. The conditions say that no
 * notice was sent yet and that the spend still reaches the level.
 */
import type { ToldCap } from '../../core/account.ts';
import { counterExpiry } from '../../core/caps.ts';
import type { Crossing, NoticeRecord } from '../../core/notice.ts';
import { userHash } from '../../core/user.ts';
import { overMarks, toldCapName, watchedCaps } from '../../core/watched-caps.ts';
import { dayAttribute, spentAttribute, toldAttribute } from './mapping.ts';
import { keys, ttlAttribute, type Item, type Table } from './table.ts';
import type { TransactItem } from './transaction.ts';

type CapCrossing = Extract<Crossing, { type: 'key.cap_reached' }>;

const isUntold = '(attribute_not_exists(#told) OR #told.capMicros <> :cap OR #told.#level < :level)';
const isSameCap = '#cap = :cap';

/** A condition: an attribute holds at least this. */
interface AtLeast {
  readonly attribute: string;
  readonly micros: number;
}

/** The update that marks the crossing of a cap. */
export function capItem(
  table: Table,
  crossing: CapCrossing,
  notice: Pick<NoticeRecord, 'id' | 'accountId'>,
): TransactItem {
  return crossing.user === undefined
    ? keyMark(table, crossing, notice)
    : userMark(table, crossing, notice, crossing.user);
}

function keyMark(
  table: Table,
  crossing: CapCrossing,
  { id, accountId }: Pick<NoticeRecord, 'id' | 'accountId'>,
): TransactItem {
  const { apiKey, cap, period, level, capMicros } = crossing;
  // A key whose daily cap refuses every request is never charged, so its old marks are removed here, too.
  const over = cap === 'daily' ? overMarks(apiKey, period).map(toldAttribute) : [];
  const removal = over.length === 0 ? '' : ` REMOVE ${over.map((_, index) => `#over${index}`).join(', ')}`;
  const reached = reachedConditions(spendOf(crossing));
  const mark: ToldCap = { id, level, capMicros };
  return {
    Update: {
      TableName: table.name,
      Key: keys.apiKey(accountId, apiKey.id),
      UpdateExpression: `SET #told = :mark${removal}`,
      ConditionExpression: [isUntold, isSameCap, ...reached.conditions].join(' AND '),
      ExpressionAttributeNames: {
        '#told': toldAttribute(toldCapName(cap, period)),
        '#level': 'level',
        '#cap': watchedCaps[cap].capName,
        ...Object.fromEntries(over.map((name, index) => [`#over${index}`, name])),
        ...reached.names,
      },
      ExpressionAttributeValues: { ':mark': mark, ':cap': capMicros, ':level': level, ...reached.values },
    },
  };
}

/**
 * The mark in the counter of a user. The cap is in another item, so the cap of the notice is the cap that the
 * look has read.
 */
function userMark(
  table: Table,
  { apiKey, period, level, capMicros, leastMicros }: CapCrossing,
  { id, accountId }: Pick<NoticeRecord, 'id' | 'accountId'>,
  user: string,
): TransactItem {
  const reached = reachedConditions(atLeast('spentMicros', leastMicros));
  const mark: ToldCap = { id, level, capMicros };
  return {
    Update: {
      TableName: table.name,
      Key: keys.userSpend(accountId, apiKey.id, period, userHash(user)),
      // A request above the whole cap may be refused before anything is counted. Then this makes the counter.
      UpdateExpression: 'SET #told = :mark, #ttl = :ttl',
      ConditionExpression: [isUntold, ...reached.conditions].join(' AND '),
      ExpressionAttributeNames: {
        '#told': 'told',
        '#level': 'level',
        '#ttl': ttlAttribute,
        ...reached.names,
      },
      ExpressionAttributeValues: {
        ':mark': mark,
        ':cap': capMicros,
        ':level': level,
        ':ttl': Math.ceil(counterExpiry(period) / 1000),
        ...reached.values,
      },
    },
  };
}

/** The attributes of the key that show that the level is reached. */
function spendOf({ apiKey, cap, period, leastMicros }: CapCrossing): AtLeast[] {
  switch (cap) {
    case 'daily':
      return atLeast(dayAttribute(period), leastMicros);
    case 'monthly':
      return atLeast(spentAttribute(period), leastMicros);
    case 'total':
      return totalAtLeast(apiKey.spent, leastMicros);
    case 'user':
      throw new Error('the spend of a user is not in the item of the key');
  }
}

/** A spend of nothing has no attribute to compare. A request above the whole cap may be refused then. */
function atLeast(attribute: string, micros: number): AtLeast[] {
  return micros > 0 ? [{ attribute, micros }] : [];
}

/**
 * The total is the sum of the months. The newest month is compared with the level without the other months,
 * as they were read. A refund may still take from the month before the newest, so that month must not have
 * become less. A refund of an older month is not seen.
 */
function totalAtLeast(spent: Readonly<Record<string, number>>, leastMicros: number): AtLeast[] {
  if (leastMicros <= 0) return [];
  const [newest, before, ...older] = Object.entries(spent).sort(([a], [b]) => (a < b ? 1 : -1));
  if (!newest) throw new Error('a total that nothing was charged to reaches no level');
  const others = [...(before ? [before] : []), ...older].reduce((sum, [, micros]) => sum + micros, 0);
  return [
    { attribute: spentAttribute(newest[0]), micros: leastMicros - others },
    ...(before ? [{ attribute: spentAttribute(before[0]), micros: before[1] }] : []),
  ];
}

interface Conditions {
  readonly conditions: readonly string[];
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
}

function reachedConditions(all: readonly AtLeast[]): Conditions {
  return {
    conditions: all.map((_, index) => `#spent${index} >= :least${index}`),
    names: Object.fromEntries(all.map(({ attribute }, index) => [`#spent${index}`, attribute])),
    values: Object.fromEntries(all.map(({ micros }, index) => [`:least${index}`, micros])),
  };
}
