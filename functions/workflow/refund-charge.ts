/** RefundCharge: fails the creation with its message and gives the charge back, once. */
import type { Context } from 'aws-lambda';
import { failureNamed } from '../../core/failure.ts';
import { idsOf, logWith } from '../log-with.ts';
import { refundServices, type RefundServices } from '../services.ts';
import { creationIdOf, Remedy, type Payload } from './payload.ts';

export async function refundCharge(payload: Payload, services: RefundServices): Promise<Payload> {
  const creation = await services.creations.read(creationIdOf(payload));
  const done = { creation_id: payload.creation_id };
  // After a restore of the table there may be executions whose creation is not there.
  if (!creation) return done;
  const failure = failureNamed(payload.failure?.Error ?? '');
  const outcome = await services.charges.refund(creation, {
    failure,
    nowMillis: services.clock.now(),
    announce: true,
  });
  const ids = idsOf(creation);
  if (outcome === 'busy') {
    services.log.info('refund_busy', ids);
    throw new Remedy('RefundBusy', 'the table was too busy to refund the charge');
  }
  if (outcome === 'refunded')
    services.log.info('creation_failed', { ...ids, failure, refundedMicros: creation.costMicros });
  return done;
}

const services = refundServices();

export const handler = async (payload: Payload, { awsRequestId: requestId }: Context): Promise<Payload> =>
  refundCharge(payload, logWith(services, { requestId }));
