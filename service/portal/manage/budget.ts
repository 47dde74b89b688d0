/** The monthly budget of an account. It only sends notices: caps of keys and the wallet refuse requests. */
import * as z from 'zod/mini';
import { budgetVersion } from '../../accounts/version.ts';
import type { BudgetView } from '../../contract/portal-views.ts';
import { checkAfterCommand } from '../../notices/check-thresholds.ts';
import { microsOf, parseBody, usd, version } from '../../operated/body.ts';
import { formatUsd, toUsd } from '../../values/money.ts';
import { monthOf } from '../../values/time.ts';
import { changedMeanwhile } from '../http/portal-request.ts';
import type { ManageHandle } from './open.ts';

const budgetSchema = z.strictObject({ monthly_budget: z.nullable(usd('above zero')), version });

/** PUT /budget: null removes the budget. An account that has spent so much already gets the notice at once. */
export const setBudget: ManageHandle<'setBudget'> = async (request, { account, nowMillis }, services) => {
  const { monthly_budget: amount, version: asRead } = parseBody(request, budgetSchema);
  if (budgetVersion(account) !== asRead) throw changedMeanwhile();
  const micros = amount === null ? undefined : microsOf(amount);
  if (!(await services.accounts.changeBudget(account, micros))) throw changedMeanwhile();
  await checkAfterCommand({ accountId: account.id, periods: { monthly: monthOf(nowMillis) } }, services);
  const stored = micros === undefined ? {} : { monthlyBudgetMicros: micros };
  const body: BudgetView = {
    monthly_budget: micros === undefined ? null : toUsd(micros),
    version: budgetVersion(stored),
  };
  return { status: 200, body, logged: { note: micros === undefined ? 'none' : formatUsd(micros) } };
};
