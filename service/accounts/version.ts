import { createHash } from 'node:crypto';
import type { Account, ApiKey } from './account.ts';
import { capNames } from './caps.ts';

const length = 22;

/** An absent value and null are the same: both mean that nothing is set. */
export function versionOf(values: readonly unknown[]): string {
  const text = JSON.stringify(values.map((value) => value ?? null));
  return createHash('sha256').update(text).digest('base64url').slice(0, length);
}

/** Of a key: its name and its limits. A revocation is another version, too. */
export function keyVersion(
  key: Pick<ApiKey, 'name' | 'models' | 'expiresAt' | 'revokedAt' | (typeof capNames)[number]>,
): string {
  const caps = capNames.map((name) => key[name]);
  return versionOf([key.name, ...caps, key.models, key.expiresAt, key.revokedAt]);
}

export function budgetVersion({ monthlyBudgetMicros }: Pick<Account, 'monthlyBudgetMicros'>): string {
  return versionOf([monthlyBudgetMicros]);
}

export function alertsVersion(account: Pick<Account, 'noticeUrl' | 'lowBalanceMicros'>): string {
  return versionOf([account.noticeUrl, account.lowBalanceMicros]);
}

/** In the version of an account: nothing without a choice, so that versions of older releases hold. */
export function resultsIn({
  results,
  resultsMinutes,
}: Pick<Account, 'results' | 'resultsMinutes'>): readonly unknown[] {
  return results === undefined && resultsMinutes === undefined ? [] : [[results, resultsMinutes]];
}
