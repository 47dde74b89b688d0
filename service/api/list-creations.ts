import { isUser } from '../accounts/end-user.ts';
import { mostPageBytes } from '../contract/limits.ts';
import type { CreationPage, CreationQuery } from '../creations/creation-reads.ts';
import {
  type CreationRecord,
  type CreationStatus,
  creationStatuses,
  creationView,
} from '../creations/creation.ts';
import { type CreationId, parseCreationId } from '../values/ids.ts';
import { type FieldError, invalidRequest } from '../values/problem.ts';
import type { ListServices } from './open.ts';
import { type ApiRequest, unknownParameters } from './request.ts';
import type { Handle } from './serve.ts';

const defaultLimit = 20;
const mostLimit = 100;

/** GET /creations: the account's creations, the newest first; ?limit, ?cursor, ?status, ?model and ?user. */
export const listCreations: Handle<ListServices> = async (request, { account, nowMillis }, services) => {
  const found = await services.creations.page(account.id, queryOf(request));
  const { data, next } = withinBytes(found, (creation) =>
    creationView(creation, services.resultsBaseUrl, nowMillis),
  );
  return {
    status: 200,
    body: { data, has_more: next !== undefined, next_cursor: next === undefined ? null : toCursor(next) },
  };
};

interface Listed {
  readonly data: readonly Record<string, unknown>[];
  readonly next: CreationId | undefined;
}

/** As many creations of the page as an answer may hold, and at least one. */
function withinBytes(
  { creations, next }: CreationPage,
  viewOf: (creation: CreationRecord) => Record<string, unknown>,
): Listed {
  const data: Record<string, unknown>[] = [];
  let bytes = 0;
  for (const [index, creation] of creations.entries()) {
    const view = viewOf(creation);
    // Lambda limits its answer as JSON. The body is a text in that JSON, so its quotes are escaped a second
    // time.
    bytes += Buffer.byteLength(JSON.stringify(JSON.stringify(view)));
    if (bytes > mostPageBytes && index > 0) return { data, next: creations[index - 1]?.id };
    data.push(view);
  }
  return { data, next };
}

/** The query parameters. Throws 400 that names every wrong parameter. */
function queryOf(request: ApiRequest): CreationQuery {
  const { limit, cursor, status, model, user } = request.query;
  const size = limit === undefined ? defaultLimit : limitIn(limit);
  const before = cursor === undefined ? undefined : cursorIn(cursor);
  const wanted = creationStatuses.find((known) => known === status);
  const errors = [
    ...unknownParameters(request, 'listCreations'),
    ...wrongUnless(size !== undefined, 'limit', `must be a whole number from 1 to ${mostLimit}`),
    ...wrongUnless(
      cursor === undefined || before !== undefined,
      'cursor',
      'must be a next_cursor of an answer before',
    ),
    ...wrongUnless(
      status === undefined || wanted !== undefined,
      'status',
      `must be one of ${creationStatuses.map(quoted).join(', ')}`,
    ),
    ...wrongUnless(model !== '', 'model', 'must be the id of a model'),
    ...wrongUnless(user === undefined || isUser(user), 'user', 'must be the user of a creation'),
  ];
  if (size === undefined || errors.length > 0) throw invalidRequest(errors);
  return {
    limit: size,
    ...(before && { before }),
    ...(wanted && { status: wanted }),
    ...(model !== undefined && { model }),
    ...(user !== undefined && { user }),
  };
}

function wrongUnless(isRight: boolean, field: string, message: string): FieldError[] {
  return isRight ? [] : [{ field, code: 'invalid_value', message }];
}

function quoted(status: CreationStatus): string {
  return JSON.stringify(status);
}

function limitIn(text: string): number | undefined {
  const limit = Number(text);
  return /^\d+$/.test(text) && limit >= 1 && limit <= mostLimit ? limit : undefined;
}

function cursorIn(text: string): CreationId | undefined {
  return parseCreationId(Buffer.from(text, 'base64url').toString('latin1'));
}

function toCursor(id: CreationId): string {
  return Buffer.from(id, 'latin1').toString('base64url');
}
