import { createHash } from 'node:crypto';
import type { ApiRequest, IdempotencyKey } from '../api/request.ts';
import { repeatedCallSeconds } from '../contract/limits.ts';

/**
 * The key of a call of a tool. A client that lost its answer sends the call again with the same JSON-RPC id. A
 * client gives the same id to another call, too, so the arguments are a part of the key, and no key can name
 * another request.
 *
 * The line break keeps these keys apart from every Idempotency-Key, which has printable characters only.
 */
export function callKey(message: unknown, headers: ApiRequest['headers']): IdempotencyKey {
  const { id, params } = message as { id: unknown; params: Record<string, unknown> };
  const meta = params['_meta'] as Record<string, unknown> | undefined;
  // A client of 2025 tells its name only when it connects, and then has no more than its User-Agent.
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
