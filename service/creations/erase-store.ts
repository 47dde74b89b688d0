import { tryUpdate, updateIf } from '../aws/dynamodb/conditional.ts';
import { updateItem, type UpdateParts } from '../aws/dynamodb/send.ts';
import { type Item, keys, openShard, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { privateMembers } from '../contract/request-fields.ts';
import { Overloaded } from '../values/errors.ts';
import type { CreationId } from '../values/ids.ts';
import { creationFromItem, keptDays } from './creation-items.ts';
import type { CreationRecord } from './creation.ts';

const hasEnded = '#status IN (:completed, :failed)';
const isSameWebhook = 'webhook.#status = :read';
const owesNoWebhook = 'webhook.#status <> :pending';
const daySeconds = 86_400;

export type EraseStore = ReturnType<typeof createEraseStore>;

export function createEraseStore(table: Table) {
  return {
    /**
     * Erases the texts of a creation that has ended, in one write, and asks for the second pass (erase.ts). A
     * webhook that is still owed is not sent any more.
     */
    erase: (creation: CreationRecord, by: EraseOf, nowMillis: number): Promise<EraseOutcome> =>
      erase(table, creation, by, nowMillis),
    /** Erases the texts alone, by age. False when the creation is open, or its webhook is still owed. */
    eraseTexts: (creation: Pick<CreationRecord, 'id' | 'webhook'>, nowMillis: number): Promise<boolean> =>
      updateIf(table, keys.creation(creation.id), textParts(creation, nowMillis)),
    /**
     * Takes the images of a completed creation out of its answers. Texts, webhook and log stay. First it asks for the
     * second deletion, in an item of its own: the creation may be in the index for its webhook.
     */
    deleteResults: (
      creation: CreationRecord,
      of: ResultsDeletion,
      nowMillis: number,
    ): Promise<DeleteResultsOutcome> => deleteResults(table, creation, of, nowMillis),
    /** The second deletion of the images is over. False when it was asked for again, or is over already. */
    finishResults: (id: CreationId, nowMillis: number): Promise<boolean> =>
      updateIf(table, keys.deletedResults(id), {
        UpdateExpression: 'REMOVE openShard, dueAt',
        ConditionExpression: 'dueAt <= :now',
        ExpressionAttributeValues: { ':now': nowMillis },
      }),
    /** The second pass is over. False when it was asked for again, or is over already. */
    finish: ({ id, dueAt }: CreationRecord): Promise<boolean> =>
      updateIf(table, keys.creation(id), {
        UpdateExpression: 'REMOVE openShard, dueAt',
        ConditionExpression: 'dueAt = :read',
        ExpressionAttributeValues: { ':read': dueAt },
      }),
  };
}

export interface ResultsDeletion {
  readonly by: NonNullable<CreationRecord['resultsDeletedBy']>;
  /** Unix milliseconds of the second deletion. */
  readonly againAt: number;
}

export type DeleteResultsOutcome =
  | { readonly kind: 'deleted' }
  | { readonly kind: 'not_completed'; readonly creation: CreationRecord };

async function deleteResults(
  table: Table,
  { id, resultsExpireAt = 0 }: CreationRecord,
  { by, againAt }: ResultsDeletion,
  nowMillis: number,
): Promise<DeleteResultsOutcome> {
  await updateItem(table, keys.deletedResults(id), {
    UpdateExpression: `SET openShard = :shard, dueAt = :due, ${ttlAttribute} = :end`,
    ExpressionAttributeValues: {
      ':shard': openShard('RESULTS', id),
      ':due': againAt,
      ':end': Math.ceil(againAt / 1000) + keptDays * daySeconds,
    },
  });
  const outcome = await tryUpdate(table, keys.creation(id), {
    UpdateExpression: 'SET resultsDeletedBy = :by, resultsExpireAt = :end REMOVE colours',
    ConditionExpression: '#status = :completed',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':by': by,
      ':end': Math.min(resultsExpireAt, nowMillis),
      ':completed': 'completed',
    },
  });
  if (outcome.kind === 'written') return { kind: 'deleted' };
  if (outcome.kind === 'busy') throw new Overloaded('the creation was too busy to lose its images');
  if (!outcome.item) throw new Error('the creation whose images are to be deleted has no record');
  return { kind: 'not_completed', creation: creationFromItem(outcome.item) };
}

