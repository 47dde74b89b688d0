/** A request of an MCP client, from the event of a REST API. */
import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Rate } from '../api/admit.ts';
import { type ApiRequest, type IdempotencyKey, restRequestOf, saysUtf8 } from '../api/request.ts';
import { maxBodyBytes, repeatedCallSeconds } from '../contract/limits.ts';
import { mcpPath } from '../contract/operations.ts';
import { readJson, type ReadJson } from '../values/read-json.ts';
import { jsonOf } from './tools/image-request.ts';
import type { Arguments, Tool } from './tools/tool.ts';
import { findTool } from './tools/tools.ts';

/**
 * The key of a call of a tool. A client that lost its answer sends the call again with the same JSON-RPC id. A
 * client gives the same id to another call, too, so the arguments are a part of the key, and no key can name
 * another request.
 *
 * The line break keeps these keys apart from every Idempotency-Key, which has printable characters only.
 */
function callKey(message: unknown, headers: ApiRequest['headers']): IdempotencyKey {
  const { id, params } = message as { id: unknown; params: Record<string, unknown> };
  const meta = params['_meta'] as Record<string, unknown> | undefined;
  // A client of 2025 sends its name only when it connects. Later requests have only its User-Agent.
  const client = [meta?.['io.modelcontextprotocol/clientInfo'] ?? null, headers['user-agent'] ?? null];
  const key = headers['authorization'] ?? headers['x-api-key'] ?? null;
  const named = JSON.stringify([key, id, client, params['name'], params['arguments'] ?? null], sortedKeys);
  const hash = createHash('sha256').update(`mcp\n${named}`).digest('hex');
  return { kind: 'valid', hash, requestHash: hash, seconds: repeatedCallSeconds };
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The id of a JSON-RPC request, which its answer repeats. Null when none can be read. */
export type RpcId = string | number | null;

export type Message =
  /** A JSON-RPC message, or something that the SDK refuses. `call`: it calls a tool that there is. */
  | { readonly kind: 'message'; readonly body: unknown; readonly call?: Called }
  | { readonly kind: 'too_long' | 'not_json' | 'too_deep' | 'too_many' | 'batch' };

export interface Called {
  readonly tool: Tool;
  readonly args: Arguments;
}

export interface Incoming {
  readonly message: Message;
  readonly id: RpcId;
  /** The rate that the request counts against: only a tool that changes something counts as a POST. */
  readonly rate: Rate;
  /** The request of the API's operation, or of the endpoint itself. It also identifies the caller. */
  readonly request: ApiRequest;
}

export function incomingOf(event: APIGatewayProxyEvent): Incoming {
  const received = restRequestOf(event);
  const { headers } = received;
  const message: Message = saysUtf8(received) ? readMessage(received.body) : { kind: 'not_json' };
  const id = message.kind === 'message' ? idOf(message.body) : null;
  const called = message.kind === 'message' ? message.call : undefined;
  const request = {
    ...received,
    path: mcpPath,
    pathId: '',
    // The SDK reads the message. An operation gets only what its tool asks for.
    idempotencyKey: { kind: 'absent' },
    query: {},
    body: Buffer.alloc(0),
  } as const;
  if (!called || message.kind !== 'message') return { message, id, rate: 'get', request };
  const { tool, args } = called;
  const { body, ...asked } = tool.requestOf(args);
  const own = {
    ...request,
    ...asked,
    ...(tool.attaches && { idempotencyKey: callKey(message.body, headers) }),
  };
  return { message, id, rate: tool.rate, request: body ? jsonOf(own, body) : own };
}

function readMessage(bytes: Uint8Array): Message {
  if (bytes.byteLength > maxBodyBytes) return { kind: 'too_long' };
  const read = readText(bytes);
  if (read.kind !== 'value') return read;
  const { value: body } = read;
  if (Array.isArray(body)) return { kind: 'batch' };
  const call = calledBy(body);
  return { kind: 'message', body, ...(call && { call }) };
}

function readText(bytes: Uint8Array): ReadJson {
  try {
    return readJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { kind: 'not_json' };
  }
}

function calledBy(body: unknown): Called | undefined {
  if (!isObject(body) || body['method'] !== 'tools/call' || !isObject(body['params'])) return undefined;
  const { name, arguments: given } = body['params'];
  const tool = typeof name === 'string' ? findTool(name) : undefined;
  if (!tool || idOf(body) === null) return undefined;
  // Models often send every argument, with null for an absent one.
  const args = Object.entries(isObject(given) ? given : {}).filter(([, value]) => value !== null);
  return { tool, args: Object.fromEntries(args) };
}

function idOf(body: unknown): RpcId {
  const id = isObject(body) ? body['id'] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
