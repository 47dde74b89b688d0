/** Refusals of the endpoint itself, as JSON-RPC errors. A tool's refusal is a result instead. */
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import type { ApiRequest } from '../api/request.ts';
import type { Refusal } from '../api/refusal-store.ts';
import type { StreamedAnswer } from '../api/response-stream.ts';
import { maxBodyBytes, maxJsonDepth, maxJsonValues } from '../contract/limits.ts';
import type { Problem } from '../values/problem.ts';
import type { Message, RpcId } from './incoming.ts';

/** Codes of JSON-RPC 2.0. -32000 is for errors of a server's own. */
const parseError = -32_700;
const invalidRequest = -32_600;
const serverError = -32_000;

function refusal(
  status: number,
  error: { readonly code: number; readonly message: string; readonly data?: object },
  id: RpcId = null,
  headers: Readonly<Record<string, string>> = {},
): StreamedAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id, error }),
  };
}

/** A refusal of the API that concerns the request as a whole: its authentication or its rate. */
export function refusedBy(problem: Problem, id: RpcId): StreamedAnswer {
  const { status, code, message, details, headers } = problem;
  return refusal(status, { code: serverError, message, data: { code, details } }, id, {
    ...headers,
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
}

export function methodRefused(): StreamedAnswer {
  const message =
    'This endpoint takes POST only. It keeps no sessions, so there is no stream to open or to end.';
  return refusal(405, { code: serverError, message }, null, { allow: 'POST' });
}

/** 403: a page of another site may have sent the request through a browser of this machine. */
export function strayRefused(header: 'Host' | 'Origin'): StreamedAnswer {
  const message = `The ${header} header of a request from this machine must name this machine, such as 127.0.0.1.`;
  return refusal(403, { code: serverError, message });
}

const refusedMessages = {
  too_long: [413, serverError, `The message is too long: it may have ${maxBodyBytes / 1024} KiB.`],
  not_json: [400, parseError, 'The body is not JSON in UTF-8.'],
  too_deep: [
    400,
    invalidRequest,
    `The message is too deep: it may have ${maxJsonDepth} lists and objects inside each other.`,
  ],
  too_many: [
    400,
    invalidRequest,
    `The message has too many values: it may have ${maxJsonValues} members and items.`,
  ],
  batch: [400, invalidRequest, 'Send one JSON-RPC message in each request. Batches are not taken.'],
} as const satisfies Readonly<Record<string, readonly [status: number, code: number, message: string]>>;

export type Unread = Exclude<Message['kind'], 'message'>;

export function messageRefused(kind: Unread): StreamedAnswer {
  const [status, code, message] = refusedMessages[kind];
  return refusal(status, { code, message });
}

/** The same for the log of refused requests. */
export function loggedRefusal(kind: Unread): Refusal {
  const [status, , message] = refusedMessages[kind];
  return { status, code: 'ERR_INVALID_REQUEST', message, details: { reason: kind } };
}

/** DNS rebinding: from a loopback address, Host and Origin must be loopback, too. */
const loopback = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

/** The header that names another host or origin. Undefined when neither does. */
export function strayHeader({
  sourceIp,
  headers: { host, origin },
}: Pick<ApiRequest, 'sourceIp' | 'headers'>): 'Host' | 'Origin' | undefined {
  if (!loopback.test(sourceIp)) return undefined;
  if (!validateHostHeader(host, localhostAllowedHostnames()).ok) return 'Host';
  return validateOriginHeader(origin, localhostAllowedOrigins()).ok ? undefined : 'Origin';
}
