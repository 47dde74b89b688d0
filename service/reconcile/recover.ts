/** Handles one due creation. Every write has a condition, so that two runs never both act. */
import { type CreationRecord, idsOf, isTerminal } from '../creations/creation.ts';
import { heartbeatSeconds } from '../creations/machines.ts';
import { requireKnownRelease } from '../creations/payload.ts';
import { refundCreation } from '../creations/refund-creation.ts';
import { checkQuietly, subjectOf } from '../notices/check-thresholds.ts';
import { noticeIdsOf, type NoticeRecord } from '../notices/notice.ts';
import type { ReconcileServices } from './open.ts';
import type { StartPace } from './start-pace.ts';

// The next step of a due creation, as far as its record shows.

/** The wait after the deadline: the execution may be refunding at this moment. */
const deadlineGraceMillis = 10_000;
/** The time from a lost heartbeat until its retry has taken the lease. */
const retryMillis = 15_000;
const checkAgainMillis = 60_000;

type NextStep =
  /** Nothing is left to do, and the creation leaves the index of open work. */
  | { readonly kind: 'settle' }
  | { readonly kind: 'refund' }
  /** An invocation holds the lease and works on the creation, or the execution waits for a callback. */
  | { readonly kind: 'postpone'; readonly dueAt: number }
  /** No invocation has taken it up. A start of the same execution finds out, and repairs it. */
  | { readonly kind: 'start'; readonly latest: number }
  /** The last execution has ended. The next one renders, or sends the webhook that is overdue. */
  | { readonly kind: 'start_next'; readonly latest: number }
  /** An invocation lost its lease. Only Step Functions knows whether it is retried. */
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
  if (goodUntil > now) return { kind: 'postpone', dueAt: Math.min(goodUntil + checkAgainMillis, giveUpAt) };
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
 * How long an execution may wait for a callback without a check: 15 DescribeExecution calls a second are
 * allowed.
 */
function waitOf({ machine, lease }: CreationRecord): number {
  return machine === 'callback' && lease !== undefined ? heartbeatSeconds * 1000 + retryMillis : 0;
}

const longestPostponeMillis = 3_600_000;
const alarmingRecovery = 3;
/** An execution that began this long before our start was not started by us. Clocks differ. */
const justStartedMillis = 10_000;

/** 'left': nothing was started or refunded. 'announce': refunded, and the webhook is still to be sent. */
export type Action = 'started' | 'refunded' | 'announce' | 'left';

export interface RecoverServices extends ReconcileServices {
  readonly starts: StartPace;
  /** The pace of DescribeExecution calls. Step Functions allows 15 a second. */
  readonly questions: StartPace;
}

/** Throws NewerRelease when this code does not understand the record. */
export async function recover(
  creation: CreationRecord,
  step: NextStep,
  services: RecoverServices,
): Promise<Action> {
  requireKnownRelease(creation, services);
  switch (step.kind) {
    case 'settle':
      await services.openWork.postpone(creation, undefined);
      return 'left';
    case 'postpone':
      return postpone(creation, step.dueAt, services);
    case 'refund':
      return refundLate(creation, services);
    case 'start':
      return takeUp(creation, step.latest, services);
    case 'start_next':
      return startNext(creation, creation.executions + 1, step.latest, services);
    case 'ask':
      return ask(creation, step.latest, services);
  }
}

async function postpone(creation: CreationRecord, dueAt: number, services: RecoverServices): Promise<Action> {
  await services.openWork.postpone(creation, dueAt);
  return 'left';
}

/** Starts the last execution again under its own name, which changes nothing if it runs. */
async function takeUp(creation: CreationRecord, latest: number, services: RecoverServices): Promise<Action> {
  const { openWork, executions, clock, log, starts } = services;
  if (!(await starts.turn())) return 'left';
  const begunAt = clock.now();
  const outcome = await executions.ensure(creation, creation.executions);
  starts.heard(outcome.kind !== 'unclear');
  switch (outcome.kind) {
    case 'running': {
      if (outcome.startedAtMillis < begunAt - justStartedMillis)
        return postpone(creation, Math.min(clock.now() + checkAgainMillis, latest), services);
      log.info('creation_recovered', { ...idsOf(creation), recovery: creation.recoveries + 1 });
      const dueAt = Math.min(clock.now() + waitAfter(creation), latest);
      await openWork.noteStart(creation, dueAt, creation.executions);
      return 'started';
    }
    case 'exists':
      return ask(creation, latest, services);
    case 'refused':
      return refuse(creation, creation.executions, services);
    case 'unclear':
      log.info('start_unclear', idsOf(creation));
      return 'left';
  }
}

