/** API keys of accounts in the operator API. A key has the power of its account's wallet. */
import * as z from 'zod/mini';
import type { Account, ApiKey } from '../accounts/account.ts';
import {
  editedKey,
  isPlayground,
  isUsable,
  type KeyEdit,
  limitsToKeep,
  newKey,
  playgroundKeyId,
  replacedUntil,
  rollMillis,
  type RollTime,
} from '../accounts/key-changes.ts';
import { keyVersion } from '../accounts/version.ts';
import { parseBody, shownText, version } from '../operated/body.ts';
import { keyLimitProblems, keyLimits, keyLimitsOf, tooManyKeys } from '../operated/key-body.ts';
import { keyView } from '../operated/key-view.ts';
import { cursorWords, fromCursor, parametersOf, toCursor } from '../operated/parameters.ts';
import { parseAccountId, parseKeyId } from '../values/ids.ts';
import {
  accountOf,
  changedMeanwhile,
  changing,
  conflict,
  notFound,
  type OperatorContext,
  pageOf,
  reading,
} from './context.ts';

const newKeySchema = z.strictObject({ name: shownText('name'), ...keyLimits });
const keyChangeSchema = z.strictObject({
  name: z.optional(shownText('name')),
  ...keyLimits,
  version: z.optional(version),
});
const rollSchema = z.strictObject({
  ends_in: z.enum(Object.keys(rollMillis) as [RollTime, ...RollTime[]]),
});

/** The key that the path names, of the account that the path names. Throws 404. */
async function keyOf({ id }: Account, { params, services }: OperatorContext): Promise<ApiKey> {
  const keyId = parseKeyId(params['key'] ?? '');
  const key =
    keyId === undefined || keyId === playgroundKeyId ? undefined : await services.keys.read(id, keyId);
  if (!key) throw notFound();
  return key;
}

async function shownKey(made: string, { services, nowMillis }: OperatorContext) {
  const [account = '', key = '', until] = made.split(' ');
  const [accountId, keyId] = [parseAccountId(account), parseKeyId(key)];
  const found = accountId && keyId && (await services.keys.read(accountId, keyId));
  if (!found) throw notFound();
  return {
    ...keyView(found, nowMillis),
    // Only the hash is kept.
    key: null,
    ...(until !== undefined && { replaced_until: until }),
  };
}

function keyRevoked(): Error {
  return conflict('key_revoked', 'The key was revoked or has expired. Nothing was changed.');
}

export const listKeys = reading(async (context) => {
  const { request, services, nowMillis } = context;
  const parameters = parametersOf(request);
  const limit = parameters.limit();
  const after = parameters.read('cursor', (text) => parseKeyId(String(fromCursor(text))), cursorWords);
  parameters.check();
  const { id } = await accountOf(context);
  const found = (await services.accounts.listKeys(id)).filter((key) => !isPlayground(key));
  const rows = found.filter((key) => after === undefined || key.id > after);
  return pageOf(
    rows,
    limit,
    (key) => keyView(key, nowMillis),
    (key) => toCursor(key.id),
  );
});

export const getKey = reading(async (context) => ({
  status: 200,
  body: keyView(await keyOf(await accountOf(context), context), context.nowMillis),
}));

/** Only this answer has the text of the key. */
export const createKey = changing({
  body: async (context) => {
    const { services, nowMillis } = context;
    const account = await accountOf(context);
    const catalog = await services.catalogs.latest();
    return parseBody(context.request, newKeySchema, (given) =>
      keyLimitProblems(given, account, { catalog, nowMillis }),
    );
  },
  run: async (body, context) => {
    const { services, nowMillis } = context;
    const { id } = await accountOf(context);
    const { record, key } = newKey(id, { name: body.name, ...keyLimitsOf(body) }, services);
    await context.noteIn(id, `key ${record.id}: ${record.name}`);
    const outcome = await services.keys.create(record, context.remembers(`${id} ${record.id}`, 201));
    if (outcome !== 'created') await context.throwIfRepeated();
    if (outcome === 'too_many') throw tooManyKeys();
    if (outcome === 'id_taken') throw new Error('the id drawn for the key is taken');
    return { status: 201, body: { ...keyView(record, nowMillis), key } };
  },
  show: shownKey,
});

const mostTries = 5;

export const changeKey = changing({
  body: async (context) => {
    const { services, nowMillis } = context;
    const account = await accountOf(context);
    const catalog = await services.catalogs.latest();
    return parseBody(context.request, keyChangeSchema, (given) => [
      ...keyLimitProblems(given, account, { catalog, nowMillis }),
      Object.keys(given).every((one) => one === 'version')
        ? { field: 'body', code: 'required', message: 'must name something to change' }
        : undefined,
    ]);
  },
  run: async (body, context) => {
    const account = await accountOf(context);
    const { services, nowMillis } = context;
    const edit: KeyEdit = { ...keyLimitsOf(body), ...(body.name !== undefined && { name: body.name }) };
    await context.noteIn(account.id, `key ${context.params['key'] ?? ''}: ${Object.keys(edit).join(', ')}`);
    for (let tried = 1; ; tried += 1) {
      const read = await keyOf(account, context);
      if (read.revokedAt !== undefined) throw keyRevoked();
      const isOther = body.version !== undefined && body.version !== keyVersion(read);
      if (isOther || tried > mostTries) throw changedMeanwhile(keyVersion(read));
      if (await services.keys.change(read, edit))
        return { status: 200, body: keyView(editedKey(read, edit), nowMillis) };
    }
  },
});

/** A new key like the old one, whose end is near. Both happen, or neither. */
export const rollKey = changing({
  body: ({ request }) => parseBody(request, rollSchema),
  run: async (body, context) => {
    const { services, nowMillis } = context;
    const account = await accountOf(context);
    const read = await keyOf(account, context);
    if (!isUsable(read, nowMillis)) throw keyRevoked();
    const next = newKey(account.id, { name: read.name, ...limitsToKeep(read) }, services);
    const until = replacedUntil(read, body.ends_in, nowMillis);
    await context.noteIn(account.id, `key ${read.id} until ${until}, new key ${next.record.id}`);
    const remembers = context.remembers(`${account.id} ${next.record.id} ${until}`, 201);
    const outcome = await services.keys.roll(read, next.record, until, remembers);
    if (outcome !== 'rolled') await context.throwIfRepeated();
    if (outcome === 'too_many') throw tooManyKeys();
    if (outcome === 'changed') throw changedMeanwhile(keyVersion(await keyOf(account, context)));
    return {
      status: 201,
      body: { ...keyView(next.record, nowMillis), key: next.key, replaced_until: until },
    };
  },
  show: shownKey,
});

/** The key is dead at its next request. A repetition keeps the time of the first one. */
export const revokeKey = changing({
  // Any body is ignored: nothing but the path matters.
  body: () => null,
  run: async (_body, context) => {
    const { services, nowMillis } = context;
    const account = await accountOf(context);
    const { id } = await keyOf(account, context);
    await context.noteIn(account.id, `key ${id} revoked`);
    const at = new Date(nowMillis).toISOString();
    const remembers = context.remembers(`${account.id} ${id}`, 200);
    if ((await services.keys.revokeWith(account.id, id, at, remembers)) === 'refused') {
      await context.throwIfRepeated();
      throw notFound();
    }
    return { status: 200, body: keyView(await keyOf(account, context), nowMillis) };
  },
  show: async (_made, context) => keyView(await keyOf(await accountOf(context), context), context.nowMillis),
});
