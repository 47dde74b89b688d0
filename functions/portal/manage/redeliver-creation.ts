import { reopenWebhook } from '../../../core/webhook-operations.ts';
import { parseCreationId } from '../../../core/ids.ts';
import { Problem } from '../../../core/problem.ts';
import { creationNotFound } from '../../http/problems.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import type { PortalHandle } from '../http/caller.ts';

/** POST /creations/{id}/redeliver: a new round of attempts with the same body. */
export const redeliverCreation: PortalHandle<'redeliverCreation', ManageServices> = async (
  request,
  caller,
  services,
) => {
  const id = parseCreationId(request.pathId);
  const creation = id && (await services.creations.read(id));
  if (creation?.accountId !== caller.account.id) throw creationNotFound();
  switch (await reopenWebhook(creation, services)) {
    case 'started':
      return { status: 202, body: { redelivered: 1, has_more: false } };
    case 'no_webhook':
      throw notRedelivered('no_webhook', 'The creation has no webhook.');
    case 'still_pending':
      throw notRedelivered('still_pending', 'The webhook waits for its next attempt already.');
  }
};

function notRedelivered(reason: string, message: string): Problem {
  return new Problem('ERR_INVALID_REQUEST', message, { reason, errors: [] });
}
