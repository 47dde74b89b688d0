import * as z from 'zod/mini';
import {
  isUsable,
  limitsToKeep,
  newKey,
  replacedUntil,
  rollMillis,
  type RollTime,
} from '../../../core/api-keys.ts';
import { keyView } from '../../../core/portal/key-view.ts';
import type { CreatedKeyView } from '../../../core/portal/views.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import { parseBody } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { changedMeanwhile } from '../http/portal-problems.ts';
import { checkOwnCap, readKey, tooManyKeys } from './key-body.ts';

const rollSchema = z.strictObject({
  old_key_ends_in: z.enum(Object.keys(rollMillis) as [RollTime, ...RollTime[]]),
});

/**
 * POST /keys/{id}/roll: a new key with the same name and limits, and a near end for the old one. Both happen, or
 * neither. The new key has spent nothing. After a lost answer the old key has its new end, and a repetition makes
 * another new key.
 */
export const rollKey: PortalHandle<'rollKey', ManageServices> = async (request, caller, services) => {
  const { old_key_ends_in: endsIn } = parseBody(request, rollSchema);
  const read = await readKey(caller.account, request.pathId, services.keys);
  const nowMillis = services.clock.now();
  if (!isUsable(read, nowMillis)) throw changedMeanwhile();
  checkOwnCap(caller.member, read);
  const next = newKey(caller.account.id, { name: read.name, ...limitsToKeep(read) }, services);
  const until = replacedUntil(read, endsIn, nowMillis);
  const outcome = await services.keys.roll(read, next.record, until);
  if (outcome === 'too_many') throw tooManyKeys();
  if (outcome === 'changed') throw changedMeanwhile();
  const view: CreatedKeyView = {
    key: next.key,
    record: keyView(next.record, nowMillis),
    replaced_until: until,
  };
  return { status: 201, body: view, logged: { note: `new key ${next.record.id}, old one until ${until}` } };
};
