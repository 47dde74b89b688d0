/**
 * DeliverWebhook: one attempt. The schedule's truth is the record: an attempt is claimed
 * there before anything is sent, so that two executions never send the same one, and one
 * that was restarted never sends early. "Not yet" is thrown like "not delivered".
 */
import type { Context } from 'aws-lambda';
import { resultUrls, type CreationRecord, type WebhookState } from '../../core/creation.ts';
import { uuidV7 } from '../../core/ids.ts';
import type { Delivery } from '../../core/ports/deliveries.ts';
import type { PostResult } from '../../core/ports/outbound.ts';
import {
  endedDelivery,
  webhookAttemptMillis,
  webhookAttempts,
  webhookBody,
  webhookHeaders,
  webhookWaitsSeconds,
} from '../../core/webhook.ts';
import { openSecrets, type SigningSecrets } from '../../core/webhook-secrets.ts';
import { errorName } from '../error-name.ts';
import { deliveryServices, type DeliveryServices } from '../services.ts';
import { idsOf, logWith } from '../log-with.ts';
import { creationIdOf, Remedy, type Payload } from './payload.ts';

/** An execution's clock may run ahead of the record's by a little: that much is waited for here. */
const earlyMillis = 3_000;

export async function deliverWebhook(payload: Payload, services: DeliveryServices): Promise<Payload> {
  const creation = await services.creations.read(creationIdOf(payload));
  const webhook = creation?.webhook;
  if (!creation?.completedAt || webhook?.status !== 'pending') return payload;
  if (webhook.attempts >= webhookAttempts) {
    // The last attempt was begun and never settled, and its time is over: left as it is, it would be pending for good.
    if (webhook.nextAt <= services.clock.now()) await services.deliveries.giveUp(creation.id);
    return payload;
  }
  const early = webhook.nextAt - services.clock.now();
  if (early > earlyMillis) throw notDelivered();
  if (early > 0) await services.clock.sleep(early);
  const sealed = await services.deliveries.accountSecrets(creation.accountId);
  const secrets = await openSecrets(creation.accountId, sealed, services.secretBox, services.clock.now());
  if (!secrets) {
    await services.deliveries.skip(creation.id);
    return payload;
  }
  const named = logWith(services, idsOf(creation));
  for (const { issuedAt } of secrets.lost) {
    named.log.alarm('webhook_secret_lost', { issuedAt: new Date(issuedAt).toISOString() });
  }
  return attempt(creation, webhook, secrets, payload, named);
}

function notDelivered(): Remedy {
  return new Remedy('WebhookNotDelivered', 'not delivered yet; the record says when the next attempt is due');
}

/** The claim assumes the worst, an attempt that hangs; settling it corrects the time. */
async function attempt(
  creation: CreationRecord,
  webhook: WebhookState,
  secrets: SigningSecrets,
  payload: Payload,
  services: DeliveryServices,
): Promise<Payload> {
  const now = services.clock.now();
  const number = webhook.attempts + 1;
  const delivery: Delivery = {
    id: uuidV7(now, services.randomBytes(16)),
    accountId: creation.accountId,
    creationId: creation.id,
    event: eventOf(creation),
    url: webhook.url,
    attempt: number,
    startedAt: new Date(now).toISOString(),
  };
  const body = webhook.body ?? webhookBody(creation, resultUrls(creation, services.resultsBaseUrl, now));
  const nextAt = now + webhookAttemptMillis + waitAfter(number);
  if (!(await services.deliveries.claim({ delivery, body, nextAt, nowMillis: now }))) throw notDelivered();
  const before = services.clock.elapsed();
  const result = await send(delivery, body, secrets, services);
  return settle(
    { ...delivery, millis: Math.round(services.clock.elapsed() - before) },
    result,
    payload,
    services,
  );
}

function eventOf(creation: CreationRecord): 'creation.completed' | 'creation.failed' {
  return creation.status === 'failed' ? 'creation.failed' : 'creation.completed';
}

/** Milliseconds between attempt n's end and the next; 0 behind the last, which has none. */
function waitAfter(number: number): number {
  return (webhookWaitsSeconds[number - 1] ?? 0) * 1000;
}

async function send(
  delivery: Delivery,
  body: string,
  secrets: SigningSecrets,
  services: DeliveryServices,
): Promise<PostResult> {
  const headers = webhookHeaders(
    {
      event: delivery.event,
      messageId: `${delivery.creationId}:${delivery.event}`,
      deliveryId: delivery.id,
      attempt: delivery.attempt,
      signedAtSeconds: Math.floor(services.clock.now() / 1000),
      body,
    },
    secrets,
  );
  return services.outbound.post(delivery.url, headers, body);
}

async function settle(
  delivery: Delivery,
  result: PostResult,
  payload: Payload,
  services: DeliveryServices,
): Promise<Payload> {
  const now = services.clock.now();
  const ended = endedDelivery(delivery, result);
  const isDelivered = ended.outcome === 'delivered';
  const isLast = isDelivered || ended.status === 410 || delivery.attempt === webhookAttempts;
  const next = isLast
    ? { status: isDelivered ? ('delivered' as const) : ('failed' as const) }
    : { at: now + waitAfter(delivery.attempt) };
  await services.deliveries.settle(ended, next);
  const { id: deliveryId, attempt: number, millis } = delivery;
  services.log.info('webhook_attempted', {
    deliveryId,
    attempt: number,
    outcome: ended.outcome,
    status: ended.status,
    millis,
  });
  if (!isLast) throw notDelivered();
  return payload;
}

const services = deliveryServices();

/** A receiver that fails is an ordinary outcome; what breaks here is ours, and Lambda's own count of errors tells the two not apart. */
export async function deliverOrAlarm(payload: Payload, services: DeliveryServices): Promise<Payload> {
  try {
    return await deliverWebhook(payload, services);
  } catch (error) {
    if (!(error instanceof Remedy)) {
      services.log.alarm('webhook_delivery_broke', {
        creationId: payload.creation_id,
        error: errorName(error),
      });
    }
    throw error;
  }
}

export const handler = async (payload: Payload, { awsRequestId: requestId }: Context): Promise<Payload> =>
  deliverOrAlarm(payload, logWith(services, { requestId }));
