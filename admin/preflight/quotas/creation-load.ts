/**
 * What one creation takes of AWS: the figures that docs/cost.md measured, rounded up, and the times of the
 * functions. A test compares the units with docs/cost.md, so that no measured figure grows past this table.
 */
import { firstPollSeconds, leaseRenewMillis } from '../../../service/contract/limits.ts';
import { nextPollSeconds } from '../../../service/creations/creation.ts';
import machine from '../../../statemachines/creation.asl.json' with { type: 'json' };

/** The share that is added to each mean, so that ordinary growth does not need new quotas. */
export const reserve = 0.25;

/** Write and read units of the table. docs/cost.md, "Where the figures come from". */
export const unitsOf = {
  /** The accept with an Idempotency-Key, and the count of the start. */
  accept: { write: 15, read: 10 },
  /** A rendering from its start to its image. The first attempt of the webhook is in `deliver`. */
  render: { write: 15, read: 0 },
  /** Handing a job to a vendor that calls back. The callback then writes what a rendering writes. */
  submit: { write: 6, read: 0 },
  callback: { write: 0, read: 2 },
  deliver: { write: 7, read: 2 },
  poll: { write: 2, read: 5 },
  /** A renderer renews its lease every 2.4 seconds while a vendor works. */
  renewal: { write: 1, read: 0 },
} as const;

/** Seconds after which a renderer that holds a connection renews its lease. */
export const renewalSeconds = leaseRenewMillis / 1000;

/** For how many seconds an invocation occupies its function. docs/cost.md has the parts: CPU and calls. */
export const functionSeconds = {
  accept: 0.15,
  poll: 0.05,
  /** What a rendering takes beside the vendor's time: storing and committing the image, the webhook, and cold starts. */
  render: 1.4,
  submit: 1,
  callback: 1.9,
  deliver: 0.4,
  refund: 0.2,
} as const;

/**
 * An environment takes at most ten synchronous invocations a second, so a shorter invocation occupies an execution
 * for so many seconds. Source: the Lambda developer guide, "Lambda quotas".
 */
export const leastBusySeconds = 0.1;

/**
 * A reservation of Lambda belongs to one function, so the setting concurrency.api is divided: 9 of 20 parts for
 * GenerateImage, and 9 for GetCreation.
 */
export const apiShares = { accept: 0.45, poll: 0.45 } as const;

/** The least number that can be divided among the functions of concurrency.api. */
export const leastApi = 4;

/** The share of creations that fail and are refunded. An assumption: a usual day is far below. */
export const failedShare = 0.05;

const states: Readonly<Record<string, { readonly Type: string; readonly Next?: string }>> = machine.States;
const statesFrom = (state?: string): number =>
  state === undefined ? 0 : 1 + statesFrom(states[state]?.Next);

/** The states of a success, and now and then those of a failure or a repeated state. */
export const transitionsOfCreation = statesFrom(machine.StartAt) + 0.2;

/** From the acceptance to the vendor's call, and from the vendor's answer to the end. Seconds. */
export const overheadSeconds = 3;

/** A deadline that is far enough away not to change the polls. */
const farMillis = 86_400_000;

/** The polls until a client sees the image of a route that takes its usual number of seconds. */
export function pollsUntil(seconds: number): number {
  const startedAt = new Date(0).toISOString();
  const attempts = [{ startedAt, usualMillis: 1_000 * seconds }];
  const creation = { createdAt: startedAt, deadlineAt: farMillis, attempts };
  let polls = 1;
  for (let at = firstPollSeconds; at < seconds; at += nextPollSeconds(creation, 1_000 * at)) polls += 1;
  return polls;
}
