/** The work of a copy of a completed picture into the bucket of its client (service/copies). */
import { type Item, keys, openShard, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import type { TransactItem } from '../aws/dynamodb/transaction.ts';
import { webhookGraceMillis } from '../contract/limits.ts';
import { type CreationId, type NoticeId, noticeIdOfCopy } from '../values/ids.ts';
import { keptDays } from './creation-items.ts';
import type { CopyState, CreationRecord, StoredImage, WebhookState } from './creation.ts';

/** What a creation shows before the first attempt of a round. */
export const owedCopy: CopyState = { status: 'pending', attempts: 0, url: null, error: null };

/** An item of the form of a notice, so that the machine of notices and the reconciler see to it. */
export interface CopyWork {
  readonly id: NoticeId;
  readonly accountId: CreationRecord['accountId'];
  readonly copyOf: CreationId;
  readonly type: 'picture.copy';
  readonly createdAt: string;
  /** Only its schedule. */
  readonly webhook: WebhookState;
  readonly executions: number;
  readonly recoveries: number;
  readonly dueAt: number;
}

type Copied = Pick<CreationRecord, 'id' | 'accountId'>;

/**
 * The work of a copy. Its id follows from that of its creation, so that it is owed once.
 * @param executions the number of the execution that is about to start
 */
export function copyWork({ id, accountId }: Copied, nowMillis: number, executions = 1): CopyWork {
  return {
    id: noticeIdOfCopy(id),
    accountId,
    copyOf: id,
    type: 'picture.copy',
    createdAt: new Date(nowMillis).toISOString(),
    webhook: { url: '', status: 'pending', attempts: 0, nextAt: nowMillis },
    executions,
    recoveries: 0,
    dueAt: nowMillis + webhookGraceMillis,
  };
}

/** The reconciler finds the work in the index of open work until it is settled. */
export function workToItem(work: CopyWork): Item {
  return {
    ...keys.notice(work.id),
    ...work,
    openShard: openShard('WEBHOOK', work.id),
    [ttlAttribute]: Math.floor(Date.parse(work.createdAt) / 1000) + keptDays * 86_400,
  };
}

/** The work of a copy, for the transaction that completes the creation. */
export function newCopyItem(table: Table, creation: Copied, nowMillis: number): TransactItem {
  return {
    Put: {
      TableName: table.name,
      Item: workToItem(copyWork(creation, nowMillis)),
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  };
}

const endings: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
};

/** The name of the object: the same at each attempt, so that a repeated one replaces equal bytes. */
export function objectKey(
  prefix: string,
  id: CreationId,
  { contentType }: Pick<StoredImage, 'contentType'>,
): string {
  return `${prefix}${id}.${endings[contentType] ?? 'bin'}`;
}
