/**
 * Notices. Each crossing is told by one transaction: it marks the crossing in the item of the account or the
 * key, under the condition that it is not marked and that the amount is beyond its threshold, and it puts the
 * notice.
 */
import type { ToldCap, ToldWallet } from '../../core/account.ts';
import { failingAttempts, toldCapName, type Crossing, type NoticeRecord } from '../../core/notice.ts';
import type { NoticeMarks, NoticeStore } from '../../core/ports/notices.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { watchedCaps } from '../../core/watched-caps.ts';
import { batchGet } from './batch-get.ts';
import { updateIf } from './conditional.ts';
import { accountFromItem, apiKeyFromItem, noticeFromItem, noticeToItem, toldAttribute } from './mapping.ts';
import { getItem } from './send.ts';
import { keys, type Item, type Table } from './table.ts';
import { transact, type Refusal, type TransactItem } from './transaction.ts';

const wantsNotices = 'attribute_exists(noticeUrl)';
const isLow = 'attribute_not_exists(toldLow) AND availableMicros < lowBalanceMicros';
const isEmpty = 'attribute_not_exists(toldEmpty) AND availableMicros < :needed';
const isFailing = 'attribute_not_exists(toldFailing) AND webhookFailures >= :failures';
const capIsUntold =
  '(attribute_not_exists(#told) OR #told.capMicros <> :cap OR #told.#level < :level) AND #cap = :cap';
const capIsReached = '#spent >= :least';

/** A mark is taken back only by the one who has read it, and only while the amount is on the good side. */
const goodAgain = {
  toldLow: '(attribute_not_exists(lowBalanceMicros) OR availableMicros >= lowBalanceMicros)',
  toldEmpty: 'availableMicros >= toldEmpty.belowMicros',
} as const;

/** Finds and tells crossings. */
export function createNoticeMarks(table: Table): NoticeMarks {
  return {
    look: async (accountId, keyId) => {
      const wanted = [keys.account(accountId), ...(keyId ? [keys.apiKey(accountId, keyId)] : [])];
      const items = await batchGet(table, wanted);
      const account = items.find(({ sk }) => sk === 'ACCOUNT');
      const apiKey = items.find(({ sk }) => sk !== 'ACCOUNT');
      if (!account) return undefined;
      return { account: accountFromItem(account), ...(apiKey && { apiKey: apiKeyFromItem(apiKey) }) };
    },
    tell: (crossing, notice) => tell(table, crossing, notice),
    takeBack: async (account, mark) => {
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
export function createNoticeStore(table: Table): NoticeStore {
  return {
    ...createNoticeMarks(table),
    read: async (id) => {
      const item = await getItem(table, keys.notice(id));
      return item && noticeFromItem(item);
    },
    readAll: async (ids) => {
      const items = await batchGet(
        table,
        ids.map((id) => keys.notice(id)),
      );
      return items.map(noticeFromItem);
    },
  };
}

async function tell(table: Table, crossing: Crossing, notice: NoticeRecord): Promise<boolean> {
  const put: TransactItem = {
    Put: {
      TableName: table.name,
      Item: noticeToItem(notice),
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  };
  // The id of the notice is also the token of the transaction, without its prefix: a token has 36 characters.
  const token = notice.id.slice('ntc_'.length);
  const outcome = await transact(table, [markItem(table, crossing, notice), put], token);
  switch (outcome.kind) {
    case 'done':
      return true;
    case 'refused':
      return isOurs(outcome.refusals);
    case 'overloaded':
      throw new Overloaded('the table stayed busy: the next look tells the crossing');
  }
}

/** The notice exists already: an earlier try of ours wrote everything, and its answer was lost. */
function isOurs([, put]: readonly Refusal[]): boolean {
  return put !== undefined;
}

function markItem(table: Table, crossing: Crossing, { id, accountId }: NoticeRecord): TransactItem {
  if (crossing.type === 'key.cap_reached') return capItem(table, crossing, { id, accountId });
  const { name, mark, condition, values } = walletMark(crossing, id);
  return {
    Update: {
      TableName: table.name,
      Key: keys.account(accountId),
      UpdateExpression: `SET ${name} = :mark`,
      ConditionExpression: `${wantsNotices} AND ${condition}`,
      ExpressionAttributeValues: { ':mark': mark, ...values },
    },
  };
}

interface WalletMark {
  readonly name: 'toldLow' | 'toldEmpty' | 'toldFailing';
  readonly mark: ToldWallet;
  readonly condition: string;
  readonly values: Item;
}

function walletMark(
  crossing: Exclude<Crossing, { type: 'key.cap_reached' }>,
  id: NoticeRecord['id'],
): WalletMark {
  switch (crossing.type) {
    case 'wallet.low':
      return { name: 'toldLow', mark: { id }, condition: isLow, values: {} };
    case 'wallet.empty':
      return {
        name: 'toldEmpty',
        mark: { id, belowMicros: crossing.neededMicros },
        condition: isEmpty,
        values: { ':needed': crossing.neededMicros },
      };
    case 'webhook.failing':
      return {
        name: 'toldFailing',
        mark: { id },
        condition: isFailing,
        values: { ':failures': failingAttempts },
      };
  }
}

function capItem(
  table: Table,
  { key, cap, period, level, capMicros, leastMicros }: Extract<Crossing, { type: 'key.cap_reached' }>,
  { id, accountId }: Pick<NoticeRecord, 'id' | 'accountId'>,
): TransactItem {
  const { capAttribute, spentAttribute } = watchedCaps[cap];
  // A key that has spent nothing has no attribute to compare. A request above its whole cap may be refused.
  const isSpendCompared = leastMicros > 0;
  const mark: ToldCap = { id, level, capMicros };
  return {
    Update: {
      TableName: table.name,
      Key: keys.apiKey(accountId, key.id),
      UpdateExpression: 'SET #told = :mark',
      ConditionExpression: isSpendCompared ? `${capIsUntold} AND ${capIsReached}` : capIsUntold,
      ExpressionAttributeNames: {
        '#told': toldAttribute(toldCapName(cap, period)),
        '#level': 'level',
        '#cap': capAttribute,
        ...(isSpendCompared && { '#spent': spentAttribute(period) }),
      },
      ExpressionAttributeValues: {
        ':mark': mark,
        ':cap': capMicros,
        ':level': level,
        ...(isSpendCompared && { ':least': leastMicros }),
      },
    },
  };
}
