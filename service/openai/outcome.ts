/** How the creations of a request ended, and the answer to the client. */
import { costHeader } from '../api/answer.ts';
import { failures } from '../contract/failures.ts';
import { type CreationRecord, isTerminal } from '../creations/creation.ts';
import type { Creations } from '../generate/replay.ts';
import { asMicros, type Micros } from '../values/money.ts';
import type { Problem } from '../values/problem.ts';
import { type ErrorCode, failureRows } from './error-table.ts';
import { OpenaiRefusal } from './refusal.ts';

/** A provider that is down is rarely back sooner. */
const providerRetrySeconds = 30;
/** A request that waited for minutes is held again at once. Without a place, a library would use up its retries. */
const renderingRetrySeconds = { held: 1, withoutAPlace: 10 } as const;

export function isCompleted({ status }: Pick<CreationRecord, 'status'>): boolean {
  return status === 'completed';
}

/** What the creations cost in the end: a failed one was refunded. */
export function paidFor(creations: Creations): Micros {
  return asMicros(creations.reduce((sum, one) => sum + one.costMicros - one.refundedMicros, 0));
}

/** On every answer after the charge. */
export function creationHeaders(creations: Creations): Readonly<Record<string, string>> {
  return {
    'x-darkroom-creation-id': creations.map(({ id }) => id).join(','),
    ...costHeader(paidFor(creations)),
  };
}

/** The refusal of a request without a single picture. Undefined when there is one. */
export function refusalOf(
  creations: Creations,
  waited: keyof typeof renderingRetrySeconds = 'held',
): Problem | undefined {
  if (!creations.every(({ status }) => isTerminal(status)))
    return stillRendering(creations, renderingRetrySeconds[waited]);
  return creations.some(isCompleted) ? undefined : failed(creations[0], creationHeaders(creations));
}

/** The code and the words for one creation that failed. */
export function failureOf(creation: CreationRecord): { readonly code: ErrorCode; readonly message: string } {
  const { failure = 'InternalFailure', cancelledAt } = creation;
  return cancelledAt === undefined
    ? { code: failureRows[failure], message: failures[failure].message }
    : { code: 'cancelled', message: 'The creation was cancelled. Its charge was refunded in full.' };
}

function failed(creation: CreationRecord, headers: Problem['headers']): Problem {
  const { code, message } = failureOf(creation);
  const { retryable } = failures[creation.failure ?? 'InternalFailure'];
  const isLater = code === 'provider_unavailable';
  return new OpenaiRefusal(code, message, {
    details: { creation_id: creation.id, retryable },
    headers: { ...headers, ...(isLater && { 'retry-after': String(providerRetrySeconds) }) },
    ...(code === 'content_policy_violation' && { param: 'prompt' }),
    ...(code === 'invalid_image' && { param: 'image' }),
  });
}

function stillRendering(creations: Creations, afterSeconds: number): Problem {
  const message =
    'The pictures are not ready yet. They are charged, and they go on. The same request gets them without another charge, ' +
    'if a library sends it as a retry or it has an Idempotency-Key. GET /creations/{id} of the API shows each of them.';
  return new OpenaiRefusal('still_rendering', message, {
    details: { creation_ids: creations.map(({ id }) => id) },
    headers: { ...creationHeaders(creations), 'retry-after': String(afterSeconds) },
  });
}
