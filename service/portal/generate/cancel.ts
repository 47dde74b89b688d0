import { creationNotFound, notCancellable } from '../../api/problems.ts';
import { cancelCreation } from '../../creations/cancel.ts';
import { creationView, idsOf } from '../../creations/creation.ts';
import { noAddresses } from '../../creations/result-addresses.ts';
import { parseCreationId } from '../../values/ids.ts';
import type { PortalHandle } from '../http/caller.ts';
import type { PortalHandlers } from '../http/serve-portal.ts';
import type { PortalCancelServices } from './open.ts';

/** POST /creations/{id}/cancel: as in the API. A repetition gets the same answer. */
const cancelPortalCreation: PortalHandle<'cancelPortalCreation', PortalCancelServices> = async (
  request,
  caller,
  services,
) => {
  const id = parseCreationId(request.pathId);
  const creation = id && (await services.creations.read(id));
  // Another account's creation and an absent one are the same answer, byte for byte.
  if (creation?.accountId !== caller.account.id) throw creationNotFound();
  const outcome = await cancelCreation(creation, idsOf(creation), services);
  if (outcome.kind === 'not_cancellable') throw notCancellable(outcome.creation);
  return { status: 200, body: creationView(outcome.creation, noAddresses, services.clock.now()) };
};

/** The Lambda function that cancels a creation. It alone may read the keys of the vendors that stop jobs. */
export const cancelHandlers: PortalHandlers<'cancel', PortalCancelServices> = { cancelPortalCreation };
