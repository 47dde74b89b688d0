/** Providers, margin and failing webhooks in the pages of the operator. */
import { isBuiltIn, isEnabled, providers } from '../../catalog/providers.ts';
import type {
  FailingWebhook,
  MarginFigures,
  MarginView,
  PageView,
  ProviderView,
} from '../../contract/portal-views.ts';
import { isProvidersFailure } from '../../contract/route-outcome.ts';
import type { RouteAttempt, WebhookState } from '../../creations/creation.ts';
import { checkReportedDays, marginOf } from '../../operated/margin.ts';
import { operatorKeyView } from '../../operated/operator-key-view.ts';
import { marginDimensions } from '../../usage/margin.ts';
import { type AccountId, type CreationId, type NoticeId, parseNoticeId } from '../../values/ids.ts';
import { isFailing } from '../../webhooks/webhook.ts';

import { choiceOf, daysOf, oneOf, parametersOf } from '../../operated/parameters.ts';
import type { OperateHandle, OperateServices } from './open.ts';

/** The number of newest creations from which the state of the providers is computed, and of accounts. */
const mostCreations = 200;
const mostAccounts = 500;

/** GET /operator/providers: what is enabled or paused, and how the attempts of the newest creations ended. */
export const listProviders: OperateHandle<'listProviders'> = async (_request, _caller, services) => {
  const [{ enabled, pauses }, { accounts }] = await Promise.all([
    services.providers.standing(),
    services.operated.accounts(mostAccounts),
  ]);
  const ids = accounts.map(({ id }) => id);
  const creations = await services.operated.newestCreations(ids, mostCreations);
  const attempts = creations.flatMap((creation) => creation.attempts);
  const view: PageView<ProviderView> = {
    data: [...Object.keys(providers), ...enabled.filter((name) => !isBuiltIn(name))].map((name) => ({
      name,
      enabled: isEnabled(name, enabled),
      paused_since: pauses[name]?.since ?? null,
      ...health(attempts.filter((attempt) => attempt.provider === name)),
    })),
    next_cursor: null,
  };
  return { status: 200, body: view };
};

function health(attempts: readonly RouteAttempt[]): Omit<ProviderView, 'name' | 'enabled' | 'paused_since'> {
  const rendered = attempts.filter(({ outcome }) => outcome === 'rendered');
  const outcomes: Record<string, number> = {};
  for (const { outcome = 'unknown', endedAt } of attempts) {
    // An attempt without an end is still at work.
    if (outcome === 'rendered' || endedAt === undefined) continue;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return {
    attempts: attempts.length,
    succeeded: rendered.length,
    failed: attempts.filter(({ outcome }) => outcome !== undefined && isProvidersFailure(outcome)).length,
    outcomes,
    p50_seconds: medianSeconds(rendered),
  };
}

function medianSeconds(attempts: readonly RouteAttempt[]): number | null {
  const millis = attempts
    .flatMap(({ startedAt, endedAt }) =>
      endedAt === undefined ? [] : [Date.parse(endedAt) - Date.parse(startedAt)],
    )
    .sort((a, b) => a - b);
  const middle = millis[Math.floor((millis.length - 1) / 2)];
  return middle === undefined ? null : middle / 1000;
}

/** GET /operator/keys: the keys of the operator API. Only the command makes and changes them. */
export const listOperatorKeys: OperateHandle<'listOperatorKeys'> = async (
  _request,
  { nowMillis },
  { operatorKeys },
) => {
  const data = (await operatorKeys.list()).map((key) => operatorKeyView(key, nowMillis));
  return { status: 200, body: { data, next_cursor: null } };
};

export const getMargin: OperateHandle<'getMargin'> = async (request, caller, { operated }) => {
  const parameters = parametersOf(request);
  const by = parameters.read('by', oneOf(marginDimensions), choiceOf(marginDimensions)) ?? 'day';
  const days = daysOf(parameters, caller.nowMillis);
  checkReportedDays(days);
  const { lines, total } = await marginOf(operated, days, by);
  const view: MarginView = {
    ...days,
    by,
    lines: lines as unknown as MarginView['lines'],
    total: total as unknown as MarginFigures,
  };
  return { status: 200, body: view };
};

/** The most webhooks that are looked at. Behind an outage of a receiver thousands may wait. */
const mostRead = 200;

/** GET /operator/webhooks: the webhooks and notices that are failing, of all accounts. */
export const listFailingWebhooks: OperateHandle<'listFailingWebhooks'> = async (
  _request,
  { nowMillis },
  services,
) => {
  const waiting = await read(await services.operated.waitingWebhooks(mostRead), services);
  const failing = waiting.filter(({ webhook }) => isFailing(webhook, nowMillis));
  const accounts = await services.operated.accountsOf(failing.map(({ accountId }) => accountId));
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const view: PageView<FailingWebhook> = {
    data: failing.map(({ accountId, creation, webhook }) => ({
      account: accountId,
      account_name: names.get(accountId) ?? '',
      creation,
      host: URL.canParse(webhook.url) ? new URL(webhook.url).host : '',
      attempts: webhook.attempts,
      next_attempt_at: new Date(webhook.nextAt).toISOString(),
    })),
    next_cursor: null,
  };
  return { status: 200, body: view };
};

interface Waiting {
  readonly accountId: AccountId;
  readonly creation: CreationId | null;
  readonly webhook: WebhookState;
}

async function read(
  ids: readonly (CreationId | NoticeId)[],
  { creations, notices }: OperateServices,
): Promise<Waiting[]> {
  const isNotice = (id: CreationId | NoticeId): id is NoticeId => parseNoticeId(id) !== undefined;
  const [ofCreations, ofNotices] = await Promise.all([
    creations.readAll(ids.filter((id): id is CreationId => !isNotice(id))),
    notices.readAll(ids.filter(isNotice)),
  ]);
  return [
    ...ofCreations.flatMap(({ accountId, id, webhook }) =>
      webhook ? [{ accountId, creation: id, webhook }] : [],
    ),
    ...ofNotices.map(({ accountId, webhook }) => ({ accountId, creation: null, webhook })),
  ];
}
