/** Webhook secrets, test deliveries, redeliveries and alerts, as the owners of an account manage them. */
import * as z from 'zod/mini';
import type { Account } from '../../accounts/account.ts';
import { alertsVersion } from '../../accounts/version.ts';
import { creationNotFound } from '../../api/problems.ts';
import type { AlertsView, RedeliveredView, SecretView, TestedView } from '../../contract/portal-views.ts';
import type { WebhookState } from '../../creations/creation.ts';
import { checkNoticeUrl } from '../../notices/alert-settings.ts';
import { checkAfterCommand } from '../../notices/check-thresholds.ts';
import { readClientUrl } from '../../outbound/client-url.ts';
import { type AccountId, type CreationId, parseCreationId } from '../../values/ids.ts';
import { toUsd } from '../../values/money.ts';
import { type FieldErrorCode, invalidRequest, Problem, retryLater } from '../../values/problem.ts';
import { readMoment } from '../../values/time.ts';
import { failedEndpoints } from '../../webhooks/delivery.ts';
import { type Endpoint, endpointEvents } from '../../webhooks/endpoint.ts';
import { issueSecret, newestSecret } from '../../webhooks/issue-secret.ts';
import { reopenWebhook, sendTestDelivery, type TestTarget } from '../../webhooks/redeliver.ts';
import { SecretLost } from '../../webhooks/secret-box.ts';
import { type SignFrom, signFromSeconds } from '../../webhooks/secrets.ts';
import { testDeliverySeconds } from '../../webhooks/webhook.ts';
import { deliveryDetail } from '../delivery-view.ts';
import { microsOf, moment, parseBody, usd, version } from '../../operated/body.ts';

import { changedMeanwhile } from '../http/portal-request.ts';
import type { ManageHandle, ManageServices } from './open.ts';

const sinceSchema = z.strictObject({ since: moment, endpoint: z.optional(z.string()) });

/** The most webhooks that one request sends again, and how many of them at once. */
const mostRedelivered = 100;
const atOnce = 8;
/** With less time left the request answers what it has done. */
const enoughMillis = 8_000;

/** POST /deliveries/redeliver: sends again what failed for good, in portions, each creation once. */
export const redeliverFailed: ManageHandle<'redeliverFailed'> = async (request, caller, services) => {
  const { since, endpoint } = parseBody(request, sinceSchema);
  if (endpoint !== undefined) await endpointOf(endpoint, caller.account.id, services);
  let redelivered = 0;
  const answer = (hasMore: boolean): Awaited<ReturnType<typeof redeliverFailed>> => {
    const view: RedeliveredView = { redelivered, has_more: hasMore };
    const note = `${redelivered} since ${since} to ${endpoint ?? 'all'}`;
    return { status: 202, body: view, logged: { note } };
  };
  const pages = failedSince(caller.account.id, readMoment(since) ?? 0, endpoint, services);
  for await (const creations of pages) {
    for (let start = 0; start < creations.length; start += atOnce) {
      if (redelivered >= mostRedelivered || services.budget.left() < enoughMillis) return answer(true);
      const some = creations.slice(start, start + atOnce);
      const outcomes = await Promise.all(
        some.map((creation) => reopenWebhook(creation, services, endpoint ?? failedEndpoints)),
      );
      redelivered += outcomes.filter((outcome) => outcome === 'started').length;
    }
  }
  return answer(false);
};

/**
 * The creations whose webhook is failed now, by the attempts after which no other followed. Each comes once.
 * @param endpoint only those whose attempts to this endpoint failed
 */
async function* failedSince(
  accountId: AccountId,
  sinceMillis: number,
  endpoint: string | undefined,
  { deliveries, creations }: ManageServices,
): AsyncGenerator<Awaited<ReturnType<ManageServices['creations']['readAll']>>> {
  const seen = new Set<CreationId>();
  const hasFailed = (webhook: WebhookState | undefined): boolean =>
    webhook?.status === 'failed' &&
    (endpoint === undefined || webhook.endpoints?.[endpoint]?.status === 'failed');
  for await (const ids of deliveries.lastAttemptsSince(accountId, sinceMillis, endpoint)) {
    const fresh = ids.filter((id) => !seen.has(id));
    for (const id of fresh) seen.add(id);
    const read = await creations.readAll([...new Set(fresh)]);
    yield read.filter((one) => one.accountId === accountId && hasFailed(one.webhook));
  }
}

