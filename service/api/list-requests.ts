/** GET /requests: the requests of the last days, the newest first. */
import { apiRoot, operations } from '../contract/operations.ts';
import { parseCreationId, parseKeyId } from '../values/ids.ts';
import { type FieldError, invalidRequest, problemStatus } from '../values/problem.ts';
import { firstBytes } from '../values/text.ts';
import { readMoment } from '../values/time.ts';
import { listCreations } from './creations.ts';
import { requestDoors } from './logged-refusal.ts';
import type { RequestListServices } from './open.ts';
import type { LoggedRequest, Places, RequestQuery } from './request-log-reads.ts';
import { type ApiRequest, unknownParameters } from './request.ts';
import type { Handle } from './serve.ts';

const limits = { usual: 20, most: 100 } as const;
const outcomes = ['accepted', 'refused'] as const;
const mostBodyBytes = 4_096;
const codes = Object.keys(problemStatus);

const listRequests: Handle<RequestListServices> = async (request, { account }, { requestLog }) => {
  const unknown = unknownParameters(request, 'listRequests');
  const { requests, next } = await requestLog.page(account.id, requestQueryOf(request, unknown));
  const next_cursor = requestCursor(next);
  return {
    status: 200,
    body: { data: requests.map(requestView), has_more: next_cursor !== null, next_cursor },
  };
};

/** One function has both lists. */
export const listOf: Handle<RequestListServices> = (request, caller, services) =>
  (request.path === `${apiRoot}${operations.listRequests.path}` ? listRequests : listCreations)(
    request,
    caller,
    services,
  );

/** Throws 400 that names every wrong parameter. @param wrong what was found before */
export function requestQueryOf({ query }: Pick<ApiRequest, 'query'>, wrong: FieldError[] = []): RequestQuery {
  const errors = [...wrong];
  const read = <Value>(name: string, reader: (text: string) => Value | undefined, message: string) => {
    const text = query[name];
    const value = text === undefined ? undefined : reader(text);
    if (text !== undefined && value === undefined)
      errors.push({ field: name, code: 'invalid_value', message });
    return value;
  };
  const oneOf = <Value extends string>(name: string, known: readonly Value[]) =>
    read(name, (text) => known.find((one) => one === text), `must be one of ${known.join(', ')}`);
  const moment = 'must be a time such as 2026-11-21T09:30:00Z';
  const limit = read('limit', limitIn, `must be a whole number from 1 to ${limits.most}`);
  const after = read('cursor', placesIn, 'must be a next_cursor of an answer before');
  const outcome = oneOf('outcome', outcomes);
  const status = read('status', statusIn, 'must be a status such as 429, or 4xx or 5xx');
  const code = oneOf('code', codes);
  const keyId = read('key', parseKeyId, 'must be the id of a key');
  const door = oneOf('door', requestDoors);
  const from = read('from', readMoment, moment);
  const to = read('to', readMoment, moment);
  if (errors.length > 0) throw invalidRequest(errors);
  return {
    limit: limit ?? limits.usual,
    ...(after && { after }),
    ...(outcome && { outcome }),
    ...(status !== undefined && { status }),
    ...(code !== undefined && { code }),
    ...(keyId && { keyId }),
    ...(door && { door }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

export function requestCursor(next: Places | undefined): string | null {
  return next ? Buffer.from(JSON.stringify(next)).toString('base64url') : null;
}

function limitIn(text: string): number | undefined {
  const limit = Number(text);
  return /^\d+$/.test(text) && limit >= 1 && limit <= limits.most ? limit : undefined;
}

function statusIn(text: string): string | undefined {
  return /^[45](xx|\d\d)$/.test(text) ? text : undefined;
}

const isRow = (place: unknown): boolean =>
  typeof place === 'string' && /^(REFUSED#[\x20-\x7e]+)?$/.test(place);
const isCreation = (place: unknown): boolean => place === '' || parseCreationId(String(place)) === place;

function placesIn(text: string): Places | undefined {
  try {
    const places = Object.entries(JSON.parse(Buffer.from(text, 'base64url').toString()) as object);
    const isRight = places.every(
      ([list, place]) => (list === 'refused' && isRow(place)) || (list === 'accepted' && isCreation(place)),
    );
    return isRight && places.length > 0 ? Object.fromEntries(places) : undefined;
  } catch {
    return undefined;
  }
}

/** What a client sees of a request. null: unknown or absent. */
export function requestView(request: LoggedRequest) {
  const { creationId = null, status = null, body } = request;
  return {
    created_at: request.at,
    outcome: creationId === null ? outcomes[1] : outcomes[0],
    door: request.door ?? null,
    method: request.method ?? null,
    path: request.path ?? null,
    status,
    code: request.code ?? null,
    reason: request.reason ?? null,
    field: request.field ?? null,
    message: request.message ?? null,
    key: request.keyId as string,
    token: request.tokenId ?? null,
    request_id: request.requestId ?? null,
    duration_ms: request.millis ?? null,
    address: request.address ?? null,
    body: body === undefined ? null : firstBytes(body, mostBodyBytes),
    count: request.count ?? 1,
    creation_id: creationId,
  };
}
