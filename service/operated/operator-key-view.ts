import type { OperatorKeyView } from '../contract/portal-views.ts';
import { asMicros, toUsd } from '../values/money.ts';
import { dayOf } from '../values/time.ts';
import { type OperatorKey, rateOf } from './operator-key.ts';

/** What the operator sees of an operator key, in the command and in the portal. */
export function operatorKeyView(key: OperatorKey, nowMillis: number): OperatorKeyView {
  const { dailyCreditCapMicros: cap } = key;
  return {
    id: key.id,
    name: key.name,
    scopes: key.scopes,
    from: key.from ?? null,
    daily_credit_cap: cap === undefined ? null : toUsd(cap),
    credited_today: toUsd(key.creditedByDay[dayOf(nowMillis)] ?? asMicros(0)),
    post_rate: rateOf(key, 'post'),
    get_rate: rateOf(key, 'get'),
    expires_at: key.expiresAt,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt ?? null,
    revoked_at: key.revokedAt ?? null,
  };
}
