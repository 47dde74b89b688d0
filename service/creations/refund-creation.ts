/** The only entrance to the refund. */
import { failureNamed } from '../contract/failures.ts';
import type { CommonServices } from '../platform/common.ts';
import type { Charges } from './charge-store.ts';
import type { Refund } from './refund.ts';
import { type CreationRecord, idsOf, isStoppedByCancel } from './creation.ts';
import type { RefundServices } from './open-refund.ts';
import { creationIdOf, type Payload, WorkflowError, requireKnownRelease } from './payload.ts';

/**
 * Fails the creation, gives its charge back and says so in the log, once however often it is called. A creation
 * whose job was stopped by a cancel fails as cancelled, whatever else the caller says.
 * Throws NewerRelease when this code does not understand the record.
 * @param ids the fields by which the log line names the creation
 */
export async function refundCreation(
  creation: CreationRecord,
  { failure: given, announce }: Pick<Refund, 'failure' | 'announce'>,
  ids: Readonly<Record<string, string>>,
  { charges, clock, log, schema }: CommonServices & { readonly charges: Charges },
): ReturnType<Charges['refund']> {
  requireKnownRelease(creation, { schema });
  const isCancelled = isStoppedByCancel(creation);
  const failure = isCancelled ? 'InternalFailure' : given;
  const outcome = await charges.refund(creation, {
    failure,
    nowMillis: clock.now(),
    announce,
    ...(isCancelled && { isCancelled }),
  });
  if (outcome === 'refunded') {
    const reason = isCancelled ? 'Cancelled' : failure;
    log.info('creation_failed', { ...ids, failure: reason, refundedMicros: creation.costMicros });
  }
  return outcome;
}

// RefundCharge, a state of the execution: fails the creation with its message and refunds the charge,
// once.

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
    throw new WorkflowError('RefundBusy', 'the table was too busy to refund the charge');
  }
  return done;
}
