/**
 * Who asks. One consistent read holds everything that decides it: the block of the
 * address, the account, the key (never cached: a revoked one is dead at the next
 * request) and this minute's count.
 */
import type { Account, ApiKey } from '../../core/account.ts';
import { parseKey, sameHash, type ParsedKey } from '../../core/api-key.ts';
import { clientAddress } from '../../core/client-address.ts';
import type { CreationId } from '../../core/ids.ts';
import type { RequestState } from '../../core/ports/requests.ts';
import { Problem, retryLater } from '../../core/problem.ts';
import type { ApiServices } from '../services.ts';
import { rateHeaders } from './account-rate.ts';
import type { Authenticated } from './caller.ts';
import type { ApiRequest } from './request.ts';

export interface Question {
  readonly rate: 'get' | 'post';
  readonly idempotencyHash?: string;
  readonly creationId?: CreationId;
}

/** The account and key behind a request. Throws the Problem of interface.md part 5 otherwise, counted against the address. */
export async function authenticate(
  request: ApiRequest,
  question: Question,
  services: ApiServices,
): Promise<Authenticated> {
  const presented = presentedKey(request.headers);
  const parsed = presented.kind === 'key' ? parseKey(presented.key) : undefined;
  const nowMillis = services.clock.now();
  const address = clientAddress(request.sourceIp);
  const state = await services.requests.read({
    clientAddress: address,
    nowMillis,
    ...question,
    ...(parsed && { key: { accountId: parsed.accountId, keyId: parsed.keyId } }),
  });
  if (state.block) throw blocked(state.block.untilMillis - nowMillis);
  const holder = holderOf(presented, parsed, state);
  if (holder instanceof Problem) {
    await services.requests.countRejection(address, '401', nowMillis);
    throw holder;
  }
  const known = { ...holder, state, nowMillis };
  const paused = pausedAccount(known, question.rate);
  if (paused) {
    await services.requests.countRejection(address, '403', nowMillis);
    throw paused;
  }
  return known;
}

type Presented =
  /** Neither header was there at all. */
  | { readonly kind: 'absent' }
  /** A header without a key. */
  | { readonly kind: 'empty' }
  /** Authorization with something else than a bearer token: another scheme, or a key without its scheme. */
  | { readonly kind: 'not_a_bearer' }
  | { readonly kind: 'key'; readonly key: string };

/** Authorization wins over X-API-Key, whatever it holds. */
function presentedKey({ authorization, 'x-api-key': plain }: ApiRequest['headers']): Presented {
  if (authorization === undefined) return plain === undefined ? { kind: 'absent' } : keyIn(plain);
  if (authorization.trim() === '') return { kind: 'empty' };
  const bearer = /^bearer(?:\s+(.*))?$/i.exec(authorization.trim());
  return bearer ? keyIn(bearer[1] ?? '') : { kind: 'not_a_bearer' };
}

function keyIn(text: string): Presented {
  const key = text.trim();
  return key === '' ? { kind: 'empty' } : { kind: 'key', key };
}

/** Who holds the key; the 401 when nobody does. */
function holderOf(
  presented: Presented,
  parsed: ParsedKey | undefined,
  state: RequestState,
): { account: Account; apiKey: ApiKey } | Problem {
  if (presented.kind === 'absent' || presented.kind === 'empty')
    return keyMissing(presented.kind === 'absent');
  const { account, apiKey } = state;
  const isKnown = parsed && account && apiKey?.hash !== undefined && sameHash(parsed.hash, apiKey.hash);
  if (!isKnown || apiKey.revokedAt !== undefined) return keyInvalid();
  return { account, apiKey };
}

/** The 403 of an account that may not use the API now. The key is good, so the answer tells the rate. */
function pausedAccount(known: Authenticated, rate: 'get' | 'post'): Problem | undefined {
  switch (known.account.condition) {
    case 'active':
      return undefined;
    case 'disabled':
      return accountDisabled(rateHeaders(known, rate, 0));
    case 'suspended':
      return apiSuspended(rateHeaders(known, rate, 0));
  }
}

function keyMissing(absent: boolean): Problem {
  const message =
    'An API key is required: send it as "Authorization: Bearer <API_KEY>" or as "X-API-Key: <API_KEY>".';
  return new Problem(
    'ERR_API_KEY_INVALID',
    message,
    { reason: 'api_key_missing' },
    {},
    absent ? 'authentication_required' : undefined,
  );
}

export function keyInvalid(): Problem {
  return new Problem('ERR_API_KEY_INVALID', 'The API key is not recognised.', { reason: 'api_key_invalid' });
}

export function accountDisabled(headers: Problem['headers'] = {}): Problem {
  return new Problem(
    'ERR_ACCOUNT_DISABLED',
    'This account is disabled.',
    { reason: 'account_disabled' },
    headers,
  );
}

export function apiSuspended(headers: Problem['headers'] = {}): Problem {
  const message = 'API access of this account is paused by its account manager. The portal still works.';
  return new Problem('ERR_API_SUSPENDED', message, { reason: 'api_suspended' }, headers);
}

function blocked(forMillis: number): Problem {
  const message = 'Too many rejected authentications came from this address.';
  return retryLater('ERR_RATE_LIMIT', message, { reason: 'burst_block' }, forMillis / 1000);
}
