/**
 * One attempt to deliver a webhook or a notice. The record holds the schedule. An attempt is claimed in the
 * record before anything is sent: two executions never send the same attempt, and an execution that was
 * restarted never sends early. "Not due yet" is thrown like "not delivered": the state machine retries.
 */
import { uuidV7 } from '../values/ids.ts';
import { logWith } from '../values/runtime.ts';
import type { DeliveringAccount, Delivery } from './delivery.ts';
import type { DeliveryServices } from './open.ts';
import { deliverToEndpoints } from './endpoint-round.ts';
import { earlyMillis, headersOf, notDelivered, type Owed } from './owed.ts';
import { openSecrets, type SigningSecrets } from './secrets.ts';
import { endedDelivery, waitAfter, webhookAttempts, webhookClaimedMillis } from './webhook.ts';

/** Throws WebhookNotDelivered when a further attempt is due later. */
export async function deliverOwed(owed: Owed, services: DeliveryServices): Promise<void> {
  const { webhook } = owed;
  if (webhook.endpoints) return deliverToEndpoints(owed, services);
  if (webhook.attempts >= webhookAttempts) {
    // The last attempt began, never ended, and its time is over. Nothing else would end this webhook.
    if (webhook.nextAt <= services.clock.now()) await services.deliveries.giveUp(owed.id);
    return;
  }
  const early = webhook.nextAt - services.clock.now();
  if (early > earlyMillis) throw notDelivered();
  if (early > 0) await services.clock.sleep(early);
  const account = await services.deliveries.deliveringAccount(owed.accountId);
  const { accountId } = owed;
  const secrets = await openSecrets(accountId, account.secrets, services.secretBox, services.clock.now());
  if (!secrets) return services.deliveries.skip(owed.id);
  const named = logWith(services, owed.logIds);
  for (const { issuedAt } of secrets.lost) {
    named.log.alarm('webhook_secret_lost', { issuedAt: new Date(issuedAt).toISOString() });
  }
  await attempt(owed, { account, secrets }, named);
}

/** The claim sets the next attempt for the case of a hang. The end of the attempt corrects it. */
async function attempt(
  owed: Owed,
  { account, secrets }: { readonly account: DeliveringAccount; readonly secrets: SigningSecrets },
  services: DeliveryServices,
): Promise<void> {
  const now = services.clock.now();
  const delivery = newDelivery(owed, now, services);
  const body = owed.webhook.body ?? (await owed.bodyAt(now));
  const nextAt = now + webhookClaimedMillis + waitAfter(delivery.attempt);
  if (!(await services.deliveries.claim({ delivery, body, nextAt, nowMillis: now }))) throw notDelivered();
  const before = services.clock.elapsed();
  const headers = headersOf(owed, delivery, body, secrets, services);
  const result = await services.outbound.post(delivery.url, headers, body);
  const millis = Math.round(services.clock.elapsed() - before);
  const ended = endedDelivery({ ...delivery, millis }, result, headers);
  const isLast = await settle(ended, services);
  await owed.onEnded?.(ended.outcome === 'delivered', account);
  if (!isLast) throw notDelivered();
}

function newDelivery(owed: Owed, now: number, { randomBytes }: DeliveryServices): Delivery {
  return {
    id: uuidV7(now, randomBytes(16)),
    accountId: owed.accountId,
    ...owed.ids,
    event: owed.event,
    url: owed.webhook.url,
    attempt: owed.webhook.attempts + 1,
    startedAt: new Date(now).toISOString(),
  };
}

/** Records how the attempt ended. False when a further attempt is due. */
async function settle(
  ended: ReturnType<typeof endedDelivery>,
  { deliveries, clock, log }: DeliveryServices,
): Promise<boolean> {
  const { id: deliveryId, attempt: number, outcome, status, millis } = ended;
  const isDelivered = outcome === 'delivered';
  const isLast = isDelivered || status === 410 || number === webhookAttempts;
  const final = isDelivered ? ('delivered' as const) : ('failed' as const);
  const next = isLast ? { status: final } : { at: clock.now() + waitAfter(number) };
  await deliveries.settle(ended, next);
  log.info('webhook_attempted', { deliveryId, attempt: number, outcome, status, millis });
  return isLast;
}
