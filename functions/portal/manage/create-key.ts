import { newKey } from '../../../core/api-keys.ts';
import { keyView } from '../../../core/portal/key-view.ts';
import type { CreatedKeyView } from '../../../core/portal/views.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import { parseBody } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { checkOwnCap, limitProblems, limitsOf, newKeySchema, tooManyKeys } from './key-body.ts';

/**
 * POST /keys. Only this answer has the key. A person who lost the answer makes another key and revokes the one that
 * nobody saw; the list shows it as never used.
 */
export const createKey: PortalHandle<'createKey', ManageServices> = async (request, caller, services) => {
  const nowMillis = services.clock.now();
  const catalog = await services.catalogs.latest();
  const body = parseBody(request, newKeySchema, (given) =>
    limitProblems(given, caller.account, { catalog, nowMillis }),
  );
  const { record, key } = newKey(caller.account.id, { name: body.name, ...limitsOf(body) }, services);
  checkOwnCap(caller.member, record);
  const outcome = await services.keys.create(record);
  if (outcome === 'too_many') throw tooManyKeys();
  if (outcome === 'id_taken') throw new Error('the id drawn for the key is taken');
  const view: CreatedKeyView = { key, record: keyView(record, nowMillis) };
  return { status: 201, body: view, logged: { target: record.id, note: record.name } };
};
