/**
 * Notices. One transaction stores a notice: it marks the passed threshold in the item of the account, the
 * key or the user, under the condition that it is not marked and that the amount is beyond its threshold, and it puts the
 * notice.
 */
import type { ToldWallet } from '../../core/account.ts';
import { failingAttempts, type Crossing, type NoticeRecord } from '../../core/notice.ts';
import { eventIdOfNotice } from '../../core/ids.ts';
import type { NoticeMarks, NoticeStore } from '../../core/ports/notices.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { userHash } from '../../core/user.ts';
import { batchGet } from './batch-get.ts';
import { updateIf } from './conditional.ts';
import { eventItem } from './event-items.ts';
import {
  accountFromItem,
  apiKeyFromItem,
  noticeFromItem,
  noticeToItem,
  userSpentFromItem,
  userToldFromItem,
} from './mapping.ts';
import { capItem } from './notice-caps.ts';
import { getItem } from './send.ts';
import { keys, type Item, type Table } from './table.ts';
import { transact, type Refusal, type TransactItem } from './transaction.ts';

const wantsNotices = 'attribute_exists(noticeUrl)';
const isLow = 'attribute_not_exists(toldLow) AND availableMicros < lowBalanceMicros';
const isEmpty = 'attribute_not_exists(toldEmpty) AND availableMicros < :needed';
const isFailing = 'attribute_not_exists(toldFailing) AND webhookFailures >= :failures';

/** A mark is taken back only by the one who has read it, and only while the amount is on the good side. */
const goodAgain = {
  toldLow: '(attribute_not_exists(lowBalanceMicros) OR availableMicros >= lowBalanceMicros)',
  toldEmpty: 'availableMicros >= toldEmpty.belowMicros',
} as const;

type Looking = ReturnType<NoticeMarks['look']>;

/** Finds and tells crossings. */
export function createNoticeMarks(table: Table): NoticeMarks {
  return {
    look: (accountId, keyId, counter) => look(table, accountId, keyId, counter),
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

async function look(table: Table, ...[accountId, keyId, counter]: Parameters<NoticeMarks['look']>): Looking {
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
  const entry = { id: eventIdOfNotice(notice.id), of: notice.id };
  const event = eventItem(table, notice.accountId, entry);
  const outcome = await transact(table, [markItem(table, crossing, notice), put, event], token);
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
