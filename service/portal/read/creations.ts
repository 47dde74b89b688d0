/** The creations of an account, and the models that it may order. */
import { isUser } from '../../accounts/end-user.ts';
import { playgroundKeyId, playgroundName } from '../../accounts/key-changes.ts';
import { creationNotFound } from '../../api/problems.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { CreationQuery } from '../../creations/creation-reads.ts';
import { creationStatuses } from '../../creations/creation.ts';
import { type AccountId, type KeyId, parseCreationId, parseKeyId } from '../../values/ids.ts';
import { creationDetail, creationRow } from '../creation-view.ts';

import { modelViews } from '../model-view.ts';
import type { ReadHandle, ReadServices, TabHandle } from './open.ts';
import { choiceOf, cursorWords, dayIn, oneOf, parametersOf } from '../../operated/parameters.ts';

/** GET /creations: the newest first; ?limit, ?cursor, ?status, ?model, ?key, ?user and ?day. */
export const listPortalCreations: TabHandle<'listPortalCreations'> = async (
  request,
  { account, nowMillis },
  { creations, reads, results },
) => {
  const query = queryOf(request);
  const [page, keyNames] = await Promise.all([
    creations.page(account.id, query),
    keyNamesFor(query, account.id, reads),
  ]);
  const showing = { keyNames, addressOf: await results.of(page.creations), nowMillis };
  const data = page.creations.map((creation) => creationRow(creation, showing));
  return { status: 200, body: { data, next_cursor: page.next ?? null } };
};

/** The playground shows its own creations alone, and needs no name of another key. */
async function keyNamesFor(
  { keyId }: CreationQuery,
  account: AccountId,
  reads: Pick<ReadServices['reads'], 'keys'>,
): Promise<ReadonlyMap<KeyId, string>> {
  if (keyId === playgroundKeyId) return new Map([[keyId, playgroundName]]);
  return new Map((await reads.keys(account)).map(({ id, name }) => [id, name]));
}

function queryOf(request: ApiRequest): CreationQuery {
  const parameters = parametersOf(request);
  const before = parameters.read('cursor', parseCreationId, cursorWords);
  const status = parameters.read('status', oneOf(creationStatuses), choiceOf(creationStatuses));
  const model = parameters.read('model', notEmpty, 'must be the id of a model');
  const keyId = parameters.read('key', parseKeyId, 'must be the id of a key');
  const user = parameters.read('user', userIn, 'must be the user of a creation');
  const day = parameters.read('day', dayIn, 'must be a UTC day, such as 2026-11-21');
  const limit = parameters.limit();
  parameters.check();
  return {
    limit,
    ...(before && { before }),
    ...(status && { status }),
    ...(model !== undefined && { model }),
    ...(keyId && { keyId }),
    ...(user !== undefined && { user }),
    ...(day !== undefined && { day }),
  };
}

function notEmpty(text: string): string | undefined {
  return text === '' ? undefined : text;
}

function userIn(text: string): string | undefined {
  return isUser(text) ? text : undefined;
}

export const getPortalCreation: ReadHandle<'getPortalCreation'> = async (
  { pathId },
  { account, nowMillis },
  { creations, deliveries, reads, results },
) => {
  const id = parseCreationId(pathId);
  const creation = id && (await creations.read(id));
  if (creation?.accountId !== account.id) throw creationNotFound();
  const [attempts, keys] = await Promise.all([deliveries.ofCreation(creation), reads.keys(account.id)]);
  const keyNames = new Map(keys.map(({ id: key, name }) => [key, name]));
  const showing = { keyNames, addressOf: await results.of([creation]), nowMillis };
  return { status: 200, body: creationDetail(creation, attempts, showing) };
};

export const listPortalModels: ReadHandle<'listPortalModels'> = async (
  _request,
  { account, nowMillis },
  { catalogs, reads },
) => {
  const standing = await reads.service();
  const catalog = await catalogs.at(standing.catalogRevision);
  const data = modelViews(catalog, account.policy, standing, nowMillis);
  return { status: 200, body: { data, next_cursor: null } };
};
