/**
 * The reconciler makes sure that every creation ends, and that no charge stays without an image. It runs each
 * minute over every creation that is due, and at once for a creation whose execution died. It reads each
 * record again and writes under conditions only, so that it may run at the same time as any other function.
 */
import { type CreationId, executionName, parseCreationId } from '../values/ids.ts';
import { drain, type Tally } from './drain.ts';
import type { ReconcileServices } from './open.ts';
import { nextStep, recover, stepAfterEnd } from './recover.ts';
import { atOnce } from './start-pace.ts';

/** After this many recoveries by events, only the schedule recovers, which waits longer each time. */
const mostEventRecoveries = 2;

/** The schedule sends an empty event. EventBridge sends the end of an execution. */
export interface ReconcileEvent {
  readonly detail?: { readonly name?: string; readonly input?: string | null; readonly status?: string };
}

/** What an event asks for: every creation that is due, one creation, or nothing. */
type Asked =
  | { readonly kind: 'due' }
  | { readonly kind: 'creation'; readonly id: CreationId; readonly execution: string | undefined }
  | { readonly kind: 'nothing' };

export interface ReconcileReport {
  readonly looked: number;
  readonly started: number;
  readonly refunded: number;
  readonly open?: number;
}

/** @param timeLeft the milliseconds until Lambda ends the function */
export async function reconcile(
  event: ReconcileEvent,
  services: ReconcileServices,
  timeLeft: () => number,
): Promise<ReconcileReport> {
  const asked = askedBy(event);
  if (asked.kind === 'creation') return reconcileEnded(asked, services);
  if (asked.kind === 'nothing') {
    services.log.info('reconcile_event_ignored', { status: event.detail?.status });
    return { looked: 0, started: 0, refunded: 0 };
  }
  // The count limits what the service accepts. So it must not wait until a long run ends.
  const counting = outcomeOf(services.openWork.recordOpenCount());
  const tally = await drain(services, timeLeft);
  const counted = await counting;
  if ('error' in counted) throw counted.error;
  const report = { ...tally, open: counted.value };
  services.log.info('reconciled', report);
  return report;
}

type Settled<Value> = { readonly value: Value } | { readonly error: unknown };

/** The outcome of work that is awaited later. Until then its error would be unhandled. */
async function outcomeOf<Value>(work: Promise<Value>): Promise<Settled<Value>> {
  try {
    return { value: await work };
  } catch (error) {
    return { error };
  }
}

/** An event without a status, or with any input, names no creation and must not fail. */
function askedBy({ detail }: ReconcileEvent): Asked {
  if (detail?.status === undefined && detail?.input === undefined) return { kind: 'due' };
  const payload = parsed(detail.input ?? 'null');
  const named =
    typeof payload === 'object' && payload !== null && 'creation_id' in payload
      ? payload.creation_id
      : undefined;
  const id = typeof named === 'string' ? parseCreationId(named) : undefined;
  return id ? { kind: 'creation', id, execution: detail.name } : { kind: 'nothing' };
}

/** The value of a JSON text; undefined for any other text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param asked.execution the name of the execution that ended */
async function reconcileEnded(
  { id, execution }: Extract<Asked, { readonly kind: 'creation' }>,
  services: ReconcileServices,
): Promise<Tally> {
  const single = { ...services, starts: atOnce, questions: atOnce };
  const tally = { looked: 1, started: 0, refunded: 0 };
  const [creation] = await services.creations.readAll([id]);
  if (creation?.dueAt === undefined || creation.recoveries >= mostEventRecoveries) return tally;
  const isOver = execution === executionName(id, creation.executions);
  const step = (isOver ? stepAfterEnd : nextStep)(creation, services.clock.now());
  const action = await recover(creation, step, single);
  // The webhook of a creation that was refunded is due a little later, by the schedule.
  return {
    ...tally,
    ...(action === 'started' && { started: 1 }),
    ...((action === 'refunded' || action === 'announce') && { refunded: 1 }),
  };
}
