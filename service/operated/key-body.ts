/** The limits of a key in a body, for the portal and the operator API. */
import * as z from 'zod/mini';
import type { Account, KeyCaps } from '../accounts/account.ts';
import { type KeyChange, mostKeys, tooManyKeysMessage } from '../accounts/key-changes.ts';
import type { Catalog } from '../catalog/catalog-schema.ts';
import { findModel } from '../catalog/catalog.ts';
import { type FieldError, neverRetry, type Problem, retryLater, withHeaders } from '../values/problem.ts';
import { readMoment } from '../values/time.ts';
import { microsOf, moment, usd } from './body.ts';

const cap = z.optional(z.nullable(usd('zero')));

export const keyLimits = {
  daily_cap: cap,
  monthly_cap: cap,
  total_cap: cap,
  per_user_monthly_cap: cap,
  models: z.optional(z.nullable(z.array(z.string()).check(z.minLength(1), z.maxLength(100)))),
  expires_at: z.optional(z.nullable(moment)),
};

type LimitsBody = { readonly [Name in keyof typeof keyLimits]?: z.infer<(typeof keyLimits)[Name]> };

const capFields = {
  daily_cap: 'dailyCapMicros',
  monthly_cap: 'monthlyCapMicros',
  total_cap: 'totalCapMicros',
  per_user_monthly_cap: 'perUserMonthlyCapMicros',
} as const satisfies Readonly<Record<string, keyof KeyCaps>>;

/** What only this account, or this time, finds wrong with the limits. */
export function keyLimitProblems(
  { models, expires_at: expiresAt }: LimitsBody,
  { policy }: Account,
  { catalog, nowMillis }: { readonly catalog: Catalog; readonly nowMillis: number },
): FieldError[] {
  const unknown = (models ?? []).flatMap((id, index): FieldError[] =>
    findModel(catalog, policy, id)
      ? []
      : [{ field: `models[${index}]`, code: 'unknown_model', message: 'is no model of this account' }],
  );
  const isPast = typeof expiresAt === 'string' && (readMoment(expiresAt) ?? 0) <= nowMillis;
  return [
    ...unknown,
    ...(isPast
      ? [{ field: 'expires_at', code: 'too_small', message: 'must be in the future' } as const]
      : []),
  ];
}

export function keyLimitsOf(body: LimitsBody): KeyChange {
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

/** A key can be revoked at any moment. */
const revocationRetrySeconds = 60;

export function tooManyKeys(): Problem {
  const details = { scope: 'account', reason: 'keys', limit: mostKeys, current: mostKeys };
  const refusal = retryLater('ERR_QUOTA_EXCEEDED', tooManyKeysMessage, details, revocationRetrySeconds);
  return withHeaders(refusal, neverRetry);
}