/** POST /creations/{id}/redeliver: a new round of attempts with the same body. */
export const redeliverCreation: ManageHandle<'redeliverCreation'> = async (request, caller, services) => {
  const id = parseCreationId(request.pathId);
  const creation = id && (await services.creations.read(id));
  if (creation?.accountId !== caller.account.id) throw creationNotFound();
  switch (await reopenWebhook(creation, services)) {
    case 'started':
      return { status: 202, body: { redelivered: 1, has_more: false } };
    case 'no_webhook':
      throw notRedelivered('no_webhook', 'The creation has no webhook.');
    case 'still_pending':
      throw notRedelivered('still_pending', 'The webhook waits for its next attempt already.');
  }
};

function notRedelivered(reason: string, message: string): Problem {
  return new Problem('ERR_INVALID_REQUEST', message, { reason, errors: [] });
}

// The webhook secret in the answers of the portal.

async function secretView(account: Account, services: ManageServices): Promise<SecretView> {
  const shown = await orLost(() => newestSecret(account, services));
  if (!shown) throw new Error('the account has no webhook secret');
  return {
    secret: shown.secret,
    issued_at: shown.issuedAt,
    signs_from: shown.signsFrom,
    ...(shown.signingUntilThen !== undefined && { signing_until_then: shown.signingUntilThen }),
  };
}

/** Does the work, and refuses with a sentence when a secret can no longer be opened. */
async function orLost<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SecretLost ? secretLost() : error;
  }
}

/** 400: the operator lost the key under which the secret was stored. */
function secretLost(): Problem {
  const message =
    'The webhook secret cannot be opened any more. Replace it by a new one that signs from now on.';
  return new Problem('ERR_INVALID_REQUEST', message, { reason: 'secret_lost', errors: [] });
}

/** 400: nothing can be signed. */
function noSecret(): Problem {
  const message = 'The account has no webhook secret yet. Show the secret first, which issues it.';
  return new Problem('ERR_INVALID_REQUEST', message, { reason: 'no_secret', errors: [] });
}

/** POST /webhooks/secret/reveal: the secret, issued at the first call. Two first calls get the same. */
export const revealSecret: ManageHandle<'revealSecret'> = async (_request, caller, services) => {
  const { account } = caller;
  if (account.webhookSecrets.length > 0) return { status: 200, body: await secretView(account, services) };
  const issued = await orLost(() => issueSecret(account, 'now', services));
  if (issued.kind === 'issued')
    return { status: 200, body: await secretView(issued.account, services), logged: { note: 'issued' } };
  const now = await services.accounts.read(account.id);
  if (!now) throw new Error('the account is gone');
  return { status: 200, body: await secretView(now, services) };
};

const rotateSchema = z.strictObject({
  sign_from: z.enum(Object.keys(signFromSeconds) as [SignFrom, ...SignFrom[]]),
});

/** POST /webhooks/secret/rotate: a new secret. Of two at once the second is refused. */
export const rotateSecret: ManageHandle<'rotateSecret'> = async (request, caller, services) => {
  const { sign_from: signFrom } = parseBody(request, rotateSchema);
  if (caller.account.webhookSecrets.length === 0) throw noSecret();
  const issued = await orLost(() => issueSecret(caller.account, signFrom, services));
  if (issued.kind === 'changed_meanwhile') throw changedMeanwhile();
  return {
    status: 200,
    body: await secretView(issued.account, services),
    logged: { note: `signs from ${signFrom}` },
  };
};

const alertsSchema = z.strictObject({
  notice_url: z.optional(z.nullable(z.string())),
  low_balance: z.optional(z.nullable(usd('above zero'))),
  version,
});

