/**
 * Tokens of end users. A key of an account mints a token for the browser or the app of one user:
 *
 *   dk_user_ AAAAAAAAAA KKKKKK UUUUUUUTTT RRRRRRRRRRRRRRRRRR CCCCCC
 *            account 10 key 6  token 10   random 18          checksum 6
 *
 * A token names its account, its key and its item, so the one read of a request finds all three. Seven digits of the
 * token are a hash of its user: the same read finds what an earlier token of the user did with an Idempotency-Key.
 */
import { createHash } from 'node:crypto';
import { type AccountId, type KeyId, randomBase62, toBase62, type TokenId } from '../values/ids.ts';
import { asMicros, type Micros, toUsd } from '../values/money.ts';
import type { ApiKey } from './account.ts';
import { checksumOf, hashKey } from './api-key.ts';
import { isExpired } from './caps.ts';

const tokenPrefix = 'dk_user_';
const form = /^dk_user_([0-9A-Za-z]{10})([0-9A-Za-z]{16})[0-9A-Za-z]{18}([0-9A-Za-z]{6})$/;
const userDigits = 7;
/** The item outlives the token by more than a day (user-token-items.ts). */
const givesBackMillis = 24 * 3_600_000;

export interface UserToken {
  readonly id: TokenId;
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly hash: string;
  readonly user: string;
  readonly limitMicros: Micros;
  /** The limit less the charges, plus the refunds. */
  readonly leftMicros: Micros;
  readonly maxUses: number;
  readonly usesLeft: number;
  readonly uploadsLeft: number;
  /** Absent: all models of the key. */
  readonly models?: readonly string[];
  /** The pages that may send the token. Requests without Origin come from apps and servers. */
  readonly origins: readonly string[];
  /** Of every creation that the token makes. */
  readonly webhookUrl?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly expiresAt: string;
  readonly revokedAt?: string;
}

export interface ParsedToken {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly id: TokenId;
  /** Lower-case hex of the SHA-256 of the whole token. */
  readonly hash: string;
}

/** The parts of a token. Undefined when its form or its checksum is wrong. */
export function parseUserToken(text: string): ParsedToken | undefined {
  const [, account = '', id = '', checksum = ''] = form.exec(text) ?? [];
  if (checksum === '' || checksumOf(text.slice(0, -checksum.length)) !== checksum) return undefined;
  return {
    accountId: account as AccountId,
    keyId: id.slice(0, 6) as KeyId,
    id: id as TokenId,
    hash: hashKey(text),
  };
}

function userPart(account: AccountId, user: string): string {
  const digest = createHash('sha256').update(`${account}#${user}`).digest();
  return toBase62(digest.readBigUInt64BE(0) % 62n ** BigInt(userDigits), userDigits);
}

/** A new id and the token with this id. The service shows the token once. */
export function newUserToken(
  { id: keyId, accountId }: Pick<ApiKey, 'id' | 'accountId'>,
  user: string,
  randomBytes: (count: number) => Uint8Array,
): Pick<UserToken, 'id' | 'hash'> & { readonly text: string } {
  const id = `${keyId}${userPart(accountId, user)}${randomBase62(10 - userDigits, randomBytes)}` as TokenId;
  const body = `${tokenPrefix}${accountId}${id}${randomBase62(18, randomBytes)}`;
  const text = `${body}${checksumOf(body)}`;
  return { id, hash: hashKey(text), text };
}

/** The hash of an Idempotency-Key among the tokens of one user. */
export function hashForUser(id: TokenId, hash: string): string {
  return createHash('sha256')
    .update(`${id.slice(6, 6 + userDigits)}#${hash}`)
    .digest('hex');
}

/** How a token ended, by itself or with its key. Undefined: it works. */
export function tokenEnd(
  token: Pick<UserToken, 'expiresAt' | 'revokedAt'>,
  apiKey: Pick<ApiKey, 'expiresAt' | 'revokedAt'> | undefined,
  nowMillis: number,
): 'expired' | 'revoked' | undefined {
  if (!apiKey || token.revokedAt !== undefined || apiKey.revokedAt !== undefined) return 'revoked';
  return isExpired(token, nowMillis) || isExpired(apiKey, nowMillis) ? 'expired' : undefined;
}

/** Whether a refund gives back to the token: the item surely exists. */
export function isTokenGivenBack(chargedAt: string, nowMillis: number): boolean {
  return nowMillis < Date.parse(chargedAt) + givesBackMillis;
}

/** The models of the key that the token may use. Undefined: all models of the account. */
export function modelsOf(
  token: Pick<UserToken, 'models'>,
  apiKey: Pick<ApiKey, 'models'>,
): readonly string[] | undefined {
  if (token.models === undefined) return apiKey.models;
  return token.models.filter((model) => apiKey.models?.includes(model) ?? true);
}

export function userTokenView(token: UserToken): Record<string, unknown> {
  return {
    id: token.id,
    user: token.user,
    spend_limit: toUsd(token.limitMicros),
    max_uses: token.maxUses,
    models: token.models ?? null,
    origins: token.origins,
    expires_at: token.expiresAt,
  };
}

/** The same with what the token did. */
export function usedTokenView(token: UserToken): Record<string, unknown> {
  return {
    ...userTokenView(token),
    spent: toUsd(spentOf(token)),
    uses: token.maxUses - token.usesLeft,
    revoked_at: token.revokedAt ?? null,
  };
}

export function spentOf({ limitMicros, leftMicros }: UserToken): Micros {
  return asMicros(limitMicros - leftMicros);
}
