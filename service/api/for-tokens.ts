/** What the API does otherwise for the token of an end user: which operations, which pages, and what is shown. */
import type { UserToken } from '../accounts/user-token.ts';
import { apiRoot, methodsOf, operations } from '../contract/operations.ts';
import type { Problem } from '../values/problem.ts';
import { operationNotAllowed, originNotAllowed } from './problems.ts';
import type { ApiRequest } from './request.ts';

type Headers = Readonly<Record<string, string>>;

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
