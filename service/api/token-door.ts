/**
 * The door of the API for tokens of end users: their authentication, the operations and pages that are
 * allowed, the refusals, and the views. The caller brings this door, so the bundles of other doors do not
 * contain it.
 */
import {
  hashForUser,
  modelsOf,
  type ParsedToken,
  parseUserToken,
  spentOf,
  tokenEnd,
  type UserToken,
} from '../accounts/user-token.ts';
import { userTokenFromItem } from '../accounts/user-token-items.ts';
import { apiRoot, methodsOf, operations } from '../contract/operations.ts';
import { tokenPart } from '../creations/token-items.ts';
import { formatUsd, toUsd } from '../values/money.ts';
import { Problem, withHeaders } from '../values/problem.ts';
import { sameHash } from '../values/text.ts';
import type { Authenticated, CallingToken } from './admit.ts';
import type { RequestState } from './request-store.ts';
import type { ApiRequest } from './request.ts';

type Headers = Readonly<Record<string, string>>;

/**
 * The caller with a genuine token, or why the token has ended; and the headers that let its page read the
 * answer.
 */
export interface Holding {
  readonly holder: Pick<Authenticated, 'account' | 'apiKey' | 'token'> | Problem;
  readonly cors: Headers;
}

export const tokenDoor = {
  parse: parseUserToken,
  idempotencyHash: ({ id }: ParsedToken, hash: string): string => hashForUser(id, hash),
  /** Undefined when there is no such token. */
  holding: (
    presented: ParsedToken,
    { account, apiKey, tokenItem }: RequestState,
    request: ApiRequest,
    nowMillis: number,
  ): Holding | undefined => {
    const token = tokenItem && userTokenFromItem(tokenItem);
    if (!account || !token || !sameHash(presented.hash, token.hash)) return undefined;
    const cors = corsHeaders(token, request);
    const how = tokenEnd(token, apiKey, nowMillis);
    if (how || !apiKey) return { holder: withHeaders(tokenEnded(how ?? 'revoked'), cors), cors };
    // A token acts for the key that minted it, with the models that both may use.
    const models = modelsOf(token, apiKey);
    return {
      holder: { account, apiKey: models ? { ...apiKey, models } : apiKey, token: calling(token) },
      cors,
    };
  },
} as const;

export type TokenDoor = typeof tokenDoor;

function calling(token: UserToken): CallingToken {
  return {
    ...token,
    part: (table, charge) => tokenPart(table, { token, ...charge }),
    usedUp: (cost, count, { leftMicros, usesLeft } = token) => {
      if (leftMicros < cost) return tokenBudgetExceeded({ ...token, leftMicros });
      return usesLeft < count ? tokenUsesExceeded(token, token.maxUses - usesLeft) : undefined;
    },
    usesExceeded: () => tokenUsesExceeded(token, token.maxUses),
    cannotPay: accountCannotPay,
    ended: tokenEnded,
  };
}

const forTokens = (path: string): string[] => methodsOf(path, apiRoot, operations, true);

/** The answer to a preflight. It shows nothing of any token; every other path allows nothing. */
export function preflightHeaders({ path }: Pick<ApiRequest, 'path'>): Headers {
  return forTokens(path).length === 0
    ? {}
    : {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, Prefer',
        'access-control-max-age': '7200',
      };
}

const exposed =
  'Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, X-Darkroom-Cost, Idempotent-Replayed';

/** Lets a page read the answer, if a genuine token names its origin. No key ever gets these headers. */
export function corsHeaders(
  token: UserToken | undefined,
  { headers: { origin } }: Pick<ApiRequest, 'headers'>,
): Headers {
  if (!token || origin === undefined || !token.origins.includes(origin)) return {};
  return { 'access-control-allow-origin': origin, vary: 'Origin', 'access-control-expose-headers': exposed };
}

/** The 403 of a token at an operation, or in a page, that it is not for. */
export function refusedToToken(token: UserToken, { method, path, headers }: ApiRequest): Problem | undefined {
  if (headers['origin'] !== undefined && !token.origins.includes(headers['origin']))
    return originNotAllowed();
  return forTokens(path).includes(method) ? undefined : operationNotAllowed();
}

/** A body as a user sees it: of a creation, webhook and metadata are the account's own. */
export function shownToUser(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const { webhook, metadata, ...shown } = body as Readonly<Record<string, unknown>>;
  return shown;
}

// Refusals

/** 401: a genuine token of an end user has ended, by itself or with the key that minted it. */
function tokenEnded(how: 'expired' | 'revoked'): Problem {
  const message = `The token ${how === 'expired' ? 'has expired' : 'was revoked'}. Your server can mint another.`;
  const headers = { 'www-authenticate': 'Bearer error="invalid_token"' };
  return new Problem('ERR_API_KEY_INVALID', message, { reason: 'api_key_invalid', token: how }, headers);
}

/** 403: a token may call a few operations only. */
function operationNotAllowed(): Problem {
  const message = 'A token of an end user may not call this operation. Call it from your server with a key.';
  return new Problem('ERR_FORBIDDEN', message, { reason: 'operation_not_allowed' });
}

function originNotAllowed(): Problem {
  const message = 'The token does not name the origin of this page among its origins.';
  return new Problem('ERR_FORBIDDEN', message, { reason: 'origin_not_allowed' });
}

/** 402 for a token of an end user, who never sees the wallet of the account. */
function accountCannotPay(): Problem {
  const message = 'The account cannot pay the request now. Nothing was charged.';
  return new Problem('ERR_INSUFFICIENT_BALANCE', message, { reason: 'account_balance' });
}

/** 402: the spend limit of the token does not cover the request. */
function tokenBudgetExceeded(token: UserToken): Problem {
  const [cap, spent] = [token.limitMicros, spentOf(token)];
  const message = `The spend limit of this token, ${formatUsd(cap)}, does not cover the request.`;
  const details = { reason: 'token_budget_exceeded', cap: toUsd(cap), spent: toUsd(spent) };
  return new Problem('ERR_INSUFFICIENT_BALANCE', message, details);
}

/** 402: the token has no use left, for a creation or for an upload. */
function tokenUsesExceeded({ maxUses: limit }: UserToken, used: number): Problem {
  const message = `This token may be used ${limit} times. Your server can mint another.`;
  const details = { reason: 'token_uses_exceeded', limit, used };
  return new Problem('ERR_INSUFFICIENT_BALANCE', message, details);
}
