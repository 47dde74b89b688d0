/**
 * The reconciler makes sure that every creation ends, and that no charge stays without an image. It runs each
 * minute over every creation that is due, and at once for a creation whose execution died. It reads each
 * record again and writes under conditions only, so that it may run at the same time as any other function.
 */
import { isTerminal, type CreationRecord } from '../../core/creation.ts';
import { parseCreationId, type CreationId } from '../../core/ids.ts';
import { errorName } from '../error-name.ts';
import { lambdaHandler } from '../lambda-handler.ts';
import { idsOf } from '../log-with.ts';
import { refundCreation } from '../refund.ts';
import { reconcileServices, type ReconcileServices } from '../services/reconcile.ts';

/** The wait after the deadline: the execution may be refunding at this moment. */
const deadlineGraceMillis = 10_000;
const firstPostponeMillis = 60_000;
const longestPostponeMillis = 3_600_000;
/** From this recovery of a creation on, an operator has to look. */
const alarmingRecovery = 3;
/**
 * After this many recoveries by events, only the schedule recovers the creation: the schedule waits longer
 * each time.
 */
const mostEventRecoveries = 2;
const atOnce = 10;

/** The schedule sends an empty event. EventBridge sends the end of an execution. */
export interface ReconcileEvent {
  readonly detail?: { readonly input?: string | null; readonly status?: string };
}

/** What an event asks for: every creation that is due, one creation, or nothing. */
type Asked =
  | { readonly kind: 'due' }
  | { readonly kind: 'creation'; readonly id: CreationId }
  | { readonly kind: 'nothing' };

export interface ReconcileReport {
  readonly looked: number;
  readonly started: number;
  readonly refunded: number;
  readonly open?: number;
}

type Action = 'started' | 'refunded' | 'left';

export async function reconcile(
  event: ReconcileEvent,
  services: ReconcileServices,
): Promise<ReconcileReport> {
  const asked = askedBy(event);
  if (asked.kind === 'creation') return reportOf([await reconcileEnded(asked.id, services)]);
  if (asked.kind === 'nothing') {
    services.log.info('reconcile_event_ignored', { status: event.detail?.status });
    return reportOf([]);
  }
  const overdue = await services.openWork.overdue(services.clock.now());
  const actions: Action[] = [];
  for (let from = 0; from < overdue.length; from += atOnce) {
    const batch = overdue.slice(from, from + atOnce).map((id) => reconcileOne(id, services));
    actions.push(...(await Promise.all(batch)));
  }
  const report = { ...reportOf(actions), open: await services.openWork.recordOpenCount() };
  services.log.info('reconciled', report);
  return report;
}

function reportOf(actions: readonly Action[]): ReconcileReport {
  const count = (kind: Action): number => actions.filter((action) => action === kind).length;
  return { looked: actions.length, started: count('started'), refunded: count('refunded') };
}

/**
 * The schedule's event has no status. An execution that a person started can have any input, and EventBridge
 * sends null for an input that is too large for an event. Such an event names no creation. The function must
 * not fail then, because EventBridge would send the event twice more.
 */
function askedBy({ detail }: ReconcileEvent): Asked {
  if (detail?.status === undefined && detail?.input === undefined) return { kind: 'due' };
  const payload = parsed(detail.input ?? 'null');
  const named =
    typeof payload === 'object' && payload !== null && 'creation_id' in payload
      ? payload.creation_id
      : undefined;
  const id = typeof named === 'string' ? parseCreationId(named) : undefined;
  return id ? { kind: 'creation', id } : { kind: 'nothing' };
}

