/** The next step of a due creation, as far as its record shows. */
import { isTerminal, type CreationRecord } from '../../core/creation.ts';
import { heartbeatSeconds } from '../../core/machine.ts';

/** The wait after the deadline: the execution may be refunding at this moment. */
const deadlineGraceMillis = 10_000;
/** The time from a lost heartbeat until its retry has taken the lease. */
const retryMillis = 15_000;
/** The time from one check of a creation to the next. */
export const lookAgainMillis = 60_000;

export type NextStep =
  /** Nothing is left to do, and the creation leaves the index of open work. */
  | { readonly kind: 'settle' }
  /** The deadline is over. */
  | { readonly kind: 'refund' }
  /** An invocation holds the lease and works on the creation, or the execution waits for a callback. */
  | { readonly kind: 'postpone'; readonly dueAt: number }
  /**
   * No invocation has ever taken up the creation. A start of the same execution finds out whether it runs, and
   * repairs the creation if it does not.
   */
  | { readonly kind: 'start'; readonly latest: number }
  /** The last execution has ended. The next one renders, or sends the webhook that is overdue. */
  | { readonly kind: 'start_next'; readonly latest: number }
  /**
   * An invocation took up the creation and lost its lease. Only Step Functions knows whether it is retried.
   */
  | { readonly kind: 'ask'; readonly latest: number };

/** `latest` of a step is the time by which the reconciler has to check again. */
export function nextStep(creation: CreationRecord, now: number): NextStep {
  if (isTerminal(creation.status))
    return creation.webhook?.status === 'pending'
      ? { kind: 'start_next', latest: Infinity }
      : { kind: 'settle' };
  const giveUpAt = giveUpAtOf(creation);
  if (now >= giveUpAt) return { kind: 'refund' };
  const goodUntil = (creation.lease?.until ?? 0) + waitOf(creation);
  if (goodUntil > now) return { kind: 'postpone', dueAt: Math.min(goodUntil + lookAgainMillis, giveUpAt) };
  return { kind: creation.status === 'queued' ? 'start' : 'ask', latest: giveUpAt };
}

/**
 * The step when an event says that the last execution of the creation is over. Nothing else ends the creation then,
 * so no lease and no wait for a callback puts the next execution off. An invocation of the old execution may still
 * run: it keeps its lease, the next execution waits until the lease is free, and the first end of the creation counts.
 */
export function stepAfterEnd(creation: CreationRecord, now: number): NextStep {
  const step = nextStep(creation, now);
  if (step.kind === 'settle' || step.kind === 'refund') return step;
  return { kind: 'start_next', latest: isTerminal(creation.status) ? Infinity : giveUpAtOf(creation) };
}

function giveUpAtOf({ deadlineAt }: CreationRecord): number {
  return deadlineAt + deadlineGraceMillis;
}

/**
 * How long an execution may wait for a callback after its last lease. Step Functions answers 15 questions a
 * second, and thousands of executions may wait, so the reconciler asks about none of them before that time.
 */
function waitOf({ machine, lease }: CreationRecord): number {
  return machine === 'callback' && lease !== undefined ? heartbeatSeconds * 1000 + retryMillis : 0;
}
