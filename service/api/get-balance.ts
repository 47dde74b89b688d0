import type { ApiKey } from '../accounts/account.ts';
import { spentIn, spentInAll, spentOn } from '../accounts/caps.ts';
import { isUser } from '../accounts/end-user.ts';
import { asMicros, type Micros, toUsd } from '../values/money.ts';
import { type FieldError, invalidRequest } from '../values/problem.ts';
import { dayOf, monthOf, nextDay, nextMonth } from '../values/time.ts';
import type { BalanceServices } from './open.ts';
import { checkQuery } from './request.ts';
import type { Handle } from './serve.ts';

/** GET /balance: what the account and this key can spend; with ?user, also what the user has spent. */
export const getBalance: Handle<BalanceServices> = async (
  request,
  { account, apiKey, state, nowMillis },
  { topUpState },
) => {
  checkQuery(request, 'getBalance');
  const { user } = request.query;
  if (user !== undefined && !isUser(user)) throw invalidRequest([wrongUser]);
  const autoTopUp = await topUpState(account);
  return {
    status: 200,
    body: {
      available: toUsd(account.availableMicros),
      balance: toUsd(asMicros(account.availableMicros - account.creditLineMicros)),
      credit_line: toUsd(account.creditLineMicros),
      currency: 'USD',
      in_flight: account.inFlight,
      max_concurrent: account.limits.maxConcurrent,
      ...(autoTopUp && { auto_top_up: autoTopUp }),
      key: {
        ...keyView(apiKey, nowMillis),
        user:
          user === undefined
            ? null
            : {
                id: user,
                spent: toUsd(state.userSpentMicros ?? asMicros(0)),
                resets_at: nextMonth(nowMillis),
              },
      },
    },
  };
};

const wrongUser: FieldError = {
  field: 'user',
  code: 'invalid_value',
  message: 'must be the user of a creation',
};

function keyView(apiKey: ApiKey, nowMillis: number): Record<string, unknown> {
  const orNull = (cap: Micros | undefined): number | null => (cap === undefined ? null : toUsd(cap));
  return {
    monthly_cap: orNull(apiKey.monthlyCapMicros),
    spent: toUsd(spentIn(apiKey, monthOf(nowMillis))),
    resets_at: nextMonth(nowMillis),
    daily_cap: orNull(apiKey.dailyCapMicros),
    spent_today: toUsd(spentOn(apiKey, dayOf(nowMillis))),
    day_resets_at: nextDay(nowMillis),
    total_cap: orNull(apiKey.totalCapMicros),
    spent_total: toUsd(spentInAll(apiKey)),
    per_user_monthly_cap: orNull(apiKey.perUserMonthlyCapMicros),
    models: apiKey.models ?? null,
    expires_at: apiKey.expiresAt ?? null,
  };
}
