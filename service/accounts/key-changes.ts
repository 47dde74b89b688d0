/** How people make, change and roll API keys, by command or portal. api-key.ts has the form of a key. */
import { type AccountId, type KeyId, parseKeyId, randomBase62 } from '../values/ids.ts';
import type { Clock, RandomBytes } from '../values/runtime.ts';
import type { Account, ApiKey, KeyCaps } from './account.ts';
import { createKey, hashKey, lastOfKey } from './api-key.ts';
import { capNames, isExpired } from './caps.ts';

export type KeyLimits = Pick<ApiKey, keyof KeyCaps | 'models' | 'expiresAt'>;
/** A new value for each limit that changes. null removes the limit. */
export type KeyChange = { readonly [Name in keyof KeyLimits]: Exclude<KeyLimits[Name], undefined> | null };
export type KeyEdit = KeyChange & { readonly name?: string };

/** A key, and the text that its holder sends. The text is not stored, so it can be shown only now. */
export interface NewKey {
  readonly record: ApiKey;
  readonly key: string;
}

export interface KeyMaking {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/** Makes a key, which is still to be stored. A limit that is null is simply absent. */
export function newKey(
  accountId: AccountId,
  { name, ...limits }: KeyChange & { readonly name: string },
  { clock, randomBytes }: KeyMaking,
): NewKey {
  const id = drawKeyId(randomBytes);
  const key = createKey(accountId, id, randomBytes);
  const record: ApiKey = {
    id,
    accountId,
    name,
    hash: hashKey(key),
    last4: lastOfKey(key),
    createdAt: new Date(clock.now()).toISOString(),
    ...(Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null)) as KeyLimits),
    spent: {},
    spentByDay: {},
  };
  return { record, key };
}

function drawKeyId(randomBytes: RandomBytes): KeyId {
  const id = parseKeyId(randomBase62(6, randomBytes));
  if (!id) throw new Error('a new key id has a wrong form');
  return id;
}

export function editedKey(key: ApiKey, edit: KeyEdit): ApiKey {
  const merged = Object.entries({ ...key, ...edit }).filter(([, value]) => value !== null);
  return Object.fromEntries(merged) as unknown as ApiKey;
}

export const rollMillis = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000 } as const;
export type RollTime = keyof typeof rollMillis;

/** When the replaced key ends. Never later than it would have ended anyway. */
export function replacedUntil({ expiresAt }: ApiKey, endsIn: RollTime, nowMillis: number): string {
  const until = new Date(nowMillis + rollMillis[endsIn]).toISOString();
  return expiresAt !== undefined && expiresAt < until ? expiresAt : until;
}

/** The limits that a replacement key keeps. An expiry that an earlier roll set was not chosen by people. */
export function limitsToKeep(key: ApiKey): KeyLimits {
  const expiresAt = key.rolled ? key.rolled.expiresAt : key.expiresAt;
  const kept = [...capNames, 'models'] as const;
  const limits = Object.fromEntries(
    kept.flatMap((name) => (key[name] === undefined ? [] : [[name, key[name]]])),
  );
  return { ...limits, ...(expiresAt !== undefined && { expiresAt }) };
}

export function isUsable(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, nowMillis: number): boolean {
  return key.revokedAt === undefined && !isExpired(key, nowMillis);
}

/** The id of the key to which the playground of the portal charges. */
export const playgroundKeyId = 'portal' as KeyId;
export const playgroundName = 'Playground';

/** Whether the key is the playground's. It is in no list of keys, and cannot be rolled or revoked. */
export function isPlayground({ id }: Pick<ApiKey, 'id'>): boolean {
  return id === playgroundKeyId;
}

/** The key of the playground. No text has the empty hash, so no request can present this key. */
export function playgroundKey({ id }: Pick<Account, 'id'>, nowMillis: number): ApiKey {
  return {
    id: playgroundKeyId,
    accountId: id,
    name: playgroundName,
    hash: '',
    createdAt: new Date(nowMillis).toISOString(),
    spent: {},
    spentByDay: {},
  };
}

/** Keys of an account that are neither revoked nor expired. A key that was rolled counts until its end. */
export const mostKeys = 100;

export const tooManyKeysMessage = `An account may have ${mostKeys} keys that work. Revoke one that nobody uses.`;
