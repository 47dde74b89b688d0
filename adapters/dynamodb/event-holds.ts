/**
 * The held reads of an account: one item with two slots. A slot has the time at which its hold ends, so a crash
 * keeps a slot only until then.
 */
import type { AccountId } from '../../core/ids.ts';
import type { EventHold } from '../../core/ports/events.ts';
import { tryUpdate, updateIf } from './conditional.ts';
import { eventKeys, ttlAttribute, type Table } from './table.ts';

const slots = ['first', 'second'] as const;
/** Or the earlier try of the same call took the slot, and its answer was lost. */
const isFree = 'attribute_not_exists(#slot) OR #slot.#until <= :now OR #slot.holder = :holder';
const isOurs = '#slot.holder = :holder';
const keptMillis = 86_400_000;

/** Undefined while both slots are taken. A busy table counts as taken. */
export async function claimHold(
  table: Table,
  account: AccountId,
  untilMillis: number,
  nowMillis: number,
): Promise<EventHold | undefined> {
  const holder = Buffer.from(table.randomBytes(12)).toString('base64url');
  for (const slot of slots) {
    const outcome = await tryUpdate(table, eventKeys.holds(account), {
      UpdateExpression: 'SET #slot = :hold, #ttl = :ttl',
      ConditionExpression: isFree,
      ExpressionAttributeNames: { '#slot': slot, '#until': 'until', '#ttl': ttlAttribute },
      ExpressionAttributeValues: {
        ':hold': { holder, until: untilMillis },
        ':holder': holder,
        ':now': nowMillis,
        ':ttl': Math.ceil((untilMillis + keptMillis) / 1000),
      },
    });
    if (outcome.kind === 'written') return { slot, holder };
    if (outcome.kind === 'busy') return undefined;
  }
  return undefined;
}

export async function releaseHold(
  table: Table,
  account: AccountId,
  { slot, holder }: EventHold,
): Promise<void> {
  await updateIf(table, eventKeys.holds(account), {
    UpdateExpression: 'REMOVE #slot',
    ConditionExpression: isOurs,
    ExpressionAttributeNames: { '#slot': slot },
    ExpressionAttributeValues: { ':holder': holder },
  });
}
