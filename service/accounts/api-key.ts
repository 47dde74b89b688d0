/**
 * API keys. A token after the fixed prefix:
 *
 *   dk_live_ AAAAAAAAAA KKKKKK RRRRRRRRRRRRRRRRRR CCCCCC
 *            account 10 key 6  random 18          checksum 6
 *
 * The token names its account and its key, so that one call to DynamoDB reads both items.
 * The checksum finds a mistyped key without a call. Only the SHA-256 of the token is stored.
 * A pepper is not needed, since the token has 107 random bits.
 */
import { createHash } from 'node:crypto';
import { type AccountId, type KeyId, randomBase62, toBase62 } from '../values/ids.ts';

export const keyPrefix = 'dk_live_';
const checksumSpace = 62n ** 6n;
const form = /^dk_live_([0-9A-Za-z]{10})([0-9A-Za-z]{6})([0-9A-Za-z]{18})([0-9A-Za-z]{6})$/;

export interface ParsedKey {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Lower-case hex of the SHA-256 of the whole key. */
  readonly hash: string;
}

/** @param text the prefix and everything before the checksum */
export function checksumOf(text: string): string {
  const digest = createHash('sha256').update(text).digest();
  return toBase62(digest.readBigUInt64BE(0) % checksumSpace, 6);
}

/** Lower-case hex of the SHA-256 of a key. The service stores a key in this form only. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/**
 * The last characters of a key, stored for people. They are part of the checksum and reveal no secret bits.
 */
export function lastOfKey(key: string): string {
  return key.slice(-4);
}

export function beginningOfKey(accountId: AccountId, keyId: KeyId): string {
  return `${keyPrefix}${accountId}${keyId}`;
}

/** A new key. The operator sees it once; afterwards only its hash exists. */
export function createKey(
  accountId: AccountId,
  keyId: KeyId,
  randomBytes: (count: number) => Uint8Array,
): string {
  const body = `${keyPrefix}${accountId}${keyId}${randomBase62(18, randomBytes)}`;
  return `${body}${checksumOf(body)}`;
}

/** The account, the id and the hash of a key. Undefined when its form or its checksum is wrong. */
export function parseKey(key: string): ParsedKey | undefined {
  const match = form.exec(key);
  if (!match) return undefined;
  const [, account = '', id = '', random = '', checksum = ''] = match;
  if (checksumOf(`${keyPrefix}${account}${id}${random}`) !== checksum) return undefined;
  return { accountId: account as AccountId, keyId: id as KeyId, hash: hashKey(key) };
}
