/**
 * The log of refused requests, which request-log-reads.ts reads. It never changes an answer. A refusal costs
 * one write unit, an accepted request none.
 *
 * An environment of a function writes a row for each of the first ten refusals of a kind in a minute. All
 * further refusals of that minute share one item, which counts them and keeps the last, so that a storm does
 * not fill the table.
 */
import { updateItem, type UpdateParts } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, minuteOf, refusalPartition, ttlAttribute } from '../aws/dynamodb/table.ts';
import { unlessAborted } from '../aws/clock.ts';
import { mcpPath, openaiRoot, portalRoot } from '../contract/operations.ts';
import { clientAddress } from '../outbound/client-address.ts';
import { type CommonServices, tableOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import type { AccountId, KeyId, TokenId } from '../values/ids.ts';
import type { Problem } from '../values/problem.ts';
import { errorName } from '../values/runtime.ts';
import { firstBytes } from '../values/text.ts';
import { cutSecrets, shownBody, shownPath } from './cut-secrets.ts';
import { loggedDays, type LoggedRefusal, type RequestDoor } from './logged-refusal.ts';
import type { ApiRequest } from './request.ts';

/** Own rows of a kind in a minute. */
const ownRows = 10;
/** The longest wait of an answer for its row. After the answer Lambda would freeze the write. */
const mostWaitMillis = 200;
const unitBytes = 1_024;
/** What the item has beside the texts that are measured: count, and when it expires. */
const otherBytes = 48;

/** Who sent a refused request: a genuine key, or the token of an end user that it minted. It may have ended. */
export interface RefusedCaller {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly tokenId?: TokenId | undefined;
}

/** What the log keeps of a Problem. */
export type Refusal = Pick<Problem, 'status' | 'code' | 'message' | 'details'>;

/** The rows of each kind in the minute that an environment counts. */
interface Memory {
  minute: number;
  rows: Map<string, number>;
}

export type RefusalLog = ReturnType<ReturnType<typeof openRefusals>>;

export function openRefusals(on: On<'dynamodb'>, { log }: Pick<CommonServices, 'log'>) {
  const { clock } = on;
  const table = tableOf(on);
  const promptDays = Number(on.environment('KEEP_PROMPTS_DAYS'));
  const seconds = Math.min(loggedDays, promptDays || loggedDays) * 86_400;
  const remembered = on.remembered<Memory>('refusals', () => ({ minute: 0, rows: new Map() }));

  /** Whether the refusal gets a row of its own. */
  const takesRow = (kind: string, minute: number): boolean => {
    const memory = remembered();
    if (memory.minute !== minute) Object.assign(memory, { minute, rows: new Map() });
    const rows = memory.rows.get(kind) ?? 0;
    memory.rows.set(kind, rows + 1);
    return rows < ownRows;
  };

  return () => {
    const begun = clock.elapsed();
    return {
      /** Writes the row of a refusal, or counts it. It never throws. */
      note: async (request: ApiRequest, caller: RefusedCaller, problem: Refusal): Promise<void> => {
        const now = clock.now();
        const minute = minuteOf(now);
        const { accountId, keyId, tokenId } = caller;
        const row = rowOf(request, problem, {
          at: new Date(now).toISOString(),
          millis: Math.round(clock.elapsed() - begun),
          keyId,
          tokenId,
        });
        const kind = `${row.door}#${row.status}#${row.code}`;
        const isOwn = takesRow(`${accountId}#${kind}`, minute);
        const end = new Date((minute + 1) * 60_000 - 1).toISOString();
        const key = {
          pk: refusalPartition(accountId),
          sk: isOwn ? `REFUSED#${row.at}#${row.requestId}` : `REFUSED#${end}#${kind}`,
        };
        const item = {
          ...withBody(row, request.body, key),
          [ttlAttribute]: Math.floor(now / 1000) + seconds,
        };
        const limit = clock.timeout(mostWaitMillis);
        const writing = updateItem({ ...table, signal: limit.signal }, key, partsOf(item, !isOwn));
        await unlessAborted(limit.signal, writing).catch((error: unknown) => {
          log.info('refusal_not_noted', { error: errorName(error) });
        });
        limit.release();
      },
    };
  };
}

function rowOf(
  request: ApiRequest,
  problem: Refusal,
  more: Pick<LoggedRefusal, 'at' | 'millis' | 'keyId' | 'tokenId'>,
): LoggedRefusal {
  const { method, path, query, sourceIp, requestId } = request;
  const { status, code, message, details } = problem;
  // The OpenAI-shaped endpoint names a field and a code of its own.
  const { errorCode, param } = problem as Refusal & Partial<Record<'errorCode' | 'param', string | null>>;
  const [first] = (details['errors'] ?? []) as readonly { readonly field: string }[];
  const asked = new URLSearchParams(Object.entries(query) as [string, string][]).toString();
  return {
    ...more,
    door: doorOf(path),
    method,
    path: firstBytes(shownPath(asked === '' ? path : `${path}?${asked}`), 160),
    status,
    code,
    reason: (details['reason'] ?? errorCode ?? undefined) as string | undefined,
    field: first || param ? firstBytes(cutSecrets(first?.field ?? param ?? ''), 80) : undefined,
    message: firstBytes(cutSecrets(message), 200),
    requestId,
    address: networkOf(clientAddress(sourceIp)),
  };
}

function doorOf(path: string): RequestDoor {
  if (path.startsWith(openaiRoot)) return 'openai';
  if (path === mcpPath) return 'mcp';
  return path.startsWith(portalRoot) ? 'portal' : 'api';
}

/** The network of an address, which identifies no single host: 203.0.113.0/24, 2001:db8:7::/48. */
function networkOf(address: string): string {
  return address.includes(':')
    ? `${address.split(':').slice(0, 3).join(':')}::/48`
    : `${address.split('.').slice(0, 3).join('.')}.0/24`;
}

/** The row with as much of the body as one write unit has room for. */
function withBody(row: LoggedRefusal, body: Uint8Array, key: ItemKey): LoggedRefusal {
  const shown = shownBody(body);
  if (shown === undefined) return row;
  // As JSON, an item is longer than as DynamoDB counts it.
  const used = Buffer.byteLength(JSON.stringify({ ...key, ...row, body: '' })) + otherBytes;
  return { ...row, body: firstBytes(shown, unitBytes - used) };
}

function partsOf(item: Item, isCounted: boolean): UpdateParts {
  const names = Object.keys(item).filter((name) => item[name] !== undefined);
  return {
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join()}${isCounted ? ' ADD #count :count' : ''}`,
    ExpressionAttributeNames: Object.fromEntries(
      [...names, ...(isCounted ? ['count'] : [])].map((name) => [`#${name}`, name]),
    ),
    ExpressionAttributeValues: {
      ...Object.fromEntries(names.map((name) => [`:${name}`, item[name]])),
      ...(isCounted && { ':count': 1 }),
    },
  };
}
