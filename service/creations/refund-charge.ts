/**
 * RefundCharge, a state of the execution: fails the creation with its message and gives the charge back,
 * once.
 */
import { failureNamed } from '../contract/failures.ts';
import { idsOf } from './log-ids.ts';
import type { RefundServices } from './open-refund.ts';
import { creationIdOf, type Payload, Remedy } from './payload.ts';
import { refundCreation } from './refund-creation.ts';

/** Throws RefundBusy when the table was too busy: the state machine tries again. */
export async function refundCharge(payload: Payload, services: RefundServices): Promise<Payload> {
  const creation = await services.creations.read(creationIdOf(payload));
  const done = { creation_id: payload.creation_id };
  // After the table was restored from a backup, executions may exist whose creation is not in the table.
  if (!creation) return done;
  const refund = { failure: failureNamed(payload.failure?.Error ?? ''), announce: true };
  const ids = idsOf(creation);
  if ((await refundCreation(creation, refund, ids, services)) === 'busy') {
    services.log.info('refund_busy', ids);
    throw new Remedy('RefundBusy', 'the table was too busy to refund the charge');
  }
  return done;
}