export interface EraseOf {
  readonly by: NonNullable<CreationRecord['erasedBy']>;
  /** Unix milliseconds of the second pass. */
  readonly againAt: number;
}

export type EraseOutcome =
  | { readonly kind: 'erased'; readonly creation: CreationRecord }
  | { readonly kind: 'open'; readonly creation: CreationRecord };

/** How often the webhook may change under the erasure. Five attempts change it ten times at most. */
const mostRounds = 12;

async function erase(
  table: Table,
  asked: CreationRecord,
  of: EraseOf,
  nowMillis: number,
): Promise<EraseOutcome> {
  let creation = asked;
  for (let round = 1; round <= mostRounds; round += 1) {
    const outcome = await tryUpdate(table, keys.creation(creation.id), eraseParts(creation, of, nowMillis));
    if (outcome.kind === 'written') return { kind: 'erased', creation };
    if (outcome.kind === 'busy') break;
    if (!outcome.item) throw new Error('the creation to be erased has no record');
    creation = creationFromItem(outcome.item);
    if (creation.status === 'queued' || creation.status === 'processing') return { kind: 'open', creation };
  }
  throw new Overloaded('the creation changed too often to be erased');
}

/** A release before erasures reads such a record as well, so no attribute is missing that it needs. */
function textParts({ webhook }: Pick<CreationRecord, 'webhook'>, nowMillis: number): TextParts {
  return {
    UpdateExpression: [
      'SET erasedAt = if_not_exists(erasedAt, :at), prompt = :nothing, metadata = :noMetadata',
      webhook ? ', webhook.#url = :noUrl' : '',
      ` REMOVE #user${webhook ? ', webhook.body' : ''}`,
      ...privateMembers.map((name) => `, ${name}`),
    ].join(''),
    ConditionExpression: webhook ? `${hasEnded} AND ${owesNoWebhook}` : hasEnded,
    ExpressionAttributeNames: { '#status': 'status', '#user': 'user', ...(webhook && { '#url': 'url' }) },
    ExpressionAttributeValues: {
      ':completed': 'completed',
      ':failed': 'failed',
      ':at': new Date(nowMillis).toISOString(),
      ':nothing': null,
      ':noMetadata': '{}',
      ...(webhook && { ':noUrl': '', ':pending': 'pending' }),
    },
  };
}

interface TextParts extends UpdateParts {
  readonly UpdateExpression: string;
  readonly ExpressionAttributeValues: Item;
}

function eraseParts(creation: CreationRecord, { by, againAt }: EraseOf, nowMillis: number): UpdateParts {
  const { id, webhook, resultsExpireAt } = creation;
  const texts = textParts(creation, nowMillis);
  const { ':pending': _pending, ...values } = texts.ExpressionAttributeValues;
  return {
    ...texts,
    UpdateExpression: [
      'SET erasedBy = :by, openShard = :shard, dueAt = :due',
      resultsExpireAt === undefined ? '' : ', resultsExpireAt = :now',
      webhook ? ', webhook.#status = :left' : '',
      texts.UpdateExpression.replace('SET ', ', '),
      ', colours',
      ', #copy',
    ].join(''),
    ConditionExpression: webhook ? `${hasEnded} AND ${isSameWebhook}` : hasEnded,
    ExpressionAttributeNames: { ...texts.ExpressionAttributeNames, '#copy': 'copy' },
    ExpressionAttributeValues: {
      ...values,
      ':by': by,
      ':shard': openShard('ERASE', id),
      ':due': againAt,
      ...(resultsExpireAt !== undefined && { ':now': nowMillis }),
      ...(webhook && {
        ':read': webhook.status,
        ':left': webhook.status === 'pending' ? 'skipped' : webhook.status,
      }),
    },
  };
}
