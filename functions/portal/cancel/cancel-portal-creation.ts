import { cancelCreation } from '../../../core/cancellation.ts';
import { creationView } from '../../../core/creation.ts';
import { parseCreationId } from '../../../core/ids.ts';
import { creationNotFound, notCancellable } from '../../http/problems.ts';
import { idsOf } from '../../log-with.ts';
import type { PortalCancelServices } from '../../services/portal-cancel.ts';
import type { PortalHandle } from '../http/caller.ts';

/** POST /creations/{id}/cancel: as in the API. A repetition gets the same answer. */
export const cancelPortalCreation: PortalHandle<'cancelPortalCreation', PortalCancelServices> = async (
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
  const { resultsBaseUrl } = services.settings;
  return { status: 200, body: creationView(outcome.creation, resultsBaseUrl, services.clock.now()) };
};
