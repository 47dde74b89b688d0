import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { updateItem } from '../aws/dynamodb/send.ts';
import { keys, type Table } from '../aws/dynamodb/table.ts';
import { Overloaded } from '../values/errors.ts';
import type { CreationId } from '../values/ids.ts';
import { newCopyItem, owedCopy } from './copy-items.ts';
import { creationFromItem } from './creation-items.ts';
import { type Completion, createCreationReads, type LeaseOutcome } from './creation-reads.ts';
import { type CreationRecord, isTerminal, type RouteAttempt } from './creation.ts';
import { endWithEvent } from './event-items.ts';
import { readTaskToken, renewLeaseItem, takeLeaseItem } from './lease.ts';
import { settleTerminal } from './refund.ts';

export type CreationStore = ReturnType<typeof createCreationStore>;

const isOpen = '#status IN (:queued, :processing)';
/** The release before writes the lease into the creation as well. Such a lease holds until its time is over. */
const isFreeInTheCreation = '(attribute_not_exists(lease) OR lease.#until <= :now OR lease.holder = :holder)';
/** Not lower: the SDK repeats an update whose answer was lost. */
const isTheLatestTurn = '(attribute_not_exists(fence) OR fence <= :turn)';
const isOfThisTurn = 'fence = :turn';
const hasTheseAttempts = 'attempts = :known';
/** Absent: an earlier try, whose answer was lost, has taken the note back. */
const isThisNote = '(attribute_not_exists(cancelRequestedAt) OR cancelRequestedAt = :at)';
const keepsItsImages = 'attribute_not_exists(erasedBy) AND attribute_not_exists(resultsDeletedBy)';
const statusName = { '#status': 'status' };
const openStatuses = { ':queued': 'queued', ':processing': 'processing' };

export function createCreationStore(table: Table) {
  return {
    ...createCreationReads(table),
    /**
     * Takes the lease of a creation that is still open, which makes the attempts of every earlier renderer
     * too late.
     * @param taskToken the token of the execution's task. It is stored before the creation is read, so that
     *   code that ends the creation meanwhile finds the token. Without it the stored token stays.
     */
    lease: (
      id: CreationId,
      holder: string,
      untilMillis: number,
      nowMillis: number,
      taskToken?: string,
    ): Promise<LeaseOutcome> => lease(table, id, holder, untilMillis, nowMillis, taskToken),
    /** The token of the task that waits for the creation. One consistent read. */
    taskToken: (id: CreationId): Promise<string | undefined> => readTaskToken(table, id),
    renewLease: (id: CreationId, holder: string, untilMillis: number): Promise<boolean> =>
      renewLeaseItem(table, id, holder, untilMillis),
    /** Writes the list of attempts. False when the creation has ended or has a later turn. */
    saveAttempts: async (id: CreationId, turn: number, attempts: readonly RouteAttempt[]): Promise<boolean> =>
      updateIf(table, keys.creation(id), {
        UpdateExpression: 'SET attempts = :attempts',
        ConditionExpression: `${isOpen} AND ${isOfThisTurn}`,
        ExpressionAttributeNames: statusName,
        ExpressionAttributeValues: { ...openStatuses, ':attempts': attempts, ':turn': turn },
      }),
    /** Notes that a vendor will be asked to stop the job. False when creation or attempts have changed. */
    noteCancel: async ({ id, attempts }: CreationRecord, at: string): Promise<boolean> =>
      updateIf(table, keys.creation(id), {
        UpdateExpression: 'SET cancelRequestedAt = :at',
        ConditionExpression: `${isOpen} AND ${hasTheseAttempts}`,
        ExpressionAttributeNames: statusName,
        ExpressionAttributeValues: { ...openStatuses, ':known': attempts, ':at': at },
      }),
    /** Removes this note of a cancel. False when the creation has ended, or attempts or note have changed. */
    withdrawCancel: async ({ id, attempts }: CreationRecord, at: string): Promise<boolean> =>
      updateIf(table, keys.creation(id), {
        UpdateExpression: 'REMOVE cancelRequestedAt',
        ConditionExpression: `${isOpen} AND ${hasTheseAttempts} AND ${isThisNote}`,
        ExpressionAttributeNames: statusName,
        ExpressionAttributeValues: { ...openStatuses, ':known': attempts, ':at': at },
      }),
    /** Notes that the thumbnails of the result are stored. False when the images were deleted meanwhile. */
    noteThumbnails: async (id: CreationId, colours: string): Promise<boolean> =>
      updateIf(table, keys.creation(id), {
        UpdateExpression: 'SET colours = :colours',
        ConditionExpression: `attribute_exists(pk) AND ${keepsItsImages}`,
        ExpressionAttributeValues: { ':colours': colours },
      }),
    /** 'busy': a conflict outlasted the retries. The caller has to call again. */
    complete: (
      creation: CreationRecord,
      done: Completion,
    ): Promise<'completed' | 'already_terminal' | 'busy'> => complete(table, creation, done),
  };
}

