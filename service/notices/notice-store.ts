/**
 * Notices. One transaction stores a notice and marks its threshold in the item of the account, the key or the
 * user. The transaction requires that the threshold is not marked and is crossed.
 */
import {
  accountFromItem,
  apiKeyFromItem,
  dayAttribute,
  spentAttribute,
  toldAttribute,
  userSpentFromItem,
  userToldFromItem,
} from '../accounts/account-items.ts';
import type { Account, ApiKey, ToldBudget, ToldCap, ToldWallet } from '../accounts/account.ts';
import { counterExpiry } from '../accounts/caps.ts';
import { userHash } from '../accounts/end-user.ts';
import { type UserSpend, expiredMarks, toldCapName, capRules } from '../accounts/cap-kinds.ts';
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { type Item, keys, openShard, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { type Refusal, transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { keptDays } from '../creations/creation-items.ts';
import { eventItem } from '../creations/event-items.ts';
import { Overloaded } from '../values/errors.ts';
import { type AccountId, eventIdOfNotice, type KeyId, type NoticeId } from '../values/ids.ts';
import { type ThresholdAlert, failingAttempts, type NoticeRecord } from './notice.ts';

function noticeToItem(notice: NoticeRecord): Item {
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

/** The item with the mark of a cap: key or user's counter. It must be unmarked and still at the level. */
type CapAlert = Extract<ThresholdAlert, { type: 'key.cap_reached' }>;

const isUntold = '(attribute_not_exists(#told) OR #told.capMicros <> :cap OR #told.#level < :level)';
const isSameCap = '#cap = :cap';

interface AtLeast {
  readonly attribute: string;
  readonly micros: number;
}

function capItem(
  table: Table,
  alert: CapAlert,
  notice: Pick<NoticeRecord, 'id' | 'accountId'>,
): TransactItem {
  return alert.user === undefined
    ? keyMark(table, alert, notice)
    : userMark(table, alert, notice, alert.user);
}

function keyMark(
  table: Table,
  alert: CapAlert,
  { id, accountId }: Pick<NoticeRecord, 'id' | 'accountId'>,
): TransactItem {
  const { apiKey, cap, period, level, capMicros } = alert;
  // A key whose daily cap refuses every request is never charged, so its old marks are removed here, too.
  const over = cap === 'daily' ? expiredMarks(apiKey, period).map(toldAttribute) : [];
  const removal = over.length === 0 ? '' : ` REMOVE ${over.map((_, index) => `#over${index}`).join(', ')}`;
  const reached = reachedConditions(spendOf(alert));
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
        '#cap': capRules[cap].capName,
        ...Object.fromEntries(over.map((name, index) => [`#over${index}`, name])),
        ...reached.names,
      },
      ExpressionAttributeValues: { ':mark': mark, ':cap': capMicros, ':level': level, ...reached.values },
    },
  };
}

