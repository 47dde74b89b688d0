import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { isTerminal, type CreationRecord } from '../../core/creation.ts';
import type { CreationId } from '../../core/ids.ts';
import type { Completion, CreationStore, LeaseOutcome } from '../../core/ports/creations.ts';
import { batchGet } from './batch-get.ts';
import { updateIf } from './conditional.ts';
import { pageOfCreations } from './creation-page.ts';
import { creationFromItem } from './mapping.ts';
import { getItem, updateItem, type UpdateParts } from './send.ts';
import { keys, type Table } from './table.ts';
import { settleTerminal } from './terminal.ts';
import { transact } from './transaction.ts';

const isOpen = '#status IN (:queued, :processing)';
const isFreeToTake = '(attribute_not_exists(lease) OR lease.#until <= :now OR lease.holder = :holder)';
const isHeld = 'lease.holder = :holder';

/** Reads creations, and writes the steps of their rendering. */
export function createCreationStore(table: Table): CreationStore {
  return {
    read: (id) => readCreation(table, id),
    readAll: (ids) => readCreations(table, ids),
    list: async (accountId, limit, before) => {
      const page = await pageOfCreations(table, accountId, {
        limit,
        ...(before !== undefined && { before }),
      });
      return page.creations;
    },
    page: (accountId, query) => pageOfCreations(table, accountId, query),
    lease: (id, holder, untilMillis, nowMillis, taskToken) =>
      lease(table, id, holder, untilMillis, nowMillis, taskToken),
    taskToken: async (id) => {
      const item = await getItem(table, keys.creation(id), 'taskToken');
      return item?.['taskToken'] as string | undefined;
    },
    renewLease: async (id, holder, untilMillis) =>
      updateHeld(table, id, {
        UpdateExpression: 'SET lease.#until = :until',
        ExpressionAttributeNames: { '#until': 'until' },
        ExpressionAttributeValues: { ':until': untilMillis, ':holder': holder },
      }),
    saveAttempts: async (id, holder, attempts) =>
      updateHeld(table, id, {
        UpdateExpression: 'SET attempts = :attempts',
        ExpressionAttributeValues: { ':attempts': attempts, ':holder': holder },
      }),
    complete: (creation, done) => complete(table, creation, done),
  };
}

/** One consistent read. */
async function readCreation(table: Table, id: CreationId): Promise<CreationRecord | undefined> {
  const item = await getItem(table, keys.creation(id));
  return item && creationFromItem(item);
}

/** Consistent reads, a hundred creations at once. The record holds the lease, so one read brings both. */
async function readCreations(table: Table, ids: readonly CreationId[]): Promise<readonly CreationRecord[]> {
  const items = await batchGet(
    table,
    ids.map((id) => keys.creation(id)),
  );
  const found = new Map(items.map(creationFromItem).map((creation) => [creation.id, creation]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Takes the lease and reads the record in the same call. If the lease is refused, the old item says why. */
async function lease(
  table: Table,
  id: CreationId,
  holder: string,
  untilMillis: number,
  nowMillis: number,
  taskToken: string | undefined,
): Promise<LeaseOutcome> {
  try {
    const answer = await updateItem(table, keys.creation(id), {
      UpdateExpression:
        'SET #status = :processing, lease = :lease, startedAt = if_not_exists(startedAt, :at)' +
        (taskToken === undefined ? '' : ', taskToken = :token'),
      ConditionExpression: `${isOpen} AND ${isFreeToTake}`,
      ExpressionAttributeNames: { '#status': 'status', '#until': 'until' },
      ExpressionAttributeValues: {
        ':queued': 'queued',
        ':processing': 'processing',
        ':lease': { holder, until: untilMillis },
        ':holder': holder,
        ':now': nowMillis,
        ':at': new Date(nowMillis).toISOString(),
        ...(taskToken !== undefined && { ':token': taskToken }),
      },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    return { kind: 'leased', creation: creationFromItem(answer.Attributes ?? {}) };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    if (!error.Item) return { kind: 'absent' };
    const creation = creationFromItem(unmarshall(error.Item));
    return { kind: isTerminal(creation.status) ? 'terminal' : 'leased_by_another' };
  }
}

/** An update that only the holder of the lease may make. False when it no longer holds the lease. */
async function updateHeld(table: Table, id: CreationId, parts: UpdateParts): Promise<boolean> {
  return updateIf(table, keys.creation(id), { ConditionExpression: isHeld, ...parts });
}

async function complete(
  table: Table,
  creation: CreationRecord,
  done: Completion,
): ReturnType<CreationStore['complete']> {
  const { nowMillis, ...values } = done;
  const outcome = await transact(table, [
    settleTerminal(table, creation, { status: 'completed', nowMillis, announce: true, values }),
    {
      Update: {
        TableName: table.name,
        Key: keys.account(creation.accountId),
        UpdateExpression: 'SET inFlight = inFlight - :one',
        ExpressionAttributeValues: { ':one': 1 },
      },
    },
  ]);
  switch (outcome.kind) {
    case 'done':
      return 'completed';
    case 'overloaded':
      return 'busy';
    case 'refused':
      return 'already_terminal';
  }
}
