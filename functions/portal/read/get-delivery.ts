import type { AccountId } from '../../../core/ids.ts';
import { deliveryDetail, isTest } from '../../../core/portal/delivery-view.ts';
import type { Delivery } from '../../../core/ports/deliveries.ts';
import { Problem } from '../../../core/problem.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';

/** GET /deliveries/{id}: the attempt with the exact body that was sent, and what came back. */
export const getDelivery: PortalHandle<'getDelivery', ReadServices> = async (
  { pathId },
  { account },
  services,
) => {
  const delivery = await services.deliveries.find(account.id, pathId);
  if (!delivery) throw new Problem('ERR_NOT_FOUND', 'There is no delivery with this id.');
  const { body, canRedeliver } = await ownerOf(account.id, delivery, services);
  return { status: 200, body: deliveryDetail(delivery, body, canRedeliver) };
};

interface Owner {
  readonly body: string | undefined;
  readonly canRedeliver: boolean;
}

/** The creation or the notice keeps the body, which is the same in every attempt. */
async function ownerOf(
  account: AccountId,
  delivery: Delivery,
  { creations, reads }: ReadServices,
): Promise<Owner> {
  const { creationId, noticeId } = delivery;
  if (noticeId !== undefined) return { body: await reads.noticeBody(account, noticeId), canRedeliver: false };
  if (creationId === undefined || isTest(delivery)) return { body: undefined, canRedeliver: false };
  const webhook = (await creations.read(creationId))?.webhook;
  return { body: webhook?.body, canRedeliver: webhook !== undefined && webhook.status !== 'pending' };
}
