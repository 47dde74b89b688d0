import { monthOf, nextMonth } from '../../core/creation.ts';
import { asMicros, toUsd } from '../../core/money.ts';
import { apiServices, type ApiServices } from '../services/api.ts';
import { atFirstRequest } from '../services/open.ts';
import { checkQuery } from '../http/request.ts';
import { serve, type Handle } from '../http/serve.ts';

/** GET /balance: what the account can spend, and what this key can spend this month. */
export const getBalance: Handle<ApiServices> = async (request, { account, apiKey, nowMillis }) => {
  checkQuery(request, 'getBalance');
  const cap = apiKey.monthlyCapMicros;
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
        monthly_cap: cap === undefined ? null : toUsd(cap),
        spent: toUsd(apiKey.spent[monthOf(nowMillis)] ?? asMicros(0)),
        resets_at: nextMonth(nowMillis),
      },
    },
  });
};

export const handler = serve('get', getBalance, atFirstRequest(apiServices));
