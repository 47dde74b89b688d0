import type { ApiKey } from '../../core/account.ts';
import { spentIn, spentInAll, spentOn } from '../../core/caps.ts';
import { dayOf, monthOf, nextDay, nextMonth } from '../../core/creation.ts';
import { asMicros, toUsd, type Micros } from '../../core/money.ts';
import { invalidRequest } from '../../core/problem.ts';
import { isUser } from '../../core/user.ts';
import { openApi, type ApiServices } from '../services/api.ts';
import { base, dynamodb } from '../services/lambda.ts';
import { atFirstRequest } from '../services/open.ts';
import { checkQuery } from '../http/request.ts';
import { serve, type Handle } from '../http/serve.ts';

/**
 * GET /balance: what the account can spend, and what this key can spend in each of its periods; with ?user,
 * also what the key has spent for that user.
 */
export const getBalance: Handle<ApiServices> = async (request, { account, apiKey, state, nowMillis }) => {
  checkQuery(request, 'getBalance');
  const { user } = request.query;
  if (user !== undefined && !isUser(user)) throw invalidRequest([wrongUser]);
  return Promise.resolve({
    status: 200,
    body: {
      available: toUsd(account.availableMicros),
      balance: toUsd(asMicros(account.availableMicros - account.creditLineMicros)),
      credit_line: toUsd(account.creditLineMicros),
      currency: 'USD',
      in_flight: account.inFlight,
      max_concurrent: account.limits.maxConcurrent,
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
  });
};

const wrongUser = { field: 'user', code: 'invalid_value', message: 'must be the user of a creation' };

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

export const handler = serve(
  'get',
  getBalance,
  atFirstRequest(() => openApi({ ...base(), dynamodb: dynamodb() })),
);
