/** The only entrance to the refund. */
import type { CommonServices } from '../platform/common.ts';
import type { Charges, Refund } from './charges.ts';
import { type CreationRecord, isStoppedByCancel } from './creation.ts';
import { requireKnownRelease } from './payload.ts';

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
    const told = isCancelled ? 'Cancelled' : failure;
    log.info('creation_failed', { ...ids, failure: told, refundedMicros: creation.costMicros });
  }
  return outcome;
}
