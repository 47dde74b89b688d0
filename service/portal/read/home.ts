import type { ApiKey } from '../../accounts/account.ts';
import { spentIn, spentInAll, spentOn } from '../../accounts/caps.ts';
import { isPlayground } from '../../accounts/key-changes.ts';
import type { HomeView } from '../../contract/portal-views.ts';
import { asMicros, type Micros, toUsd } from '../../values/money.ts';
import { dayOf, monthOf } from '../../values/time.ts';
import type { Delivery } from '../../webhooks/delivery.ts';
import { isFailing, scheduleOf } from '../../webhooks/webhook.ts';
import { creationRow } from '../creation-view.ts';
import { isTest } from '../delivery-view.ts';

import { keyView } from '../../operated/key-view.ts';
import type { ReadHandle } from './open.ts';

const shownCreations = 10;
/** Within this time every webhook has had its last attempt. */
const failingMillis = 24 * 3_600_000;
const nearCap = 0.8;

/** GET /home: the state of the account. Its spend is the sum over its keys, which each charge updates. */
export const getHome: ReadHandle<'getHome'> = async (_request, caller, services) => {
  const { account, nowMillis } = caller;
  const { reads, creations, deliveries } = services;
  const [keys, newest, attempts, newestAttempt] = await Promise.all([
    reads.keys(account.id),
    creations.list(account.id, shownCreations),
    deliveries.since(account.id, nowMillis - failingMillis),
    deliveries.page(account.id, { limit: 1 }),
  ]);
  const schedules = schedulesOf(attempts);
  const own = keys.filter((key) => !isPlayground(key));
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]));
  const showing = { keyNames, addressOf: await services.results.of(newest), nowMillis };
  const sumOf = (spent: (key: ApiKey) => Micros): number =>
    toUsd(asMicros(keys.reduce((sum, key) => sum + spent(key), 0)));
  const { availableMicros, creditLineMicros } = account;
  const body: HomeView = {
    available: toUsd(availableMicros),
    balance: toUsd(asMicros(availableMicros - creditLineMicros)),
    credit_line: toUsd(creditLineMicros),
    in_flight: account.inFlight,
    max_concurrent: account.limits.maxConcurrent,
    spent_today: sumOf((key) => spentOn(key, dayOf(nowMillis))),
    spent_this_month: sumOf((key) => spentIn(key, monthOf(nowMillis))),
    monthly_budget: account.monthlyBudgetMicros === undefined ? null : toUsd(account.monthlyBudgetMicros),
    creations: newest.map((creation) => creationRow(creation, showing)),
    failing_webhooks: schedules.filter((schedule) => isFailing(schedule, nowMillis)).length,
    failed_webhooks: schedules.filter(({ status }) => status === 'failed').length,
    keys_near_cap: own
      .filter((key) => key.revokedAt === undefined && isNearCap(key, nowMillis))
      .map((key) => keyView(key, nowMillis)),
    steps: {
      has_key: own.length > 0,
      has_creation: newest.length > 0,
      has_webhook_secret: account.webhookSecrets.length > 0,
      has_delivery: newestAttempt.deliveries.length > 0,
    },
  };
  return { status: 200, body };
};

/** The state of each webhook and each notice after its newest attempt. The attempts are the newest first. */
function schedulesOf(attempts: readonly Delivery[]): ReturnType<typeof scheduleOf>[] {
  const newest = new Map<string, Delivery>();
  for (const attempt of attempts) {
    const owner = attempt.noticeId ?? attempt.creationId;
    if (owner !== undefined && !isTest(attempt) && !newest.has(owner)) newest.set(owner, attempt);
  }
  return [...newest.values()].map(scheduleOf);
}

function isNearCap(key: ApiKey, nowMillis: number): boolean {
  const caps: readonly (readonly [Micros | undefined, Micros])[] = [
    [key.dailyCapMicros, spentOn(key, dayOf(nowMillis))],
    [key.monthlyCapMicros, spentIn(key, monthOf(nowMillis))],
    [key.totalCapMicros, spentInAll(key)],
  ];
  return caps.some(([cap, spent]) => cap !== undefined && spent >= cap * nearCap);
}
