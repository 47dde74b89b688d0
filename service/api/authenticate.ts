/** The caller, by one consistent read of block, account, key and count: a revoked key is dead at once. */
import type { Account, ApiKey } from '../accounts/account.ts';
import { type ParsedKey, parseKey } from '../accounts/api-key.ts';
import { isExpired } from '../accounts/caps.ts';
import { isUser, userHash } from '../accounts/end-user.ts';
import { apiRoot, operations } from '../contract/operations.ts';
import { clientAddress } from '../outbound/client-address.ts';
import { parseCreationId } from '../values/ids.ts';
import { Problem, withHeaders } from '../values/problem.ts';
import { sameHash } from '../values/text.ts';
import { type Authenticated, type Rate, rateHeaders } from './admit.ts';
import type { ApiServices } from './open.ts';
import { accountDisabled, addressBlocked, apiSuspended, keyInvalid, keyMissing } from './problems.ts';
import type { RequestQuestion, RequestState } from './request-store.ts';
import { type ApiRequest, userOfBody } from './request.ts';
import type { TokenDoor } from './token-door.ts';

/**
 * Account and key behind a request. Throws 401, 403 or 429, and counts a rejection by address.
 * @param door without it, the token of an end user is an unknown key
 */
export async function authenticate(
  request: ApiRequest,
  rate: Rate,
  { requests, refusals, clock }: Pick<ApiServices, 'requests' | 'refusals' | 'clock'>,
  door?: TokenDoor,
): Promise<Authenticated> {
  const presented = presentedKey(request.headers);
  const token = presented.kind === 'key' && presented.isBearer ? door?.parse(presented.key) : undefined;
  const key = presented.kind === 'key' && !token ? parseKey(presented.key) : undefined;
  const named = token ?? key;
  const nowMillis = clock.now();
  const address = clientAddress(request.sourceIp);
  const state = await requests.read({
    clientAddress: address,
    nowMillis,
    rate,
    ...(named && {
      key: { accountId: named.accountId, keyId: named.keyId, ...(token && { tokenId: token.id }) },
    }),
    ...alsoAsked(request, rate, (hash) => (token && door?.idempotencyHash(token, hash)) ?? hash),
    ...(named && askedUser(request)),
  });
  const holding = token && door?.holding(token, state, request, nowMillis);
  const cors = holding?.cors ?? {};
  const owner = ownerOf(key, state);
  // Only a genuine key or token names its account. Nobody reads the log of a disabled one, which may be erased.
  const noted = async (problem: Problem): Promise<Problem> => {
    if (named && (holding ?? owner) && state.account?.condition !== 'disabled') {
      const { accountId, keyId } = named;
      await refusals.note(request, { accountId, keyId, tokenId: token?.id }, problem);
    }
    return problem;
  };
  if (state.block) throw await noted(withHeaders(addressBlocked(state.block.untilMillis - nowMillis), cors));
  // A page that slept overnight sends a token that has ended. It must not block an office, so it is not counted.
  if (holding?.holder instanceof Problem) throw await noted(holding.holder);
  const holder = holding?.holder ?? holderOf(presented, owner, nowMillis);
  if (holder instanceof Problem) {
    const isKeyless = presented.kind === 'absent' || presented.kind === 'empty';
    if (!isKeyless || !isFromAnotherSite(request))
      await requests.countRejection(address, isKeyless ? 'keyless' : '401', nowMillis);
    throw await noted(holder);
  }
  const known = { ...holder, state, nowMillis };
  const paused = pausedAccount(known, rate);
  if (paused) {
    await requests.countRejection(address, '403', nowMillis);
    throw await noted(withHeaders(paused, cors));
  }
  return known;
}

/** The records that the operation will need: the same read returns them. */
function alsoAsked(
  { pathId, idempotencyKey }: ApiRequest,
  rate: Rate,
  placed: (hash: string) => string,
): Partial<RequestQuestion> {
  const creationId = parseCreationId(pathId);
  const isKept = rate === 'post' && idempotencyKey.kind === 'valid';
  return {
    ...(creationId && { creationId }),
    ...(isKept && { idempotencyHash: placed(idempotencyKey.hash) }),
  };
}

/** The user that the request names: the same read then holds what was spent for the user. */
function askedUser(request: ApiRequest): Partial<RequestQuestion> {
  const user = request.method === 'POST' ? userOfBody(request) : userOfBalance(request);
  return isUser(user) ? { userHash: userHash(user) } : {};
}

function userOfBalance({ path, query }: ApiRequest): string | undefined {
  return path === `${apiRoot}${operations.getBalance.path}` ? query['user'] : undefined;
}

type Presented =
  | { readonly kind: 'absent' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'not_a_bearer' }
  | { readonly kind: 'key'; readonly key: string; readonly isBearer: boolean };

/** Authorization wins over X-API-Key, whatever Authorization holds. */
function presentedKey({ authorization, 'x-api-key': plain }: ApiRequest['headers']): Presented {
  if (authorization === undefined) return plain === undefined ? { kind: 'absent' } : keyIn(plain, false);
  if (authorization.trim() === '') return { kind: 'empty' };
  const bearer = /^bearer(?:\s+(.*))?$/i.exec(authorization.trim());
  return bearer ? keyIn(bearer[1] ?? '', true) : { kind: 'not_a_bearer' };
}

function keyIn(text: string, isBearer: boolean): Presented {
  const key = text.trim();
  return key === '' ? { kind: 'empty' } : { kind: 'key', key, isBearer };
}

interface Owner {
  readonly account: Account;
  readonly apiKey: ApiKey;
}

/** Account and key behind a genuine key, which may have ended. */
function ownerOf(parsed: ParsedKey | undefined, { account, apiKey }: RequestState): Owner | undefined {
  const isKnown = parsed && account && apiKey?.hash !== undefined && sameHash(parsed.hash, apiKey.hash);
  return isKnown ? { account, apiKey } : undefined;
}

/** The holder of the key. Returns the 401 of a key that is unknown or has ended. */
function holderOf(presented: Presented, owner: Owner | undefined, nowMillis: number): Owner | Problem {
  if (presented.kind === 'absent' || presented.kind === 'empty')
    return keyMissing(presented.kind === 'absent');
  if (!owner) return keyInvalid('is not recognised');
  if (owner.apiKey.revokedAt !== undefined) return keyInvalid('was revoked');
  return isExpired(owner.apiKey, nowMillis) ? keyInvalid('has expired') : owner;
}

/** Any page of the web can make its visitor's browser send requests, but none with a key. Only browsers set the header. */
function isFromAnotherSite({ headers }: ApiRequest): boolean {
  return headers['sec-fetch-site'] === 'cross-site';
}

/** The 403 of an account that may not use the API now. Its key is valid, so the rate headers are there. */
function pausedAccount(known: Authenticated, rate: Rate): Problem | undefined {
  switch (known.account.condition) {
    case 'active':
      return undefined;
    case 'disabled':
      return accountDisabled(rateHeaders(known, rate, 0));
    case 'suspended':
      return apiSuspended(rateHeaders(known, rate, 0));
  }
}
