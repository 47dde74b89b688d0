/**
 * The schedule of a copy is in the item of its work (service/creations/copy-items.ts). An attempt is claimed
 * there before it begins. One transaction writes its end into the work and into the creation.
 */
import { tryUpdate } from '../aws/dynamodb/conditional.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { keys, openShard, type Table } from '../aws/dynamodb/table.ts';
import { transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { copyWork, newCopyItem, owedCopy, workToItem } from '../creations/copy-items.ts';
import type { CopyState, CreationRecord } from '../creations/creation.ts';
import { noticeFromItem } from '../notices/notice-store.ts';
import type { NoticeRecord } from '../notices/notice.ts';
import { Overloaded } from '../values/errors.ts';
import { type CreationId, noticeIdOfCopy } from '../values/ids.ts';
import { overdueMillis } from '../webhooks/delivery-store.ts';

export interface CopyClaim {
  readonly work: NoticeRecord;
  readonly attempt: number;
  readonly claimedBy: string;
  /** Unix milliseconds before which no other invocation may make the next attempt. */
  readonly nextAt: number;
  readonly nowMillis: number;
}

/** When the next attempt is due, or how the copy has ended. */
export type CopyNext = { readonly at: number } | { readonly status: 'delivered' | 'failed' };

export type CopyStore = ReturnType<typeof createCopyStore>;

export function createCopyStore(table: Table) {
  return {
    /** Takes an attempt. False when it is not due, another invocation has it, or the table is busy. */
    claim: (claim: CopyClaim): Promise<boolean> => takeAttempt(table, claim),
    /** Ends the newest attempt, or the whole work. Does nothing when that happened meanwhile. */
    settle: (work: NoticeRecord, attempt: number, next: CopyNext, copy: CopyState): Promise<void> =>
      settle(table, { work, attempt, next, copy }),
    /** The work of a creation's copy. Undefined: no copy was ordered, or the work has expired. */
    read: async (id: CreationId): Promise<NoticeRecord | undefined> => {
      const item = await getItem(table, keys.notice(noticeIdOfCopy(id)));
      return item && noticeFromItem(item);
    },
    /**
     * Begins a new round of attempts, and returns the number of its execution. Undefined when the work has
     * changed.
     * @param known the work as it was read
     */
    reopen: (
      creation: CreationRecord,
      known: NoticeRecord | undefined,
      nowMillis: number,
    ): Promise<number | undefined> => reopen(table, creation, known, nowMillis),
  };
}

const isPending = 'webhook.#status = :pending';
const isNext = `${isPending} AND webhook.attempts = :before AND webhook.nextAt <= :now`;
const isThisAttempt = `${isPending} AND webhook.attempts = :attempt`;
const isSameRound = `webhook.#status IN (:delivered, :failed) AND executions = :executions`;
const isThere = 'attribute_exists(pk) AND attribute_not_exists(erasedBy)';
const statusName = { '#status': 'status' };

async function takeAttempt(table: Table, claim: CopyClaim): Promise<boolean> {
  const { work, attempt, claimedBy, nextAt, nowMillis } = claim;
  const outcome = await tryUpdate(table, keys.notice(work.id), {
    UpdateExpression:
      'SET webhook.attempts = :attempt, webhook.nextAt = :next, webhook.claimedBy = :by, openShard = :shard, dueAt = :due',
    ConditionExpression: isNext,
    ExpressionAttributeNames: statusName,
    ExpressionAttributeValues: {
      ':pending': 'pending',
      ':before': attempt - 1,
      ':attempt': attempt,
      ':now': nowMillis,
      ':next': nextAt,
      ':by': claimedBy,
      ':shard': openShard('WEBHOOK', work.id),
      ':due': nextAt + overdueMillis,
    },
  });
  // After a lost answer, the claim that is found is our own.
  const isOurs =
    outcome.kind === 'refused' &&
    outcome.item !== undefined &&
    noticeFromItem(outcome.item).webhook.claimedBy === claimedBy;
  return outcome.kind === 'written' || isOurs;
}

interface Settled {
  readonly work: NoticeRecord;
  readonly attempt: number;
  readonly next: CopyNext;
  readonly copy: CopyState;
}

async function settle(table: Table, settled: Settled): Promise<void> {
  const { work, copy } = settled;
  if (!work.copyOf) throw new Error('the work of a copy names no creation');
  const outcome = await transact(table, [settling(table, settled), noting(table, work.copyOf, copy)]);
  if (outcome.kind === 'overloaded')
    throw new Overloaded('the table stayed busy: the attempt is settled by its next claim');
  // The creation was erased, so only the work ends.
  if (outcome.kind === 'refused' && !outcome.refusals[0])
    await transact(table, [settling(table, { ...settled, next: { status: 'failed' } })]);
}

function settling(table: Table, { work, attempt, next }: Settled): TransactItem {
  const waits = 'at' in next;
  return {
    Update: {
      TableName: table.name,
      Key: keys.notice(work.id),
      UpdateExpression: waits
        ? 'SET webhook.nextAt = :next, openShard = :shard, dueAt = :due'
        : 'SET webhook.#status = :settled REMOVE openShard, dueAt',
      ConditionExpression: isThisAttempt,
      ExpressionAttributeNames: statusName,
      ExpressionAttributeValues: {
        ':pending': 'pending',
        ':attempt': attempt,
        ...(waits
          ? { ':next': next.at, ':shard': openShard('WEBHOOK', work.id), ':due': next.at + overdueMillis }
          : { ':settled': next.status }),
      },
    },
  };
}

function noting(table: Table, id: CreationId, copy: CopyState): TransactItem {
  return {
    Update: {
      TableName: table.name,
      Key: keys.creation(id),
      UpdateExpression: 'SET #copy = :copy',
      ConditionExpression: isThere,
      ExpressionAttributeNames: { '#copy': 'copy' },
      ExpressionAttributeValues: { ':copy': copy },
    },
  };
}

/** The whole item is replaced, so that it lives as long as after a first copy. */
async function reopen(
  table: Table,
  creation: CreationRecord,
  known: NoticeRecord | undefined,
  nowMillis: number,
): Promise<number | undefined> {
  const executions = (known?.executions ?? 0) + 1;
  const put: TransactItem = known
    ? {
        Put: {
          TableName: table.name,
          Item: workToItem(copyWork(creation, nowMillis, executions)),
          ConditionExpression: isSameRound,
          ExpressionAttributeNames: statusName,
          ExpressionAttributeValues: {
            ':delivered': 'delivered',
            ':failed': 'failed',
            ':executions': known.executions,
          },
        },
      }
    : newCopyItem(table, creation, nowMillis);
  const outcome = await transact(table, [put, noting(table, creation.id, owedCopy)]);
  if (outcome.kind === 'overloaded') throw new Overloaded('the table stayed busy');
  return outcome.kind === 'done' ? executions : undefined;
}
