/** The only entrance to the refund. */
import type { CreationRecord } from '../core/creation.ts';
import type { ChargeStore, Refund } from '../core/ports/charges.ts';
import type { CommonServices } from './services/clients.ts';
import { requireKnownRelease } from './workflow/payload.ts';

/**
 * Fails the creation, gives its charge back and says so in the log, once however often it is called.
 * Throws NewerRelease when this code does not understand the record.
 * @param ids the fields by which the log line names the creation
 */
export async function refundCreation(
  creation: CreationRecord,
  { failure, announce }: Omit<Refund, 'nowMillis'>,
  ids: Readonly<Record<string, string>>,
  { charges, clock, log }: CommonServices & { readonly charges: ChargeStore },
): ReturnType<ChargeStore['refund']> {
  requireKnownRelease(creation);
  const outcome = await charges.refund(creation, { failure, nowMillis: clock.now(), announce });
  if (outcome === 'refunded') {
    log.info('creation_failed', { ...ids, failure, refundedMicros: creation.costMicros });
  }
  return outcome;
}
