import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { operations, type OperationName } from '../../core/contract.ts';
import { maxBodyBytes } from '../../core/limits.ts';
import { invalidRequest, type FieldError } from '../../core/problem.ts';

/** A request as the operations see it. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  /** Of the path's {id}; '' when the path has none. */
  readonly pathId: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The peer's address as the gateway saw it, never from a header. */
  readonly sourceIp: string;
  readonly requestId: string;
  /** Under which the gateway was asked. */
  readonly domain: string;
  readonly body: Uint8Array;
}

/** From API Gateway's payload format 2.0. */
export function requestOf(event: APIGatewayProxyEventV2): ApiRequest {
  const { http, requestId, domainName } = event.requestContext;
  return {
    method: http.method,
    path: event.rawPath,
    pathId: event.pathParameters?.['id'] ?? '',
    headers: event.headers,
    query: event.queryStringParameters ?? {},
    sourceIp: http.sourceIp,
    requestId,
    domain: domainName,
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
  };
}

/** An error for each query parameter that the operation does not take. */
export function unknownParameters({ query }: ApiRequest, operation: OperationName): FieldError[] {
  const known: readonly string[] = operations[operation].query;
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

/**
 * The body's JSON value. Refuses, with the field "body" (or the header), another content
 * type, more than 256 KiB, text that is not UTF-8, and what is no JSON object.
 */
export function jsonBody(request: ApiRequest): Record<string, unknown> {
  if (!json.test(request.headers['content-type'] ?? '')) {
    throw invalidRequest([
      { field: 'Content-Type', code: 'invalid_value', message: 'must be application/json' },
    ]);
  }
  if (request.body.byteLength > maxBodyBytes) {
    throw invalidRequest([
      { field: 'body', code: 'too_long', message: `at most ${maxBodyBytes / 1024} KiB` },
    ]);
  }
  const value = parsed(request.body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest([{ field: 'body', code: 'invalid_type', message: 'must be a JSON object' }]);
  }
  return value as Record<string, unknown>;
}

function parsed(body: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw invalidRequest([{ field: 'body', code: 'invalid_encoding', message: 'must be UTF-8' }]);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest([{ field: 'body', code: 'invalid_json', message: 'must be valid JSON' }]);
  }
}
