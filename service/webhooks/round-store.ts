/** The writes of a round of attempts: its claim, and its end. Both replace the schedules as they were read. */
import { tryUpdate } from '../aws/dynamodb/conditional.ts';
import { keyOf, openShard, type Table } from '../aws/dynamodb/table.ts';
import type { UpdateParts } from '../aws/dynamodb/send.ts';
import type { EndpointSchedules, WebhookState } from '../creations/creation.ts';
import { Overloaded } from '../values/errors.ts';
import type { CreationId, NoticeId } from '../values/ids.ts';
import { noteInLog, overdueMillis } from './delivery-store.ts';
import type { Delivery } from './delivery.ts';
import { waitAfter, webhookAttempts } from './webhook.ts';

type Schedule = EndpointSchedules[string];

export interface RoundClaim {
  readonly owner: CreationId | NoticeId;
  readonly known: WebhookState;
  readonly next: EndpointSchedules;
  /** The attempts that this round sends. */
  readonly deliveries: readonly Delivery[];
  readonly body: string;
}

export interface EndedAttempt {
  readonly delivery: Delivery;
  /** Unix milliseconds. */
  readonly endedAt: number;
}

/** How often the record may change under the end of a round. Another round of it is rare. */
const mostTries = 10;

const isAsRead = 'webhook.#status = :pending AND webhook.endpoints = :known';

export function createRoundStore(table: Table) {
  return {
    /** Takes the attempts and writes their rows. False when another invocation was faster, or the table busy. */
    claim: async (claim: RoundClaim): Promise<boolean> => {
      const { known, next, deliveries, body, owner } = claim;
      const claimedBy = deliveries.at(-1)?.id ?? known.claimedBy;
      const outcome = await tryUpdate(
        table,
        keyOf(owner),
        roundParts(owner, known, next, { body, ...(claimedBy !== undefined && { claimedBy }) }),
      );
      const isClaimed =
        outcome.kind === 'written' ||
        (outcome.kind === 'refused' && isOurs(webhookIn(outcome.item), deliveries));
      if (isClaimed) await Promise.all(deliveries.map(async (one) => noteInLog(table, one)));
      return isClaimed;
    },
    /**
     * Records how the attempts ended, and completes their rows. Returns the state of all attempts in the
     * record.
     */
    settle: async (
      { owner, known, next }: RoundClaim,
      ended: readonly EndedAttempt[],
    ): Promise<WebhookState['status']> => {
      if (ended.length === 0) return summed(next).status;
      let state: WebhookState = { ...known, endpoints: next };
      for (let tries = 0; ; tries += 1) {
        const settled = settledBy(state.endpoints ?? {}, ended);
        // An erasure or a later claim of the same attempts was faster: the record is no longer ours.
        if (!settled) break;
        const outcome = await tryUpdate(table, keyOf(owner), roundParts(owner, state, settled, {}));
        if (outcome.kind === 'written') {
          state = { ...state, ...summed(settled), endpoints: settled };
          break;
        }
        const found = outcome.kind === 'refused' ? webhookIn(outcome.item) : undefined;
        if (outcome.kind === 'busy' || tries === mostTries)
          throw new Overloaded('the table stayed busy: the attempts are settled by their next claim');
        if (found?.status !== 'pending') {
          state = { ...state, status: found?.status ?? 'skipped' };
          break;
        }
        state = found;
      }
      await Promise.all(
        ended.map(async ({ delivery, endedAt }) => noteInLog(table, withNext(delivery, endedAt))),
      );
      return state.status;
    },
  };
}

function webhookIn(item: Readonly<Record<string, unknown>> | undefined): WebhookState | undefined {
  return item?.['webhook'] as WebhookState | undefined;
}

/** Our first write succeeded but its answer was lost; this retry failed because of it. */
function isOurs(webhook: WebhookState | undefined, deliveries: readonly Delivery[]): boolean {
  const claims = Object.values(webhook?.endpoints ?? {}).map(({ claimedBy }) => claimedBy);
  return deliveries.length > 0 && deliveries.every(({ id }) => claims.includes(id));
}

/**
 * The schedules with the ends of these attempts. Undefined: the record has none of these attempts any more.
 */
function settledBy(
  schedules: EndpointSchedules,
  ended: readonly EndedAttempt[],
): EndpointSchedules | undefined {
  const ours = Object.entries(schedules).flatMap(([name, schedule]) => {
    const own = ended.find(({ delivery }) => delivery.id === schedule.claimedBy);
    return own && schedule.status === 'pending' ? [[name, afterEnd(schedule, own)] as const] : [];
  });
  return ours.length > 0 ? { ...schedules, ...Object.fromEntries(ours) } : undefined;
}

function afterEnd(schedule: Schedule, { delivery, endedAt }: EndedAttempt): Schedule {
  if (!isLast(delivery)) return { ...schedule, nextAt: endedAt + waitAfter(delivery.attempt) };
  return { ...schedule, status: delivery.outcome === 'delivered' ? 'delivered' : 'failed' };
}

function isLast({ outcome, status, attempt }: Delivery): boolean {
  return outcome === 'delivered' || status === 410 || attempt === webhookAttempts;
}

function withNext(delivery: Delivery, endedAt: number): Delivery {
  if (isLast(delivery)) return delivery;
  return { ...delivery, nextAttemptAt: new Date(endedAt + waitAfter(delivery.attempt)).toISOString() };
}

/** The state of all endpoints together. A failed endpoint may need a redelivery, so it counts first. */
function summed(schedules: EndpointSchedules): Pick<WebhookState, 'status' | 'attempts' | 'nextAt'> {
  const all = Object.values(schedules);
  const order = ['pending', 'failed', 'delivered'] as const;
  const times = all.flatMap(({ status, nextAt }) => (status === 'pending' ? [nextAt] : []));
  return {
    status: order.find((one) => all.some(({ status }) => status === one)) ?? 'skipped',
    attempts: Math.max(0, ...all.map(({ attempts }) => attempts)),
    nextAt: times.length === 0 ? 0 : Math.min(...times),
  };
}

/** One update under the condition that the schedules are unchanged since they were read. */
function roundParts(
  owner: CreationId | NoticeId,
  known: WebhookState,
  next: EndpointSchedules,
  { body, claimedBy }: { readonly body?: string; readonly claimedBy?: string },
): UpdateParts {
  const { status, attempts, nextAt } = summed(next);
  // The function that ended the creation or opened the round has already set the reconciler's time.
  const isFirst = body !== undefined && known.attempts === 0 && status === 'pending';
  const sets = [
    'webhook.endpoints = :next, webhook.#status = :status, webhook.attempts = :attempts, webhook.nextAt = :nextAt',
    ...(body === undefined ? [] : ['webhook.body = if_not_exists(webhook.body, :body)']),
    ...(claimedBy === undefined ? [] : ['webhook.claimedBy = :claimedBy']),
    ...(status === 'pending' && !isFirst ? ['openShard = :shard, dueAt = :due'] : []),
  ];
  return {
    UpdateExpression: `SET ${sets.join(', ')}${status === 'pending' ? '' : ' REMOVE openShard, dueAt'}`,
    ConditionExpression: isAsRead,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':pending': 'pending',
      ':known': known.endpoints,
      ':next': next,
      ':status': status,
      ':attempts': attempts,
      ':nextAt': nextAt,
      ...(body !== undefined && { ':body': body }),
      ...(claimedBy !== undefined && { ':claimedBy': claimedBy }),
      ...(status === 'pending' &&
        !isFirst && { ':shard': openShard('WEBHOOK', owner), ':due': nextAt + overdueMillis }),
    },
  };
}
