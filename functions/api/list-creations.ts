import { creationView } from '../../core/creation.ts';
import { parseCreationId, type CreationId } from '../../core/ids.ts';
import { invalidRequest } from '../../core/problem.ts';
import { apiServices, type ApiServices } from '../services.ts';
import type { ApiRequest } from './request.ts';
import { serve, type Handle } from './serve.ts';

const defaultLimit = 20;
const mostLimit = 100;

/** GET /creations: the account's creations, the newest first; ?limit and ?cursor. */
export const listCreations: Handle<ApiServices> = async (request, { account, nowMillis }, services) => {
  const limit = limitOf(request);
  const before = cursorOf(request);
  // One more than asked for tells whether there are more.
  const found = await services.creations.list(account.id, limit + 1, before);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit;
  return {
    status: 200,
    body: {
      data: page.map((creation) => creationView(creation, services.resultsBaseUrl, nowMillis)),
      has_more: hasMore,
      next_cursor: hasMore && last ? toCursor(last.id) : null,
    },
  };
};

function limitOf({ query }: ApiRequest): number {
  const text = query['limit'];
  if (text === undefined) return defaultLimit;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= mostLimit) return limit;
  throw invalidRequest([{ field: 'limit', code: 'invalid_value', message: `must be a whole number from 1 to ${mostLimit}` }]);
}

function cursorOf({ query }: ApiRequest): CreationId | undefined {
  const text = query['cursor'];
  if (text === undefined) return undefined;
  const id = parseCreationId(Buffer.from(text, 'base64url').toString('latin1'));
  if (id) return id;
  throw invalidRequest([{ field: 'cursor', code: 'invalid_value', message: 'must be a next_cursor of an answer before' }]);
}

function toCursor(id: CreationId): string {
  return Buffer.from(id, 'latin1').toString('base64url');
}

export const handler = serve('get', listCreations, apiServices());