/** First the item of the lease, which gives the turn. Then the creation, with the turn as its fence. */
async function lease(
  table: Table,
  id: CreationId,
  holder: string,
  untilMillis: number,
  nowMillis: number,
  taskToken: string | undefined,
): Promise<LeaseOutcome> {
  const turn = await takeLeaseItem(table, id, holder, untilMillis, nowMillis, taskToken);
  if (turn === undefined) return { kind: await whyHeld(table, id) };
  const giveBack = (): Promise<boolean> => renewLeaseItem(table, id, holder, nowMillis);
  try {
    const outcome = await takeUp(table, id, { holder, turn }, nowMillis);
    if (outcome.kind === 'leased_by_another') await giveBack();
    return outcome;
  } catch (error) {
    // The next invocation does not have to wait until the lease runs out. This write may be refused as well.
    if (error instanceof Overloaded) await giveBack().catch(() => false);
    throw error;
  }
}

/** A creation that has ended needs no renderer, even while a renderer that hangs still holds its lease. */
async function whyHeld(table: Table, id: CreationId): Promise<'leased_by_another' | 'terminal' | 'absent'> {
  const creation = await createCreationReads(table).read(id);
  if (!creation) return 'absent';
  return isTerminal(creation.status) ? 'terminal' : 'leased_by_another';
}

/** Sets the fence and reads the record in the same call. If the update is refused, the old item says why. */
async function takeUp(
  table: Table,
  id: CreationId,
  held: { readonly holder: string; readonly turn: number },
  nowMillis: number,
): Promise<LeaseOutcome> {
  try {
    const answer = await updateItem(table, keys.creation(id), {
      UpdateExpression: 'SET #status = :processing, fence = :turn, startedAt = if_not_exists(startedAt, :at)',
      ConditionExpression: `${isOpen} AND ${isTheLatestTurn} AND ${isFreeInTheCreation}`,
      ExpressionAttributeNames: { '#status': 'status', '#until': 'until' },
      ExpressionAttributeValues: {
        ':queued': 'queued',
        ':processing': 'processing',
        ':turn': held.turn,
        ':holder': held.holder,
        ':now': nowMillis,
        ':at': new Date(nowMillis).toISOString(),
      },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    return { kind: 'leased', creation: creationFromItem(answer.Attributes ?? {}), turn: held.turn };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    if (!error.Item) return { kind: 'absent' };
    const creation = creationFromItem(unmarshall(error.Item));
    return { kind: isTerminal(creation.status) ? 'terminal' : 'leased_by_another' };
  }
}

async function complete(
  table: Table,
  creation: CreationRecord,
  completion: Completion,
): ReturnType<CreationStore['complete']> {
  const { nowMillis, ...done } = completion;
  const values = { ...done, ...(creation.copies && { copy: owedCopy }) };
  const outcome = await endWithEvent(table, creation, nowMillis, [
    settleTerminal(table, creation, { status: 'completed', nowMillis, announce: true, values }),
    {
      Update: {
        TableName: table.name,
        Key: keys.account(creation.accountId),
        UpdateExpression: 'SET inFlight = inFlight - :one',
        ExpressionAttributeValues: { ':one': 1 },
      },
    },
    ...(creation.copies ? [newCopyItem(table, creation, nowMillis)] : []),
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
