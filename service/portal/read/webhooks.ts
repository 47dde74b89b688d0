/** The webhooks, deliveries and alerts of an account. */
import type { SealedSecret } from '../../accounts/account.ts';
import { alertsVersion } from '../../accounts/version.ts';
import type { AlertsView, WebhooksView } from '../../contract/portal-views.ts';
import { type AccountId, parseCreationId, parseEndpointId, timeOfUuidV7 } from '../../values/ids.ts';
import { toUsd } from '../../values/money.ts';
import { Problem } from '../../values/problem.ts';
import type { Delivery } from '../../webhooks/delivery.ts';
import { replacedSecretSeconds, secretsAt } from '../../webhooks/secrets.ts';
import { testDeliverySeconds } from '../../webhooks/webhook.ts';
import { deliveryDetail, deliveryRow, isTest } from '../delivery-view.ts';

import type { ReadHandle, ReadServices, TabHandle } from './open.ts';
import { choiceOf, cursorWords, oneOf, parametersOf } from '../../operated/parameters.ts';

type SecretState = WebhooksView['secrets'][number]['state'];

export const getWebhooks: ReadHandle<'getWebhooks'> = async (_request, { account, nowMillis }, { reads }) => {
  const lastAt = await reads.lastTestAt(account.id);
  const { signing, pending, replaced } = secretsAt(account.webhookSecrets, nowMillis);
  const passed = nowMillis - (lastAt ?? Number.NEGATIVE_INFINITY);
  const body: WebhooksView = {
    secrets: [
      ...pending.map((secret) => secretView(secret, 'signs_later')),
      ...(signing ? [secretView(signing, 'signs')] : []),
      ...replaced.map((secret) => secretView(secret, 'replaced')),
    ],
    test_after_seconds: Math.max(0, Math.ceil((testDeliverySeconds * 1000 - passed) / 1000)),
  };
  return { status: 200, body };
};

function secretView(
  { issuedAt, signsFrom, replacedAt }: SealedSecret,
  state: SecretState,
): WebhooksView['secrets'][number] {
  const until = replacedAt === undefined ? null : replacedAt + replacedSecretSeconds * 1000;
  return {
    issued_at: new Date(issuedAt).toISOString(),
    state,
    signs_from: new Date(signsFrom ?? issuedAt).toISOString(),
    valid_until: until === null ? null : new Date(until).toISOString(),
  };
}

export const getAlerts: ReadHandle<'getAlerts'> = async (_request, { account }) => {
  const { noticeUrl, lowBalanceMicros } = account;
  const body: AlertsView = {
    notice_url: noticeUrl ?? null,
    low_balance: lowBalanceMicros === undefined ? null : toUsd(lowBalanceMicros),
    version: alertsVersion(account),
  };
  return Promise.resolve({ status: 200, body });
};

/** GET /deliveries/{id}: the attempt with the exact body that was sent, and what came back. */
export const getDelivery: ReadHandle<'getDelivery'> = async ({ pathId }, { account }, services) => {
  const delivery = await services.deliveries.find(account.id, pathId);
  if (!delivery) throw new Problem('ERR_NOT_FOUND', 'There is no delivery with this id.');
  const { body, canRedeliver } = await ownerOf(account.id, delivery, services);
  return { status: 200, body: deliveryDetail(delivery, body, canRedeliver) };
};

interface Owner {
  readonly body: string | undefined;
  readonly canRedeliver: boolean;
}

/** The creation or the notice keeps the body, which is the same in every attempt. */
async function ownerOf(
  account: AccountId,
  delivery: Delivery,
  { creations, reads }: ReadServices,
): Promise<Owner> {
  const { creationId, noticeId } = delivery;
  if (noticeId !== undefined) return { body: await reads.noticeBody(account, noticeId), canRedeliver: false };
  if (creationId === undefined || isTest(delivery)) return { body: undefined, canRedeliver: false };
  const webhook = (await creations.read(creationId))?.webhook;
  return { body: webhook?.body, canRedeliver: webhook !== undefined && webhook.status !== 'pending' };
}

const outcomes = ['delivered', 'failed', 'unknown'] as const;

/** GET /deliveries: the newest first; ?limit, ?cursor, ?outcome, ?creation and ?endpoint. */
export const listDeliveries: TabHandle<'listDeliveries'> = async (request, { account }, { deliveries }) => {
  const parameters = parametersOf(request);
  const after = parameters.read('cursor', deliveryIn, cursorWords);
  const outcome = parameters.read('outcome', oneOf(outcomes), choiceOf(outcomes));
  const creationId = parameters.read('creation', parseCreationId, 'must be the id of a creation');
  const endpointId = parameters.read('endpoint', parseEndpointId, 'must be the id of an endpoint');
  const limit = parameters.limit();
  parameters.check();
  const page = await deliveries.page(account.id, {
    limit,
    ...(after !== undefined && { after }),
    ...(outcome && { outcome }),
    ...(creationId && { creationId }),
    ...(endpointId && { endpointId }),
  });
  const data = page.deliveries.map(deliveryRow);
  return { status: 200, body: { data, next_cursor: page.next ?? null } };
};

function deliveryIn(text: string): string | undefined {
  return timeOfUuidV7(text) === undefined ? undefined : text;
}
