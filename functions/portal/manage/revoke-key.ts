import { keyView } from '../../../core/portal/key-view.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import type { PortalHandle } from '../http/caller.ts';
import { noSuchKey, readKey } from './key-body.ts';

/** DELETE /keys/{id}: the key is dead at its next request. A repetition keeps the time of the first one. */
export const revokeKey: PortalHandle<'revokeKey', ManageServices> = async (request, caller, services) => {
  const { id } = await readKey(caller.account, request.pathId, services.keys);
  const nowMillis = services.clock.now();
  const at = new Date(nowMillis).toISOString();
  if (!(await services.keys.revoke(caller.account.id, id, at))) throw noSuchKey();
  const revoked = await readKey(caller.account, id, services.keys);
  return { status: 200, body: keyView(revoked, nowMillis), logged: { note: revoked.name } };
};
