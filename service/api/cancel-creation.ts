import { cancelCreation as cancel } from '../creations/cancel.ts';
import { creationView } from '../creations/creation.ts';
import { idsOf } from '../creations/log-ids.ts';
import type { CancelApiServices } from './open-cancel.ts';
import { creationNotFound, notCancellable } from './problems.ts';
import { checkQuery } from './request.ts';
import type { Handle } from './serve.ts';

/**
 * POST /creations/{id}/cancel: fails the creation as cancelled and gives its charge back. A repetition gets the
 * same answer, so an Idempotency-Key is not read. The body is not read either.
 */
export const cancelCreation: Handle<CancelApiServices> = async (request, caller, services) => {
  checkQuery(request, 'cancelCreation');
  const { creation } = caller.state;
  // Another account's creation and an absent one are the same answer, byte for byte.
  if (creation?.accountId !== caller.account.id) throw creationNotFound();
  // A cancelled creation must not be answered with 429.
  await caller.place.take();
  const outcome = await cancel(creation, idsOf(creation), services);
  if (outcome.kind === 'not_cancellable') throw notCancellable(outcome.creation);
  return {
    status: 200,
    body: creationView(outcome.creation, services.resultsBaseUrl, services.clock.now()),
  };
};
