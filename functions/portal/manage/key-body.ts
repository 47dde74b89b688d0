/** The body of a new key and of a changed one. */
import * as z from 'zod/mini';
import type { Account, ApiKey, KeyCaps } from '../../../core/account.ts';
import { mostKeys, playgroundKeyId, tooManyKeysMessage, type KeyChange } from '../../../core/api-keys.ts';
import { findModel, type Catalog } from '../../../core/catalog.ts';
import { parseKeyId } from '../../../core/ids.ts';
import { formatUsd } from '../../../core/money.ts';
import { readMoment } from '../../../core/moment.ts';
import type { KeyStore } from '../../../core/ports/keys.ts';
import type { Member } from '../../../core/portal/people.ts';
import { invalidRequest, Problem, retryLater, type FieldError } from '../../../core/problem.ts';
import { microsOf, moment, shownText, usd, version } from '../http/body.ts';

const cap = z.optional(z.nullable(usd('zero')));

const limits = {
  daily_cap: cap,
  monthly_cap: cap,
  total_cap: cap,
  per_user_monthly_cap: cap,
  models: z.optional(z.nullable(z.array(z.string()).check(z.minLength(1), z.maxLength(100)))),
  expires_at: z.optional(z.nullable(moment)),
};

export const newKeySchema = z.strictObject({ name: shownText('name'), ...limits });
export const keyChangeSchema = z.strictObject({ name: z.optional(shownText('name')), ...limits, version });

type LimitsBody = z.infer<typeof keyChangeSchema>;

const capFields = {
  daily_cap: 'dailyCapMicros',
  monthly_cap: 'monthlyCapMicros',
  total_cap: 'totalCapMicros',
  per_user_monthly_cap: 'perUserMonthlyCapMicros',
} as const satisfies Readonly<Record<string, keyof KeyCaps>>;

/** What only this account, or this time, finds wrong with the limits. */
export function limitProblems(
  { models, expires_at: expiresAt }: Omit<LimitsBody, 'version'>,
  { policy }: Account,
  { catalog, nowMillis }: { readonly catalog: Catalog; readonly nowMillis: number },
): FieldError[] {
  const unknown = (models ?? []).flatMap((id, index) =>
    findModel(catalog, policy, id)
      ? []
      : [{ field: `models[${index}]`, code: 'unknown_model', message: 'is no model of this account' }],
  );
  const isPast = typeof expiresAt === 'string' && (readMoment(expiresAt) ?? 0) <= nowMillis;
  return [
    ...unknown,
    ...(isPast ? [{ field: 'expires_at', code: 'too_small', message: 'must lie ahead' }] : []),
  ];
}

/** The limits that the body names. Null removes a limit. */
export function limitsOf(body: Omit<LimitsBody, 'version'>): KeyChange {
  const { models, expires_at: expiresAt } = body;
  const caps = Object.entries(capFields).flatMap(([field, name]) => {
    const amount = body[field as keyof typeof capFields];
    return amount === undefined ? [] : [[name, amount === null ? null : microsOf(amount)]];
  });
  return {
    ...(Object.fromEntries(caps) as KeyChange),
    ...(models !== undefined && { models: models && [...new Set(models)] }),
    ...(expiresAt !== undefined && {
      expiresAt: expiresAt && new Date(readMoment(expiresAt) ?? 0).toISOString(),
    }),
  };
}

/**
 * Throws 400 when the person's own cap does not allow a key with these limits. An owner has no such cap. A key of a
 * person with a cap always has a monthly cap, which is not above it.
 */
export function checkOwnCap({ role, keyCapMicros }: Member, key: Pick<ApiKey, 'monthlyCapMicros'>): void {
  if (role === 'owner' || keyCapMicros === undefined) return;
  if (key.monthlyCapMicros !== undefined && key.monthlyCapMicros <= keyCapMicros) return;
  const message = `must be at most ${formatUsd(keyCapMicros)}, your own limit for keys`;
  throw invalidRequest([{ field: 'monthly_cap', code: 'over_own_cap', message }]);
}

/** 404: the same answer for an absent key, for another account's, and for the key of the playground. */
export function noSuchKey(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no key with this id.');
}

/** A key can be revoked at any moment. */
const revocationRetrySeconds = 60;

/** 429: nothing is stored. */
export function tooManyKeys(): Problem {
  const details = { scope: 'account', reason: 'keys', limit: mostKeys, current: mostKeys };
  return retryLater('ERR_QUOTA_EXCEEDED', tooManyKeysMessage, details, revocationRetrySeconds);
}

/** The key that the path names. Throws 404 when the account has no such key that people manage. */
export async function readKey(
  { id }: Pick<Account, 'id'>,
  pathId: string,
  keys: Pick<KeyStore, 'read'>,
): Promise<ApiKey> {
  const keyId = parseKeyId(pathId);
  const key = keyId === undefined || keyId === playgroundKeyId ? undefined : await keys.read(id, keyId);
  if (!key) throw noSuchKey();
  return key;
}