/** PUT /alerts: null removes a field. An account below its threshold gets the notice at once. */
export const setAlerts: ManageHandle<'setAlerts'> = async (request, caller, services) => {
  const { account } = caller;
  const body = parseBody(request, alertsSchema, ({ notice_url: url }) => {
    const read = typeof url !== 'string' ? undefined : readClientUrl(url, 'webhook', services.outboundRules);
    return [
      read?.kind === 'refused' ? { field: 'notice_url', code: read.code, message: read.why } : undefined,
    ];
  });
  if (alertsVersion(account) !== body.version) throw changedMeanwhile();
  const { notice_url: noticeUrl = account.noticeUrl ?? null, low_balance: low } = body;
  if (body.notice_url !== undefined) {
    const verdict = await checkNoticeUrl(noticeUrl, services);
    if (verdict.kind === 'refused')
      throw invalidRequest([{ field: 'notice_url', code: 'refused_target', message: verdict.why }]);
  }
  const lowBalanceMicros = typeof low === 'number' ? microsOf(low) : low;
  const next = {
    noticeUrl,
    lowBalanceMicros: lowBalanceMicros === undefined ? (account.lowBalanceMicros ?? null) : lowBalanceMicros,
  };
  if (!(await services.accounts.changeAlerts(account, next))) throw changedMeanwhile();
  await checkAfterCommand({ accountId: account.id, periods: {} }, services);
  return { status: 200, body: alertsView(next) };
};

function alertsView({
  noticeUrl,
  lowBalanceMicros,
}: Parameters<ManageServices['accounts']['changeAlerts']>[1]): AlertsView {
  const stored: Pick<Account, 'noticeUrl' | 'lowBalanceMicros'> = {
    ...(noticeUrl !== null && { noticeUrl }),
    ...(lowBalanceMicros !== null && { lowBalanceMicros }),
  };
  return {
    notice_url: noticeUrl,
    low_balance: lowBalanceMicros === null ? null : toUsd(lowBalanceMicros),
    version: alertsVersion(stored),
  };
}

const testSchema = z.strictObject({
  url: z.optional(z.string()),
  endpoint: z.optional(z.string()),
  event: z.optional(z.enum(endpointEvents)),
});

/** Where a test goes: an address that a webhook may have, or an endpoint. Throws 400 that names the wrong field. */
async function targetOf(
  { url, endpoint, event }: z.output<typeof testSchema>,
  accountId: AccountId,
  services: ManageServices,
): Promise<TestTarget> {
  const asked = event && { event };
  if (endpoint !== undefined && url === undefined) {
    const found = await endpointOf(endpoint, accountId, services);
    return { url: found.url, endpointId: found.id, ...asked };
  }
  if (url === undefined || endpoint !== undefined)
    throw refused('url', 'required', 'needed without endpoint, and only then');
  const read = readClientUrl(url, 'webhook', services.outboundRules);
  if (read.kind === 'refused') throw refused('url', read.code, read.why);
  return { url, ...asked };
}

/** The endpoint of the account. Throws 400 for any other id. */
async function endpointOf(
  id: string,
  accountId: AccountId,
  { endpoints }: Pick<ManageServices, 'endpoints'>,
): Promise<Endpoint> {
  const found = (await endpoints.read(accountId)).list.find((one) => one.id === id);
  if (!found) throw refused('endpoint', 'invalid_value', 'must be the id of an endpoint of the account');
  return found;
}

function refused(field: string, code: FieldErrorCode, message: string): Problem {
  return invalidRequest([{ field, code, message }]);
}

/** POST /webhooks/test: one signed sample to any address that a webhook may have, once in 30 seconds. */
export const testWebhook: ManageHandle<'testWebhook'> = async (request, caller, services) => {
  const target = await targetOf(parseBody(request, testSchema), caller.account.id, services);
  const outcome = await orLost(() => sendTestDelivery(caller.account, target, services));
  switch (outcome.kind) {
    case 'refused':
      throw refused(target.endpointId ? 'endpoint' : 'url', 'refused_target', outcome.why);
    case 'no_secret':
      throw noSecret();
    case 'too_soon': {
      const message = `An account may send one test delivery in ${testDeliverySeconds} seconds.`;
      const details = { reason: 'test_interval', interval_seconds: testDeliverySeconds };
      throw retryLater('ERR_RATE_LIMIT', message, details, outcome.afterSeconds);
    }
    case 'sent':
      return {
        status: 200,
        body: { delivery: deliveryDetail(outcome.delivery, undefined, false) } satisfies TestedView,
        logged: { target: outcome.delivery.id, note: new URL(target.url).host },
      };
  }
};