async function ask(creation: CreationRecord, latest: number, services: RecoverServices): Promise<Action> {
  if (!(await services.questions.turn())) return 'left';
  switch (await services.executions.state(creation, creation.executions)) {
    case 'running':
      return postpone(creation, Math.min(services.clock.now() + checkAgainMillis, latest), services);
    case 'absent':
      return startNext(creation, creation.executions, latest, services);
    case 'ended':
      return startNext(creation, creation.executions + 1, latest, services);
  }
}

/** Notes the start in the record first: one of two reconcilers starts, and further starts come later. */
async function startNext(
  creation: CreationRecord,
  number: number,
  latest: number,
  services: RecoverServices,
): Promise<Action> {
  const { openWork, executions, clock, log, starts } = services;
  if (!(await starts.turn())) return 'left';
  const dueAt = Math.min(clock.now() + waitAfter(creation), latest);
  const noted = await openWork.noteStart(creation, dueAt, number);
  if (!noted) return 'left';
  const fields = { ...idsOf(creation, number), recovery: creation.recoveries + 1 };
  if (creation.recoveries + 1 >= alarmingRecovery) log.alarm('creation_recovered_again', fields);
  else log.info('creation_recovered', fields);
  const outcome = await executions.start(creation, number);
  starts.heard(outcome !== 'unclear');
  if (outcome === 'refused') return refuse(creation, number, services);
  if (outcome === 'unclear') log.info('start_unclear', idsOf(creation, number));
  return 'started';
}

/** The wait until the next check, which doubles with each recovery. */
function waitAfter({ recoveries }: Pick<CreationRecord, 'recoveries'>): number {
  return Math.min(longestPostponeMillis, checkAgainMillis * 2 ** recoveries);
}

async function refuse(creation: CreationRecord, number: number, services: RecoverServices): Promise<Action> {
  const fields = { ...idsOf(creation, number), recovery: creation.recoveries + 1 };
  services.log.alarm('start_refused', fields);
  if (isTerminal(creation.status)) return 'left';
  return refund(creation, 'ServiceUnavailable', services);
}

async function refundLate(creation: CreationRecord, services: RecoverServices): Promise<Action> {
  const action = await refund(creation, 'GenerationTimedOut', services);
  services.log.alarm('creation_past_deadline', idsOf(creation));
  // The execution should have refunded and did not. So the reconciler does not rely on it for the webhook
  // either.
  return action === 'refunded' && creation.webhook ? 'announce' : action;
}

async function refund(
  creation: CreationRecord,
  failure: 'GenerationTimedOut' | 'ServiceUnavailable',
  services: RecoverServices,
): Promise<Action> {
  const ids = idsOf(creation);
  const outcome = await refundCreation(creation, { failure, announce: true }, ids, services);
  // The execution could not refund either. The money is held until the reconciler refunds it in one of the
  // next minutes.
  if (outcome === 'busy') services.log.alarm('refund_not_made', ids);
  // No execution may follow this refund, so the thresholds are checked here.
  if (outcome === 'refunded' && creation.isWatched) await checkQuietly(subjectOf(creation), services);
  return outcome === 'refunded' ? 'refunded' : 'left';
}

// Sends a notice whose start or execution was lost. Every write has a condition, as for creations.

/** Only one of two executions can claim an attempt, so the last one may still run. */
export async function recoverNotice(notice: NoticeRecord, services: RecoverServices): Promise<Action> {
  const { openWork, noticeExecutions, clock, log, starts } = services;
  if (notice.dueAt === undefined || notice.dueAt > clock.now()) return 'left';
  if (notice.webhook.status !== 'pending') {
    await openWork.postpone(notice, undefined);
    return 'left';
  }
  if (!(await starts.turn())) return 'left';
  const number = notice.executions + 1;
  if (!(await openWork.noteStart(notice, clock.now() + waitAfter(notice), number))) return 'left';
  const outcome = await noticeExecutions.start(notice.id, number);
  starts.heard(outcome !== 'unclear');
  const recovery = notice.recoveries + 1;
  const fields = { ...noticeIdsOf(notice, number), recovery, started: outcome };
  if (outcome === 'refused' || recovery >= alarmingRecovery) log.alarm('webhook_delivery_broke', fields);
  else log.info('notice_recovered', fields);
  return 'started';
}