/** The value of a JSON text; undefined for any other text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function reconcileEnded(id: CreationId, services: ReconcileServices): Promise<Action> {
  const creation = await services.creations.read(id);
  if (creation?.dueAt === undefined || creation.recoveries >= mostEventRecoveries) return 'left';
  return recover(creation, services);
}

/** An error at one creation must not stop the work on the others. */
async function reconcileOne(id: CreationId, services: ReconcileServices): Promise<Action> {
  try {
    const creation = await services.creations.read(id);
    if (creation?.dueAt === undefined || creation.dueAt > services.clock.now()) return 'left';
    return await recover(creation, services);
  } catch (error) {
    services.log.alarm('reconcile_failed', { creationId: id, error: errorName(error) });
    return 'left';
  }
}

async function recover(creation: CreationRecord, services: ReconcileServices): Promise<Action> {
  if (isTerminal(creation.status)) return recoverWebhook(creation, services);
  const now = services.clock.now();
  const giveUpAt = creation.deadlineAt + deadlineGraceMillis;
  if (now >= giveUpAt) return refundLate(creation, services);
  const leasedUntil = creation.lease?.until ?? 0;
  if (leasedUntil > now)
    return postpone(creation, Math.min(leasedUntil + firstPostponeMillis, giveUpAt), services);
  switch (await services.executions.state(creation.id, creation.executions)) {
    case 'running':
      return postpone(creation, Math.min(now + firstPostponeMillis, giveUpAt), services);
    case 'absent':
      return startAgain(creation, creation.executions, giveUpAt, services);
    case 'ended':
      return startAgain(creation, creation.executions + 1, giveUpAt, services);
  }
}

/** A webhook that is still pending long after its schedule: a further execution delivers it. */
async function recoverWebhook(creation: CreationRecord, services: ReconcileServices): Promise<Action> {
  if (creation.webhook?.status === 'pending')
    return startAgain(creation, creation.executions + 1, Infinity, services);
  await services.openWork.postpone(creation, undefined);
  return 'left';
}

async function postpone(
  creation: CreationRecord,
  dueAt: number,
  services: ReconcileServices,
): Promise<Action> {
  await services.openWork.postpone(creation, dueAt);
  return 'left';
}

/**
 * Notes the start in the record first: of two reconcilers only one starts, and each further start comes
 * later.
 */
async function startAgain(
  creation: CreationRecord,
  number: number,
  latest: number,
  services: ReconcileServices,
): Promise<Action> {
  const { openWork, executions, clock, log } = services;
  const wait = Math.min(longestPostponeMillis, firstPostponeMillis * 2 ** creation.recoveries);
  const noted = await openWork.noteStart(creation, Math.min(clock.now() + wait, latest), number);
  if (!noted) return 'left';
  const fields = { ...idsOf(creation, number), recovery: creation.recoveries + 1 };
  if (creation.recoveries + 1 >= alarmingRecovery) log.alarm('creation_recovered_again', fields);
  else log.info('creation_recovered', fields);
  const outcome = await executions.start(creation, number);
  if (outcome !== 'refused') return 'started';
  log.alarm('start_refused', fields);
  if (isTerminal(creation.status)) return 'left';
  return refund(creation, 'ServiceUnavailable', services);
}

async function refundLate(creation: CreationRecord, services: ReconcileServices): Promise<Action> {
  const action = await refund(creation, 'GenerationTimedOut', services);
  services.log.alarm('creation_past_deadline', idsOf(creation));
  // The execution should have refunded and did not. So the reconciler does not rely on it for the webhook
  // either.
  const refunded = await services.creations.read(creation.id);
  if (refunded?.webhook?.status === 'pending') await recoverWebhook(refunded, services);
  return action;
}

async function refund(
  creation: CreationRecord,
  failure: 'GenerationTimedOut' | 'ServiceUnavailable',
  services: ReconcileServices,
): Promise<Action> {
  const ids = idsOf(creation);
  const outcome = await refundCreation(creation, { failure, announce: true }, ids, services);
  // The execution could not refund either. The money is held until the reconciler refunds it in one of the
  // next minutes.
  if (outcome === 'busy') services.log.alarm('refund_not_made', ids);
  return outcome === 'refunded' ? 'refunded' : 'left';
}

export const handler = lambdaHandler(reconcileServices, reconcile);
