/** The bodies by which the operator opens and changes accounts. */
import * as z from 'zod/mini';
import { conditions } from '../../../core/account.ts';
import { limitRanges, type AccountLimits } from '../../../core/limits.ts';
import { shownText, usd, version } from '../http/body.ts';

function limit(name: keyof AccountLimits): z.ZodMiniOptional<z.ZodMiniNumber> {
  const [least, most] = limitRanges[name];
  return z.optional(
    z.number().check(
      z.refine((value) => Number.isInteger(value), {
        error: 'must be a whole number',
        params: { code: 'invalid_type' },
      }),
      z.minimum(least),
      z.maximum(most),
    ),
  );
}

const limitFields = {
  post_rate: 'postRate',
  get_rate: 'getRate',
  max_concurrent: 'maxConcurrent',
  deadline_seconds: 'deadlineSeconds',
  max_unused_uploads: 'maxUnusedUploads',
} as const satisfies Readonly<Record<string, keyof AccountLimits>>;

const limits = z.optional(
  z.strictObject({
    post_rate: limit('postRate'),
    get_rate: limit('getRate'),
    max_concurrent: limit('maxConcurrent'),
    deadline_seconds: limit('deadlineSeconds'),
    max_unused_uploads: limit('maxUnusedUploads'),
  }),
);

const creditLine = z.optional(usd('zero'));

export const newAccountSchema = z.strictObject({
  name: shownText('name'),
  balance: z.optional(usd('zero')),
  credit_line: creditLine,
  limits,
});

export const accountChangeSchema = z.strictObject({
  name: z.optional(shownText('name')),
  credit_line: creditLine,
  condition: z.optional(z.enum(conditions)),
  limits,
  /** Absent: the change holds whatever the account has become. */
  version: z.optional(version),
});

/** The limits that the body names. */
export function limitsIn(body: z.infer<typeof accountChangeSchema>['limits']): Partial<AccountLimits> {
  return Object.fromEntries(
    Object.entries(limitFields).flatMap(([field, name]) => {
      const value = body?.[field as keyof typeof limitFields];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
