import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { operations, type OperationName } from '../../core/contract.ts';
import { maxBodyBytes } from '../../core/limits.ts';
import { invalidRequest, type FieldError } from '../../core/problem.ts';
import { readJson } from '../../core/read-json.ts';
import { readIdempotencyKey, type IdempotencyKey } from './idempotency-key.ts';
import {
  bodyNotJson,
  bodyNotObject,
  bodyNotUtf8,
  bodyOfTooManyValues,
  bodyTooDeep,
  bodyTooLong,
  wrongContentType,
} from './problems.ts';

/** A request as the operations see it. */
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
  const { http, requestId } = event.requestContext;
  return {
    method: http.method,
    path: event.rawPath,
    pathId: event.pathParameters?.['id'] ?? '',
    headers: event.headers,
    idempotencyKey: readIdempotencyKey(event.headers['idempotency-key']),
    query: event.queryStringParameters ?? {},
    sourceIp: http.sourceIp,
    requestId,
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
  };
}

/** An error for each query parameter that the operation does not take. */
export function unknownParameters(request: ApiRequest, operation: OperationName): FieldError[] {
  return parametersBeside(operations[operation].query, request);
}

/** An error for each query parameter that is not one of these. */
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

/** Whether the request says that its body is JSON. */
export function saysJson({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  return json.test(headers['content-type'] ?? '');
}

/** Whether the body may be read as UTF-8: the request names no other charset. */
export function saysUtf8({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '') ?? [];
  return /^utf-?8$/i.test(charset);
}

/**
 * The body, which is a JSON object in UTF-8. Throws 400 otherwise.
 * @param mostBytes of the body; by default 256 KiB
 */
export function jsonBody(request: ApiRequest, mostBytes = maxBodyBytes): Record<string, unknown> {
  const { body } = request;
  if (!saysJson(request)) throw wrongContentType();
  if (!saysUtf8(request)) throw wrongContentType('application/json in UTF-8');
  if (body.byteLength > mostBytes) throw bodyTooLong();
  const value = parsed(body);
  if (!isObject(value)) throw bodyNotObject();
  return value;
}

/**
 * The `user` of a body that is not checked yet. Undefined when the body is too long, too deep or cannot be read; then
 * jsonBody refuses it later.
 */
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
