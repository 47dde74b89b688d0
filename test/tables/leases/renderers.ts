/** The lease as each release takes it. A test lets renderers of two releases run beside each other. */
import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { type ItemKey, keys, type Table } from '../../../service/aws/dynamodb/table.ts';
import { creationFromItem } from '../../../service/creations/creation-items.ts';
import { createCreationStore } from '../../../service/creations/creation-store.ts';
import type { CreationRecord, RouteAttempt } from '../../../service/creations/creation.ts';
import type { CreationId } from '../../../service/values/ids.ts';

/** What a renderer of one release asks of the table. A holder takes the lease once. */
export interface LeaseOfRelease {
  /** The creation, or undefined when the lease was refused. */
  readonly take: (holder: string, until: number, at: number) => Promise<CreationRecord | undefined>;
  readonly renew: (holder: string, until: number) => Promise<boolean>;
  readonly save: (holder: string, attempts: readonly RouteAttempt[]) => Promise<boolean>;
}

export type Release = (table: Table, id: CreationId) => LeaseOfRelease;

/** The code of this commit. */
export const thisRelease: Release = (table, id) => {
  const store = createCreationStore(table);
  const turns = new Map<string, number>();
  return {
    take: async (holder, until, at) => {
      const outcome = await store.lease(id, holder, until, at);
      if (outcome.kind !== 'leased') return undefined;
      turns.set(holder, outcome.turn);
      return outcome.creation;
    },
    renew: (holder, until) => store.renewLease(id, holder, until),
    save: (holder, attempts) => store.saveAttempts(id, turns.get(holder) ?? Number.NaN, attempts),
  };
};

/** The release that writes the lease into its item and into the creation: the requests of commit 9c400ea. */
export const leaseInBoth: Release = (table, id) => {
  const turns = new Map<string, number>();
  const renewItem = async (holder: string, until: number): Promise<boolean> =>
    (await update(table, keys.lease(id), {
      UpdateExpression: 'SET #until = :until',
      ConditionExpression: 'holder = :holder',
      ExpressionAttributeNames: { '#until': 'until' },
      ExpressionAttributeValues: { ':until': until, ':holder': holder },
    })) !== undefined;
  return {
    take: async (holder, until, at) => {
      const item = await update(table, keys.lease(id), {
        UpdateExpression:
          'SET holder = :holder, #until = :until, turn = if_not_exists(turn, :now) + :one, #ttl = :ttl',
        ConditionExpression: 'attribute_not_exists(pk) OR #until <= :now OR holder = :holder',
        ExpressionAttributeNames: { '#until': 'until', '#ttl': 'expiresAtSeconds' },
        ExpressionAttributeValues: {
          ':holder': holder,
          ':until': until,
          ':now': at,
          ':one': 1,
          ':ttl': Math.ceil((at + 86_400_000) / 1000),
        },
        ReturnValues: 'UPDATED_NEW',
      });
      if (!item) return undefined;
      const turn = Number(item['turn']);
      const answer = await update(table, keys.creation(id), {
        UpdateExpression:
          'SET #status = :processing, fence = :turn, lease = :lease, startedAt = if_not_exists(startedAt, :at)',
        ConditionExpression:
          '#status IN (:queued, :processing) AND (attribute_not_exists(fence) OR fence <= :turn) AND (attribute_not_exists(lease) OR lease.#until <= :now OR lease.holder = :holder)',
        ExpressionAttributeNames: { '#status': 'status', '#until': 'until' },
        ExpressionAttributeValues: {
          ':queued': 'queued',
          ':processing': 'processing',
          ':turn': turn,
          ':lease': { holder, until, turn },
          ':holder': holder,
          ':now': at,
          ':at': new Date(at).toISOString(),
        },
        ReturnValues: 'ALL_NEW',
      });
      if (!answer) await renewItem(holder, at);
      turns.set(holder, turn);
      return answer && creationFromItem(answer);
    },
    renew: async (holder, until) => {
      const isRenewed = await update(table, keys.creation(id), {
        UpdateExpression: 'SET lease.#until = :until',
        ConditionExpression: 'lease.holder = :holder AND lease.turn = fence',
        ExpressionAttributeNames: { '#until': 'until' },
        ExpressionAttributeValues: { ':until': until, ':holder': holder },
      });
      return isRenewed !== undefined && renewItem(holder, until);
    },
    save: async (holder, attempts) =>
      (await update(table, keys.creation(id), {
        UpdateExpression: 'SET attempts = :attempts',
        ConditionExpression: 'fence = :turn AND lease.turn = :turn',
        ExpressionAttributeValues: { ':attempts': attempts, ':turn': turns.get(holder) },
      })) !== undefined,
  };
};

/** The attributes that the update gives, or undefined when its condition failed. */
async function update(
  { client, name }: Table,
  key: ItemKey,
  parts: Omit<UpdateCommandInput, 'TableName' | 'Key'>,
): Promise<Record<string, unknown> | undefined> {
  try {
    return (await client.send(new UpdateCommand({ TableName: name, Key: key, ...parts }))).Attributes ?? {};
  } catch (error) {
    if (error instanceof Error && error.name === 'ConditionalCheckFailedException') return undefined;
    throw error;
  }
}
