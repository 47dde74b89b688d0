import { creationStatuses } from '../../../core/creation.ts';
import { parseCreationId, parseKeyId } from '../../../core/ids.ts';
import { creationRow } from '../../../core/portal/creation-view.ts';
import type { CreationQuery } from '../../../core/ports/creations.ts';
import { isUser } from '../../../core/user.ts';
import type { ApiRequest } from '../../http/request.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';
import { choiceOf, cursorWords, dayIn, oneOf, parametersOf } from './parameters.ts';

/** GET /creations: the newest first; ?limit, ?cursor, ?status, ?model, ?key, ?user and ?day. */
export const listPortalCreations: PortalHandle<'listPortalCreations', ReadServices> = async (
  request,
  { account, nowMillis },
  { creations, reads, settings },
) => {
  const query = queryOf(request);
  const [page, keys] = await Promise.all([creations.page(account.id, query), reads.keys(account.id)]);
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]));
  const showing = { keyNames, resultsBaseUrl: settings.resultsBaseUrl, nowMillis };
  const data = page.creations.map((creation) => creationRow(creation, showing));
  return { status: 200, body: { data, next_cursor: page.next ?? null } };
};

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
