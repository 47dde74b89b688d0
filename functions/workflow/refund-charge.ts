/**
 * RefundCharge, a state of the execution: fails the creation with its message and gives the charge back,
 * once.
 */
import { failureNamed } from '../../core/failure.ts';
import { lambdaHandler } from '../lambda-handler.ts';
import { idsOf } from '../log-with.ts';
import { refundCreation } from '../refund.ts';
import { openRefund, type RefundServices } from '../services/refund.ts';
import { base, dynamodb } from '../services/lambda.ts';
import { creationIdOf, Remedy, type Payload } from './payload.ts';

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

export const handler = lambdaHandler(() => openRefund({ ...base(), dynamodb: dynamodb() }), refundCharge);