/** The mark in the counter of a user. The cap is in another item, so the notice has the cap as read. */
function userMark(
  table: Table,
  { apiKey, period, level, capMicros, leastMicros }: CapAlert,
  { id, accountId }: Pick<NoticeRecord, 'id' | 'accountId'>,
  user: string,
): TransactItem {
  const reached = reachedConditions(atLeast('spentMicros', leastMicros));
  const mark: ToldCap = { id, level, capMicros };
  return {
    Update: {
      TableName: table.name,
      Key: keys.userSpend(accountId, apiKey.id, period, userHash(user)),
      // A request above the whole cap may be refused before anything is counted. Then this update makes the
      // counter.
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

function spendOf({ apiKey, cap, period, leastMicros }: CapAlert): AtLeast[] {
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

/** A spend of 0 has no attribute to compare. Then a request above the whole cap may have been refused. */
function atLeast(attribute: string, micros: number): AtLeast[] {
  return micros > 0 ? [{ attribute, micros }] : [];
}

/**
 * The total is the sum of the months. The newest month is compared with the level minus the other months, as
 * they were read. A refund may still reduce the month before the newest, so the condition also requires that
 * this month has not become less. A refund of an older month is not noticed.
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

const wantsNotices =
  '(attribute_exists(noticeUrl) OR attribute_exists(noticeEndpoints) OR attribute_exists(mailChoices))';
const isLow = 'attribute_not_exists(toldLow) AND availableMicros < lowBalanceMicros';
const isEmpty = 'attribute_not_exists(toldEmpty) AND availableMicros < :needed';
/** What the keys spent is in other items, so the notice has the spend as read. */
const isBudgetUntold =
  'monthlyBudgetMicros = :budget AND (attribute_not_exists(toldBudget) OR toldBudget.#month < :month OR (toldBudget.#month = :month AND (toldBudget.budgetMicros <> :budget OR toldBudget.#level < :level)))';
const isFailing = 'attribute_not_exists(toldFailing) AND webhookFailures >= :failures';

/**
 * A mark is removed only if it is still the mark that was read, and only while the amount is on the good
 * side.
 */
const goodAgain = {
  toldLow: '(attribute_not_exists(lowBalanceMicros) OR availableMicros >= lowBalanceMicros)',
  toldEmpty: 'availableMicros >= toldEmpty.belowMicros',
} as const;

type FoundSpender = ReturnType<NoticeMarks['readSpender']>;

export function createNoticeMarks(table: Table) {
  return {
    /** Account, key and what the key spent for a user in a month, by one consistent read. */
    readSpender: (
      accountId: AccountId,
      keyId?: KeyId,
      counter?: { readonly user: string; readonly month: string },
    ): Promise<
      { readonly account: Account; readonly apiKey?: ApiKey; readonly user?: UserSpend } | undefined
    > => readSpender(table, accountId, keyId, counter),
    /** Stores the notice and its mark in one transaction. False when it was sent, or no longer applies. */
    store: (alert: ThresholdAlert, notice: NoticeRecord): Promise<boolean> =>
      storeAlert(table, alert, notice),
    clear: async (account: Account, mark: 'toldLow' | 'toldEmpty') => {
      const read = account[mark]?.id;
      if (read === undefined) return;
      await updateIf(table, keys.account(account.id), {
        UpdateExpression: `REMOVE ${mark}`,
        ConditionExpression: `${mark}.id = :read AND ${goodAgain[mark]}`,
        ExpressionAttributeValues: { ':read': read },
      });
    },
  };
}

/** A function of its own, because the function of POST /images/generate needs only the marks. */
export function createNoticeStore(table: Table) {
  return {
    ...createNoticeMarks(table),
    read: async (id: NoticeId): Promise<NoticeRecord | undefined> => {
      const item = await getItem(table, keys.notice(id));
      return item && noticeFromItem(item);
    },
    readAll: async (ids: readonly NoticeId[]): Promise<readonly NoticeRecord[]> => {
      const items = await batchGet(
        table,
        ids.map((id) => keys.notice(id)),
      );
      return items.map(noticeFromItem);
    },
  };
}

async function readSpender(
  table: Table,
  ...[accountId, keyId, counter]: Parameters<NoticeMarks['readSpender']>
): FoundSpender {
  const wanted = [
    keys.account(accountId),
    ...(keyId ? [keys.apiKey(accountId, keyId)] : []),
    ...(keyId && counter ? [keys.userSpend(accountId, keyId, counter.month, userHash(counter.user))] : []),
  ];
  const items = await batchGet(table, wanted);
  const found = (kind: string): Item | undefined => items.find(({ sk }) => String(sk).startsWith(kind));
  const [account, apiKey, spend] = [found('ACCOUNT'), found('KEY#'), found('USER#')];
  if (!account) return undefined;
  const told = userToldFromItem(spend);
  return {
    account: accountFromItem(account),
    ...(apiKey && { apiKey: apiKeyFromItem(apiKey) }),
    ...(counter && {
      user: { user: counter.user, spentMicros: userSpentFromItem(spend), ...(told && { told }) },
    }),
  };
}

async function storeAlert(table: Table, alert: ThresholdAlert, notice: NoticeRecord): Promise<boolean> {
  const mark = markItem(table, alert, notice);
  // The id of the notice is also the token of the transaction, without its prefix: a token has 36 characters.
  const token = notice.id.slice('ntc_'.length);
  const outcome = await transact(table, [mark, ...noticeItems(table, notice)], token);
  switch (outcome.kind) {
    case 'done':
      return true;
    case 'refused':
      return isOurs(outcome.refusals);
    case 'overloaded':
      throw new Overloaded('the table stayed busy: the next check sends the notice');
  }
}

/** The notice and its event. Its mark is in the same transaction. */
export function noticeItems(table: Table, notice: NoticeRecord): readonly [TransactItem, TransactItem] {
  const put = {
    Put: {
      TableName: table.name,
      Item: noticeToItem(notice),
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  };
  const entry = { id: eventIdOfNotice(notice.id), of: notice.id };
  return [put, eventItem(table, notice.accountId, entry)];
}

/** The notice exists already: our earlier try wrote everything, and its answer was lost. */
function isOurs([, put]: readonly Refusal[]): boolean {
  return put !== undefined;
}

function markItem(table: Table, alert: ThresholdAlert, { id, accountId }: NoticeRecord): TransactItem {
  if (alert.type === 'key.cap_reached') return capItem(table, alert, { id, accountId });
  const { name, mark, condition, values, names } = walletMark(alert, id);
  return {
    Update: {
      TableName: table.name,
      Key: keys.account(accountId),
      UpdateExpression: `SET ${name} = :mark`,
      ConditionExpression: `${wantsNotices} AND ${condition}`,
      ...(names && { ExpressionAttributeNames: names }),
      ExpressionAttributeValues: { ':mark': mark, ...values },
    },
  };
}

interface WalletMark {
  readonly name: 'toldLow' | 'toldEmpty' | 'toldFailing' | 'toldBudget';
  readonly mark: ToldWallet | ToldBudget;
  readonly condition: string;
  readonly values: Item;
  readonly names?: Readonly<Record<string, string>>;
}

function walletMark(
  alert: Exclude<ThresholdAlert, { type: 'key.cap_reached' }>,
  id: NoticeRecord['id'],
): WalletMark {
  switch (alert.type) {
    case 'wallet.low':
      return { name: 'toldLow', mark: { id }, condition: isLow, values: {} };
    case 'wallet.empty':
      return {
        name: 'toldEmpty',
        mark: { id, belowMicros: alert.neededMicros },
        condition: isEmpty,
        values: { ':needed': alert.neededMicros },
      };
    case 'webhook.failing':
      return {
        name: 'toldFailing',
        mark: { id },
        condition: isFailing,
        values: { ':failures': failingAttempts },
      };
    case 'budget.reached': {
      const { month, level, budgetMicros } = alert;
      return {
        name: 'toldBudget',
        mark: { id, month, level, budgetMicros },
        condition: isBudgetUntold,
        values: { ':month': month, ':level': level, ':budget': budgetMicros },
        names: { '#month': 'month', '#level': 'level' },
      };
    }
  }
}

// Notices: the checks of an account, the transaction that stores a notice, and the unsent notices.

/** Every function throws Overloaded when the table stayed busy. */
export type NoticeMarks = ReturnType<typeof createNoticeMarks>;

/** Every function throws Overloaded when the table stayed busy. */
export type NoticeStore = ReturnType<typeof createNoticeStore>;
