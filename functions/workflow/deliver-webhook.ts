/**
 * DeliverWebhook, a state of the execution: one attempt to deliver a webhook. The record holds the schedule.
 * An attempt is claimed in the record before anything is sent: two executions never send the same attempt,
 * and an execution that was restarted never sends early. "Not due yet" is thrown like "not delivered": the
 * state machine comes again.
 */
import { resultUrls, type CreationRecord, type WebhookState } from '../../core/creation.ts';
import { uuidV7, type CreationId } from '../../core/ids.ts';
import type { Delivery } from '../../core/ports/deliveries.ts';
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
import { lambdaHandler } from '../lambda-handler.ts';
import { idsOf, logWith } from '../log-with.ts';
import { deliveryServices, type DeliveryServices } from '../services/delivery.ts';
import { creationIdOf, Remedy, requireKnownRelease, type Payload } from './payload.ts';

/**
 * The clock of an execution may run a little ahead of the record's times: the function waits this long
 * itself.
 */
const earlyMillis = 3_000;

/** Throws WebhookNotDelivered when a further attempt is due later. */
export async function deliverWebhook(payload: Payload, services: DeliveryServices): Promise<Payload> {
  await deliver(creationIdOf(payload), services);
  return payload;
}

async function deliver(id: CreationId, services: DeliveryServices): Promise<void> {
  const creation = await services.creations.read(id);
  if (creation) requireKnownRelease(creation);
  const webhook = creation?.webhook;
  if (!creation?.completedAt || webhook?.status !== 'pending') return;
  if (webhook.attempts >= webhookAttempts) {
    // The last attempt began, never ended, and its time is over. Nothing else would end this webhook.
    if (webhook.nextAt <= services.clock.now()) await services.deliveries.giveUp(creation.id);
    return;
  }
  const early = webhook.nextAt - services.clock.now();
  if (early > earlyMillis) throw notDelivered();
  if (early > 0) await services.clock.sleep(early);
  const sealed = await services.deliveries.accountSecrets(creation.accountId);
  const secrets = await openSecrets(creation.accountId, sealed, services.secretBox, services.clock.now());
  if (!secrets) return services.deliveries.skip(creation.id);
  const named = logWith(services, idsOf(creation));
  for (const { issuedAt } of secrets.lost) {
    named.log.alarm('webhook_secret_lost', { issuedAt: new Date(issuedAt).toISOString() });
  }
  await attempt(creation, webhook, secrets, named);
}

function notDelivered(): Remedy {
  return new Remedy('WebhookNotDelivered', 'not delivered yet; the record says when the next attempt is due');
}

/**
 * The claim assumes the worst: an attempt that hangs. The end of the attempt corrects the time of the next.
 */
async function attempt(
  creation: CreationRecord,
  webhook: WebhookState,
  secrets: SigningSecrets,
  services: DeliveryServices,
): Promise<void> {
  const now = services.clock.now();
  const delivery = newDelivery(creation, webhook, now, services);
  const body = webhook.body ?? webhookBody(creation, resultUrls(creation, services.resultsBaseUrl, now));
  const nextAt = now + webhookAttemptMillis + waitAfter(delivery.attempt);
  if (!(await services.deliveries.claim({ delivery, body, nextAt, nowMillis: now }))) throw notDelivered();
  const before = services.clock.elapsed();
  const headers = headersOf(delivery, body, secrets, services);
  const result = await services.outbound.post(delivery.url, headers, body);
  const millis = Math.round(services.clock.elapsed() - before);
  await settle(endedDelivery({ ...delivery, millis }, result), services);
}

function newDelivery(
  creation: CreationRecord,
  { url, attempts }: WebhookState,
  now: number,
  { randomBytes }: DeliveryServices,
): Delivery {
  return {
    id: uuidV7(now, randomBytes(16)),
    accountId: creation.accountId,
    creationId: creation.id,
    event: creation.status === 'failed' ? 'creation.failed' : 'creation.completed',
    url,
    attempt: attempts + 1,
    startedAt: new Date(now).toISOString(),
  };
}

/** Milliseconds between the end of attempt n and the next attempt; 0 after the last attempt. */
function waitAfter(number: number): number {
  return (webhookWaitsSeconds[number - 1] ?? 0) * 1000;
}

function headersOf(
  { id: deliveryId, creationId, event, attempt: number }: Delivery,
  body: string,
  secrets: SigningSecrets,
  { clock }: DeliveryServices,
): ReturnType<typeof webhookHeaders> {
  const messageId = `${creationId}:${event}`;
  const signedAtSeconds = Math.floor(clock.now() / 1000);
  return webhookHeaders({ event, messageId, deliveryId, attempt: number, signedAtSeconds, body }, secrets);
}

/** Records how the attempt ended. Throws WebhookNotDelivered when a further attempt is due. */
async function settle(
  ended: ReturnType<typeof endedDelivery>,
  { deliveries, clock, log }: DeliveryServices,
): Promise<void> {
  const { id: deliveryId, attempt: number, outcome, status, millis } = ended;
  const isDelivered = outcome === 'delivered';
  const isLast = isDelivered || status === 410 || number === webhookAttempts;
  const final = isDelivered ? ('delivered' as const) : ('failed' as const);
  const next = isLast ? { status: final } : { at: clock.now() + waitAfter(number) };
  await deliveries.settle(ended, next);
  log.info('webhook_attempted', { deliveryId, attempt: number, outcome, status, millis });
  if (!isLast) throw notDelivered();
}

/**
 * A receiver that fails is an ordinary outcome, but an error of our own needs an operator. Lambda's count of
 * errors does not tell the two apart, so the log line carries an alarm.
 */
export async function deliverOrAlarm(payload: Payload, services: DeliveryServices): Promise<Payload> {
  try {
    return await deliverWebhook(payload, services);
  } catch (error) {
    if (!(error instanceof Remedy)) {
      const fields = { creationId: payload.creation_id, error: errorName(error) };
      services.log.alarm('webhook_delivery_broke', fields);
    }
    throw error;
  }
}

export const handler = lambdaHandler(deliveryServices, deliverOrAlarm);
