/** The start of a charged creation: one Step Functions execution. */
import { notStarted } from '../api/problems.ts';
import type { CreationRecord } from '../creations/creation.ts';
import { refundCreation } from '../creations/refund-creation.ts';
import { lookQuietly, placeOf } from '../notices/check-thresholds.ts';
import { executionName } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import type { SubmitServices } from './open.ts';

type StartServices = Pick<
  SubmitServices,
  | 'charges'
  | 'clock'
  | 'creations'
  | 'executions'
  | 'log'
  | 'noticeExecutions'
  | 'notices'
  | 'randomBytes'
  | 'schema'
>;

/**
 * 'left': the start was refused, but the creation stands; the reconciler starts it, or gives the charge back.
 * Throws 503 when the start was refused for good and the charge was given back.
 */
export async function startCreation(
  creation: CreationRecord,
  services: StartServices,
): Promise<'started' | 'left'> {
  const { id: creationId, accountId, model, costMicros } = creation;
  const executionId = executionName(creationId, 1);
  const [started] = await Promise.all([
    services.executions.start(creation, 1),
    services.charges.countStart(creationId),
  ]);
  if (started !== 'refused') {
    // 'unclear' counts as started: the reconciler checks a creation that no execution has taken up.
    const acceptMillis = services.clock.now() - Date.parse(creation.createdAt);
    const fields = { creationId, accountId, executionId, model, costMicros, started, acceptMillis };
    services.log.info('creation_accepted', fields);
    if (started === 'unclear') services.log.info('start_unclear', { creationId, accountId, executionId });
    return 'started';
  }
  services.log.alarm('start_refused', { creationId, executionId });
  if (!(await isGivenBack(creation, services))) return 'left';
  throw notStarted(creationId);
}

/**
 * Reverses the charge. False when the creation stands: the table was too busy for the refund, the outcome of
 * the refund is unknown, or an earlier try of the start, whose answer was lost, started an execution that
 * completed the creation.
 */
async function isGivenBack(creation: CreationRecord, services: StartServices): Promise<boolean> {
  try {
    const refund = { failure: 'ServiceUnavailable', announce: false } as const;
    const outcome = await refundCreation(creation, refund, { creationId: creation.id }, services);
    if (outcome === 'refunded' && creation.isWatched) await lookQuietly(placeOf(creation), services);
    if (outcome !== 'already_terminal') return outcome === 'refunded';
    return (await services.creations.read(creation.id))?.status === 'failed';
  } catch (error) {
    services.log.info('refund_unclear', { creationId: creation.id, error: errorName(error) });
    return false;
  }
}
