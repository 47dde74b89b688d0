/**
 * The item of a creation's lease. It is apart from the creation, so that a renewal writes a hundred bytes and
 * not the prompt. Its turn is a fencing token: each acquisition raises it, and the creation keeps the turn of
 * the renderer that took it up last (service/creations/creation-store.ts).
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { getItem, updateItem } from '../aws/dynamodb/send.ts';
import { type Item, keys, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import type { CreationId } from '../values/ids.ts';
import { type CreationRecord, isTerminal } from './creation.ts';

/** Far longer than a renderer runs: the item must not expire while a renderer holds the lease. */
const keptMillis = 86_400_000;

const isFreeToTake = 'attribute_not_exists(pk) OR #until <= :now OR holder = :holder';
const isHeld = 'holder = :holder';

/** Takes the lease and returns its turn. @param taskToken replaces the stored one, if any */
export async function takeLeaseItem(
  table: Table,
  id: CreationId,
  holder: string,
  untilMillis: number,
  nowMillis: number,
  taskToken?: string,
): Promise<number | undefined> {
  try {
    const answer = await updateItem(table, keys.lease(id), {
      UpdateExpression:
        'SET holder = :holder, #until = :until, turn = if_not_exists(turn, :now) + :one, #ttl = :ttl' +
        (taskToken === undefined ? '' : ', taskToken = :token'),
      ConditionExpression: isFreeToTake,
      ExpressionAttributeNames: { '#until': 'until', '#ttl': ttlAttribute },
      ExpressionAttributeValues: {
        ':holder': holder,
        ':until': untilMillis,
        ':now': nowMillis,
        ':one': 1,
        ':ttl': Math.ceil((nowMillis + keptMillis) / 1000),
        ...(taskToken !== undefined && { ':token': taskToken }),
      },
      ReturnValues: 'UPDATED_NEW',
    });
    return Number(answer.Attributes?.['turn']);
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

/** The token of the task that was given with a lease last. One consistent read. */
export async function readTaskToken(table: Table, id: CreationId): Promise<string | undefined> {
  const token: unknown = (await getItem(table, keys.lease(id), 'taskToken'))?.['taskToken'];
  return typeof token === 'string' ? token : undefined;
}

/** False when the holder no longer has the lease. A time that is over gives the lease back. */
export async function renewLeaseItem(
  table: Table,
  id: CreationId,
  holder: string,
  untilMillis: number,
): Promise<boolean> {
  return updateIf(table, keys.lease(id), {
    UpdateExpression: 'SET #until = :until',
    ConditionExpression: isHeld,
    ExpressionAttributeNames: { '#until': 'until' },
    ExpressionAttributeValues: { ':until': untilMillis, ':holder': holder },
  });
}

/** The creation with its lease: the later one, if an earlier release wrote one into the creation. */
export function withLease(creation: CreationRecord, leaseItem: Item | undefined): CreationRecord {
  const { lease: inCreation, ...rest } = creation;
  const leases = [
    ...(inCreation ? [inCreation] : []),
    ...(leaseItem ? [{ holder: String(leaseItem['holder']), until: Number(leaseItem['until']) }] : []),
  ];
  if (isTerminal(creation.status) || leases.length === 0) return rest;
  return { ...rest, lease: leases.reduce((one, other) => (other.until > one.until ? other : one)) };
}
