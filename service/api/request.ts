/** A request of the API, read from the event of its gateway: path, query, body, headers and Idempotency-Key. */
import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { maxBodyBytes } from '../contract/limits.ts';
import { type OperationName, operations } from '../contract/operations.ts';
import { type FieldError, invalidRequest } from '../values/problem.ts';
import { readJson } from '../values/read-json.ts';
import { requestIdOf } from './request-id.ts';
import {
  bodyNotJson,
  bodyNotObject,
  bodyNotUtf8,
  bodyOfTooManyValues,
  bodyTooDeep,
  bodyTooLong,
  wrongContentType,
} from './problems.ts';

export type IdempotencyKey =
  | { readonly kind: 'absent' }
  /** Not 1 to 255 printable ASCII characters. */
  | { readonly kind: 'malformed' }
  /** `hash`: SHA-256 of the key in hex. It names the record, because a key may be long and is private. */
  | ({ readonly kind: 'valid'; readonly hash: string } & Partial<OwnKey>);

/** What a key has besides its hash when the service itself makes it of a whole request. */
export interface OwnKey {
  /** The hash of the request. Absent: it is the hash of the body. */
  readonly requestHash: string;
  /** How long the key names the creation. Absent: 24 h. */
  readonly seconds: number;
}

const printable = /^[\x20-\x7e]{1,255}$/;

/** Reads the header, with or without the quotes around the key. */
function readIdempotencyKey(header: string | undefined): IdempotencyKey {
  if (header === undefined) return { kind: 'absent' };
  const trimmed = header.trim();
  const bare = /^"(.*)"$/.exec(trimmed)?.[1] ?? trimmed;
  if (!printable.test(bare)) return { kind: 'malformed' };
  return { kind: 'valid', hash: createHash('sha256').update(bare).digest('hex') };
}

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  /** Of the path's {id}; '' when the path has none. */
  readonly pathId: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly idempotencyKey: IdempotencyKey;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The peer's address as the gateway saw it, never from a header. */
  readonly sourceIp: string;
  readonly requestId: string;
  readonly body: Uint8Array;
}

/** From API Gateway's payload format 2.0. */
export function requestOf(event: APIGatewayProxyEventV2): ApiRequest {
  const { http, requestId, timeEpoch } = event.requestContext;
  return {
    method: http.method,
    path: event.rawPath,
    pathId: event.pathParameters?.['id'] ?? '',
    headers: event.headers,
    idempotencyKey: readIdempotencyKey(event.headers['idempotency-key']),
    query: event.queryStringParameters ?? {},
    sourceIp: http.sourceIp,
    requestId: requestIdOf(requestId, event.headers, timeEpoch),
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
  };
}

export function unknownParameters(request: ApiRequest, operation: OperationName): FieldError[] {
  return parametersBeside(operations[operation].query, request);
}

export function parametersBeside(known: readonly string[], { query }: ApiRequest): FieldError[] {
  return Object.keys(query)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      field: name === '' ? 'query' : name.toWellFormed(),
      code: 'unknown_parameter',
      message: 'not a query parameter of this request',
    }));
}

/** Throws 400 that names every query parameter that the operation does not take. */
export function checkQuery(request: ApiRequest, operation: OperationName): void {
  const unknown = unknownParameters(request, operation);
  if (unknown.length > 0) throw invalidRequest(unknown);
}

const json = /^application\/json\s*(;|$)/i;

export function saysJson({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  return json.test(headers['content-type'] ?? '');
}

/** Whether the body may be read as UTF-8: the request names no other charset. */
export function saysUtf8({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '') ?? [];
  return /^utf-?8$/i.test(charset);
}

/** The body, a JSON object in UTF-8. Throws 400. @param mostBytes by default 256 KiB */
export function jsonBody(request: ApiRequest, mostBytes = maxBodyBytes): Record<string, unknown> {
  const { body } = request;
  if (!saysJson(request)) throw wrongContentType();
  if (!saysUtf8(request)) throw wrongContentType('application/json in UTF-8');
  if (body.byteLength > mostBytes) throw bodyTooLong();
  const value = parsed(body);
  if (!isObject(value)) throw bodyNotObject();
  return value;
}

/** The `user` of an unchecked body. Undefined when the body cannot be read: jsonBody refuses it later. */
export function userOfBody({ body }: ApiRequest): unknown {
  // Most bodies name no user, and are then parsed only once.
  if (body.byteLength > maxBodyBytes || !Buffer.from(body).includes('"user"')) return undefined;
  try {
    const value = parsed(body);
    return isObject(value) ? value['user'] : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(body: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw bodyNotUtf8();
  }
  const read = readJson(text);
  switch (read.kind) {
    case 'value':
      return read.value;
    case 'not_json':
      throw bodyNotJson();
    case 'too_deep':
      throw bodyTooDeep();
    case 'too_many':
      throw bodyOfTooManyValues();
  }
}

/** Whether a browser asks for another site. Answered without a key by a 204 that allows nothing. */
export function isPreflight({ method, headers }: Pick<ApiRequest, 'method' | 'headers'>): boolean {
  return (
    method === 'OPTIONS' &&
    headers['origin'] !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/** From an event of a REST API. Names of headers come as the client sent them, so they are put in lower case. */
export function restRequestOf(event: APIGatewayProxyEvent): ApiRequest {
  const { requestContext } = event;
  // A request without headers has null here, whatever the type says.
  const sent = (event.headers as typeof event.headers | null) ?? {};
  const headers = Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return {
    method: event.httpMethod,
    path: requestContext.path,
    pathId: event.pathParameters?.['id'] ?? '',
    headers,
    idempotencyKey: readIdempotencyKey(headers['idempotency-key']),
    query: event.queryStringParameters ?? {},
    sourceIp: requestContext.identity.sourceIp,
    requestId: requestIdOf(requestContext.requestId, headers, requestContext.requestTimeEpoch),
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
  };
}
