import { parseCreationId, timeOfUuidV7 } from '../../../core/ids.ts';
import { deliveryRow } from '../../../core/portal/delivery-view.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';
import { choiceOf, cursorWords, oneOf, parametersOf } from './parameters.ts';

const outcomes = ['delivered', 'failed', 'unknown'] as const;

/** GET /deliveries: the newest first; ?limit, ?cursor, ?outcome and ?creation. */
export const listDeliveries: PortalHandle<'listDeliveries', ReadServices> = async (
  request,
  { account },
  { deliveries },
) => {
  const parameters = parametersOf(request);
  const after = parameters.read('cursor', deliveryIn, cursorWords);
  const outcome = parameters.read('outcome', oneOf(outcomes), choiceOf(outcomes));
  const creationId = parameters.read('creation', parseCreationId, 'must be the id of a creation');
  const limit = parameters.limit();
  parameters.check();
  const page = await deliveries.page(account.id, {
    limit,
    ...(after !== undefined && { after }),
    ...(outcome && { outcome }),
    ...(creationId && { creationId }),
  });
  const data = page.deliveries.map(deliveryRow);
  return { status: 200, body: { data, next_cursor: page.next ?? null } };
};

function deliveryIn(text: string): string | undefined {
  return timeOfUuidV7(text) === undefined ? undefined : text;
}
