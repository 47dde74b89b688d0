/** Does for one creation what it needs. Every write has a condition, so that two runs never both act. */
import { isTerminal, type CreationRecord } from '../../core/creation.ts';
import { placeOf } from '../../core/look-for-crossings.ts';
import { idsOf } from '../log-with.ts';
import { lookQuietly } from '../look-quietly.ts';
import { refundCreation } from '../refund.ts';
import type { ReconcileServices } from '../services/reconcile.ts';
import { lookAgainMillis, type NextStep } from './next-step.ts';
import { requireKnownRelease } from '../workflow/payload.ts';
import type { StartPace } from './start-pace.ts';

const longestPostponeMillis = 3_600_000;
/** From this recovery of a creation on, an alarm is raised. */
export const alarmingRecovery = 3;
/** An execution that began this long before our start was not started by us. Clocks differ. */
const justStartedMillis = 10_000;

/** 'left': nothing was started or given back; 'announce': given back, and the webhook is still to be sent. */
export type Action = 'started' | 'refunded' | 'announce' | 'left';

export interface RecoverServices extends ReconcileServices {
  readonly starts: StartPace;
  /** The pace of questions. Step Functions answers 15 a second. */
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

/**
 * Starts the last execution again under its own name, which changes nothing if it runs. So nothing is written
 * before the start, and after an unclear start the creation is still due.
 */
async function takeUp(creation: CreationRecord, latest: number, services: RecoverServices): Promise<Action> {
  const { openWork, executions, clock, log, starts } = services;
  if (!(await starts.turn())) return 'left';
  const begunAt = clock.now();
  const outcome = await executions.ensure(creation, creation.executions);
  starts.heard(outcome.kind !== 'unclear');
  switch (outcome.kind) {
    case 'running': {
      if (outcome.startedAtMillis < begunAt - justStartedMillis)
        return postpone(creation, Math.min(clock.now() + lookAgainMillis, latest), services);
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
      return postpone(creation, Math.min(services.clock.now() + lookAgainMillis, latest), services);
    case 'absent':
      return startNext(creation, creation.executions, latest, services);
    case 'ended':
      return startNext(creation, creation.executions + 1, latest, services);
  }
}

/**
 * Notes the start in the record first: of two reconcilers only one starts, and each further start comes
 * later.
 */
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
export function waitAfter({ recoveries }: Pick<CreationRecord, 'recoveries'>): number {
  return Math.min(longestPostponeMillis, lookAgainMillis * 2 ** recoveries);
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
  if (outcome === 'refunded' && creation.isWatched) await lookQuietly(placeOf(creation), services);
  return outcome === 'refunded' ? 'refunded' : 'left';
}
