import { isUser } from '../accounts/end-user.ts';
import { deprecationHeadersOf } from '../catalog/sold-catalog.ts';
import { mostPageBytes, pollIntervalMillis } from '../contract/limits.ts';
import { cancelCreation as cancel } from '../creations/cancel.ts';
import type { CreationPage, CreationQuery } from '../creations/creation-reads.ts';
import {
  type CreationRecord,
  type CreationStatus,
  creationStatuses,
  creationView,
  idsOf,
  isTerminal,
  nextPollSeconds,
} from '../creations/creation.ts';
import { noAddresses } from '../creations/result-addresses.ts';
import { deleteResults as deleteImages, eraseCreation } from '../creations/erase.ts';
import { type CreationId, parseCreationId } from '../values/ids.ts';
import { type FieldError, invalidRequest } from '../values/problem.ts';
import type { Caller } from './admit.ts';
import type { CancelApiServices, CatalogServices, DeleteServices, ListServices } from './open.ts';
import { creationNotFound, noResults, notCancellable, notDeletable, pollTooSoon } from './problems.ts';
import { type ApiRequest, checkQuery, unknownParameters } from './request.ts';
import type { Handle } from './serve.ts';

/** GET /creations/{id}: the creation, which was read with the caller. It may be polled once a second. */
export const getCreation: Handle<CatalogServices> = async (request, caller, services) => {
  checkQuery(request, 'getCreation');
  const creation = ownCreation(caller);
  const mayPoll = await services.requests.stampPoll(creation.id, pollIntervalMillis, caller.nowMillis);
  if (!mayPoll) throw pollTooSoon();
  return {
    status: 200,
    headers: {
      ...deprecationHeadersOf(services.catalog, creation.model),
      ...(!isTerminal(creation.status) && {
        'retry-after': String(nextPollSeconds(creation, caller.nowMillis)),
      }),
    },
    body: creationView(creation, await services.results.of([creation]), caller.nowMillis),
  };
};

/** Another account's creation, another user's by a token, and an absent one are the same answer, byte for byte. */
function ownCreation({ account, token, state: { creation } }: Caller): CreationRecord {
  if (creation?.accountId !== account.id) throw creationNotFound();
  if (token && creation.user !== token.user) throw creationNotFound();
  return creation;
}

/** POST /creations/{id}/cancel: fails the creation and refunds its charge. Body and key are not read. */
export const cancelCreation: Handle<CancelApiServices> = async (request, caller, services) => {
  checkQuery(request, 'cancelCreation');
  const creation = ownCreation(caller);
  // A cancelled creation must not be answered with 429.
  await caller.rateSlot.take();
  const outcome = await cancel(creation, idsOf(creation), services);
  if (outcome.kind === 'not_cancellable') throw notCancellable(outcome.creation);
  return {
    status: 200,
    body: creationView(outcome.creation, noAddresses, services.clock.now()),
  };
};

/** DELETE /creations/{id}: erases the content of a creation that has ended. Body and key are not read. */
const deleteCreation: Handle<DeleteServices> = async (request, caller, services) => {
  checkQuery(request, 'deleteCreation');
  const creation = ownCreation(caller);
  await caller.rateSlot.take();
  const outcome = await eraseCreation(creation, caller.apiKey.id, services);
  if (outcome.kind === 'open') throw notDeletable(outcome.creation);
  return { status: 204, body: undefined };
};

/** DELETE /creations/{id}/results: deletes the images of a completed creation alone. Body and key are not read. */
const deleteResults: Handle<DeleteServices> = async (request, caller, services) => {
  checkQuery(request, 'deleteResults');
  const creation = ownCreation(caller);
  await caller.rateSlot.take();
  const outcome = await deleteImages(creation, caller.apiKey.id, services);
  if (outcome.kind === 'not_completed') throw noResults(outcome.creation);
  return { status: 204, body: undefined };
};

/** The creation or its results, by the path: two operations, one function. */
export const deletion: Handle<DeleteServices> = (request, caller, services) =>
  (request.path.endsWith('/results') ? deleteResults : deleteCreation)(request, caller, services);

export const defaultLimit = 20;
export const mostLimit = 100;

/** GET /creations: the account's creations, the newest first; ?limit, ?cursor, ?status, ?model and ?user. */
export const listCreations: Handle<ListServices> = async (request, { account, nowMillis }, services) => {
  const found = await services.creations.page(account.id, queryOf(request));
  const addressOf = await services.results.of(found.creations);
  const { data, next } = withinBytes(found, (creation) => creationView(creation, addressOf, nowMillis));
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
