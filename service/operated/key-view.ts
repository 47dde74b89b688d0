/** What people see of a key. */
import type { ApiKey } from '../accounts/account.ts';
import { beginningOfKey } from '../accounts/api-key.ts';
import { spentIn, spentInAll, spentOn } from '../accounts/caps.ts';
import { keyVersion } from '../accounts/version.ts';
import type { KeyView } from '../contract/portal-views.ts';
import { type Micros, toUsd } from '../values/money.ts';
import { Problem } from '../values/problem.ts';
import { dayOf, monthOf } from '../values/time.ts';

export function keyView(key: ApiKey, nowMillis: number): KeyView {
  return {
    id: key.id,
    name: key.name,
    prefix: beginningOfKey(key.accountId, key.id),
    last4: key.last4 ?? null,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt ?? null,
    expires_at: key.expiresAt ?? null,
    revoked_at: key.revokedAt ?? null,
    models: key.models ?? null,
    daily_cap: orNull(key.dailyCapMicros),
    monthly_cap: orNull(key.monthlyCapMicros),
    total_cap: orNull(key.totalCapMicros),
    per_user_monthly_cap: orNull(key.perUserMonthlyCapMicros),
    spent_today: toUsd(spentOn(key, dayOf(nowMillis))),
    spent_this_month: toUsd(spentIn(key, monthOf(nowMillis))),
    spent_total: toUsd(spentInAll(key)),
    version: keyVersion(key),
  };
}

/** 404: the same answer for an absent key, for another account's, and for the key of the playground. */
export function keyNotFound(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no key with this id.');
}

function orNull(amount: Micros | undefined): number | null {
  return amount === undefined ? null : toUsd(amount);
}
