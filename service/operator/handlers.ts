/** The Lambda function of the operator API. */
import type { Action } from '../operated/action-store.ts';
import { cursorWords, dayIn, fromCursor, parametersOf, toCursor, wrong } from '../operated/parameters.ts';
import { parseAccountId } from '../values/ids.ts';
import { changeAccount, getAccount, listAccounts, openAccount } from './accounts.ts';
import { pageOf, reading } from './context.ts';
import { getUsage, listModels, listProviders, reportMargin, reportUsage } from './figures.ts';
import { changeKey, createKey, getKey, listKeys, revokeKey, rollKey } from './keys.ts';
import {
  adjustWallet,
  createPayment,
  getPayment,
  getWallet,
  listLedger,
  listPayments,
  reversePayment,
} from './money.ts';
import { getWebhookSecret, issueWebhookSecret, rotateWebhookSecret } from './secrets.ts';
import type { OperatorHandlers } from './serve-operator.ts';

function actionView({ id, at, action, target, outcome, note, operatorKey, email }: Action) {
  return {
    id,
    at,
    action,
    target: target ?? null,
    outcome,
    note: note ?? null,
    operator_key: operatorKey ?? null,
    person: operatorKey ? null : email,
  };
}

/** GET /actions: the newest first, of the operator or of one account. */
const listActions = reading(async ({ request, services }) => {
  const parameters = parametersOf(request);
  const limit = parameters.limit();
  const account = parameters.read('account', parseAccountId, 'must be the id of an account');
  const words = 'must be a UTC day, such as 2026-11-21';
  const from = parameters.read('from', dayIn, words);
  const to = parameters.read('to', dayIn, words);
  const after = parameters.read(
    'cursor',
    (text) => {
      const place = fromCursor(text);
      return typeof place === 'string' && /^[\dT:.Z-]{24}#[\w-]{8}$/.test(place) ? place : undefined;
    },
    cursorWords,
  );
  parameters.check();
  const days = { from: from ?? '2000-01-01', to: to ?? '9998-12-31' };
  if (days.from > days.to) throw wrong('from', 'must not be after "to"');
  const { actions } = await services.actions.list(account ?? 'SERVICE', limit + 1, after, days);
  return pageOf(actions, limit, actionView, ({ id }) => toCursor(id));
});

export const operatorHandlers: OperatorHandlers = {
  listAccounts,
  openAccount,
  getAccount,
  changeAccount,
  listKeys,
  getKey,
  createKey,
  changeKey,
  rollKey,
  revokeKey,
  getWallet,
  listLedger,
  listPayments,
  getPayment,
  createPayment,
  reversePayment,
  adjustWallet,
  getWebhookSecret,
  issueWebhookSecret,
  rotateWebhookSecret,
  getUsage,
  reportUsage,
  reportMargin,
  listModels,
  listProviders,
  listActions,
};
