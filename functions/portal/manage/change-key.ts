import { editedKey, type KeyEdit } from '../../../core/api-keys.ts';
import { keyView } from '../../../core/portal/key-view.ts';
import { keyVersion } from '../../../core/portal/version.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import { parseBody } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { changedMeanwhile } from '../http/portal-problems.ts';
import { checkOwnCap, keyChangeSchema, limitProblems, limitsOf, readKey } from './key-body.ts';

/**
 * PATCH /keys/{id}: changes what the body names, and null removes a limit. It holds from the next request of the key
 * on. A person with a cap of their own may rename a key that is above it, and no more.
 */
export const changeKey: PortalHandle<'changeKey', ManageServices> = async (request, caller, services) => {
  const nowMillis = services.clock.now();
  const catalog = await services.catalogs.latest();
  const body = parseBody(request, keyChangeSchema, (given) =>
    limitProblems(given, caller.account, { catalog, nowMillis }),
  );
  const read = await readKey(caller.account, request.pathId, services.keys);
  if (read.revokedAt !== undefined || keyVersion(read) !== body.version) throw changedMeanwhile();
  const limits = limitsOf(body);
  const edit: KeyEdit = { ...limits, ...(body.name !== undefined && { name: body.name }) };
  const next = editedKey(read, edit);
  if (Object.keys(limits).length > 0) checkOwnCap(caller.member, next);
  if (Object.keys(edit).length > 0 && !(await services.keys.change(read, edit))) throw changedMeanwhile();
  return { status: 200, body: keyView(next, nowMillis), logged: { note: Object.keys(edit).join(', ') } };
};
