/** Keys, as the members of an account create, change, roll and revoke them. */
import * as z from 'zod/mini';
import type { Account, ApiKey } from '../../accounts/account.ts';
import {
  editedKey,
  isUsable,
  type KeyEdit,
  limitsToKeep,
  newKey,
  playgroundKeyId,
  replacedUntil,
  rollMillis,
  type RollTime,
} from '../../accounts/key-changes.ts';
import type { KeyStore } from '../../accounts/key-store.ts';
import { keyVersion } from '../../accounts/version.ts';
import type { CreatedKeyView } from '../../contract/portal-views.ts';
import { parseKeyId } from '../../values/ids.ts';
import { formatUsd } from '../../values/money.ts';
import { invalidRequest } from '../../values/problem.ts';
import { parseBody, shownText, version } from '../../operated/body.ts';
import { keyLimitProblems, keyLimits, keyLimitsOf, tooManyKeys } from '../../operated/key-body.ts';

import { changedMeanwhile } from '../http/portal-request.ts';
import { keyNotFound, keyView } from '../../operated/key-view.ts';
import type { Member } from '../people.ts';
import type { ManageHandle } from './open.ts';

const newKeySchema = z.strictObject({ name: shownText('name'), ...keyLimits });
const keyChangeSchema = z.strictObject({ name: z.optional(shownText('name')), ...keyLimits, version });

/** Throws 400 when the person's own cap does not allow the key, whose monthly cap must be within it. */
function checkOwnCap({ role, keyCapMicros }: Member, key: Pick<ApiKey, 'monthlyCapMicros'>): void {
  if (role === 'owner' || keyCapMicros === undefined) return;
  if (key.monthlyCapMicros !== undefined && key.monthlyCapMicros <= keyCapMicros) return;
  const message = `must be at most ${formatUsd(keyCapMicros)}, your own limit for keys`;
  throw invalidRequest([{ field: 'monthly_cap', code: 'over_own_cap', message }]);
}

/** The key that the path names. Throws 404 when the account has no such key that people manage. */
async function readKey(
  { id }: Pick<Account, 'id'>,
  pathId: string,
  keys: Pick<KeyStore, 'read'>,
): Promise<ApiKey> {
  const keyId = parseKeyId(pathId);
  const key = keyId === undefined || keyId === playgroundKeyId ? undefined : await keys.read(id, keyId);
  if (!key) throw keyNotFound();
  return key;
}

/** PATCH /keys/{id}: changes what the body names. A key above the person's own cap is only renamed. */
export const changeKey: ManageHandle<'changeKey'> = async (request, caller, services) => {
  const nowMillis = services.clock.now();
  const catalog = await services.catalogs.latest();
  const body = parseBody(request, keyChangeSchema, (given) =>
    keyLimitProblems(given, caller.account, { catalog, nowMillis }),
  );
  const read = await readKey(caller.account, request.pathId, services.keys);
  if (read.revokedAt !== undefined || keyVersion(read) !== body.version) throw changedMeanwhile();
  const limits = keyLimitsOf(body);
  const edit: KeyEdit = { ...limits, ...(body.name !== undefined && { name: body.name }) };
  const next = editedKey(read, edit);
  if (Object.keys(limits).length > 0) checkOwnCap(caller.member, next);
  if (Object.keys(edit).length > 0 && !(await services.keys.change(read, edit))) throw changedMeanwhile();
  return { status: 200, body: keyView(next, nowMillis), logged: { note: Object.keys(edit).join(', ') } };
};

/** POST /keys. Only this answer has the key. A person who loses the key makes a new one and revokes the old one. */
export const createKey: ManageHandle<'createKey'> = async (request, caller, services) => {
  const nowMillis = services.clock.now();
  const catalog = await services.catalogs.latest();
  const body = parseBody(request, newKeySchema, (given) =>
    keyLimitProblems(given, caller.account, { catalog, nowMillis }),
  );
  const { record, key } = newKey(caller.account.id, { name: body.name, ...keyLimitsOf(body) }, services);
  checkOwnCap(caller.member, record);
  const outcome = await services.keys.create(record);
  if (outcome === 'too_many') throw tooManyKeys();
  if (outcome === 'id_taken') throw new Error('the id drawn for the key is taken');
  const view: CreatedKeyView = { key, record: keyView(record, nowMillis) };
  return { status: 201, body: view, logged: { target: record.id, note: record.name } };
};

/** DELETE /keys/{id}: the key is dead at its next request. A repetition keeps the time of the first one. */
export const revokeKey: ManageHandle<'revokeKey'> = async (request, caller, services) => {
  const { id } = await readKey(caller.account, request.pathId, services.keys);
  const nowMillis = services.clock.now();
  const at = new Date(nowMillis).toISOString();
  if (!(await services.keys.revoke(caller.account.id, id, at))) throw keyNotFound();
  const revoked = await readKey(caller.account, id, services.keys);
  return { status: 200, body: keyView(revoked, nowMillis), logged: { note: revoked.name } };
};

const rollSchema = z.strictObject({
  old_key_ends_in: z.enum(Object.keys(rollMillis) as [RollTime, ...RollTime[]]),
});

/** POST /keys/{id}/roll: a new key like the old one, whose end is near. Both happen, or neither. */
export const rollKey: ManageHandle<'rollKey'> = async (request, caller, services) => {
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
