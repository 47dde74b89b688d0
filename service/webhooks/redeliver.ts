/** The commands of an operator for webhooks: send a delivery again, and send a test delivery. */
import type { Account } from '../accounts/account.ts';
import type { CreationStore } from '../creations/creation-store.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { Executions } from '../creations/executions.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { type CreationId, type EndpointId, uuidV7 } from '../values/ids.ts';
import { type Clock, isKnownVersion, type RandomBytes, type Schema } from '../values/runtime.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { Delivery } from './delivery.ts';
import type { EndpointEvent } from './endpoint.ts';
import { nilId, sampleBodyOf } from './samples.ts';
import type { SecretBox } from './secret-box.ts';
import { openSecrets, type SigningSecrets } from './secrets.ts';
import { endedDelivery, isNotice, messageIdOf, testDeliverySeconds, webhookHeaders } from './webhook.ts';

export interface TestServices {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly outbound: Outbound;
  readonly secretBox: SecretBox;
  readonly deliveries: DeliveryStore;
}

export type TestOutcome =
  /** `lost`: secrets that receivers may hold and that could not be opened. They signed nothing. */
  | { readonly kind: 'sent'; readonly delivery: Delivery; readonly lost: number }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'no_secret' }
  /** An account may send one test delivery in 30 seconds. */
  | { readonly kind: 'too_soon'; readonly afterSeconds: number };

export interface TestTarget {
  readonly url: string;
  /** Absent: the address is that of no endpoint. */
  readonly endpointId?: EndpointId;
  /** Absent: creation.completed. */
  readonly event?: EndpointEvent;
}

/** Sends one signed attempt of a sample, logged, never repeated. Throws SecretLost. */
export async function sendTestDelivery(
  account: Account,
  target: TestTarget,
  services: TestServices,
): Promise<TestOutcome> {
  const { clock, outbound, deliveries } = services;
  const verdict = await outbound.check(target.url);
  if (verdict.kind === 'refused') return verdict;
  const secrets = await openSecrets(account.id, account.webhookSecrets, services.secretBox, clock.now());
  if (!secrets) return { kind: 'no_secret' };
  const waitMillis = await deliveries.claimTest(account.id, testDeliverySeconds * 1000, clock.now());
  if (waitMillis > 0) return { kind: 'too_soon', afterSeconds: Math.ceil(waitMillis / 1000) };
  return {
    kind: 'sent',
    delivery: await send(account, target, secrets, services),
    lost: secrets.lost.length,
  };
}

async function send(
  account: Account,
  { url, endpointId, event = 'creation.completed' }: TestTarget,
  secrets: SigningSecrets,
  services: TestServices,
): Promise<Delivery> {
  const { clock, outbound, deliveries } = services;
  const now = clock.now();
  const delivery = {
    id: uuidV7(now, services.randomBytes(16)),
    accountId: account.id,
    creationId: nilId,
    ...(endpointId !== undefined && { endpointId }),
    event,
    url,
    attempt: 1,
    startedAt: new Date(now).toISOString(),
  } as const;
  const body = sampleBodyOf(delivery);
  const signed = {
    ...delivery,
    isNotice: isNotice(event),
    messageId: messageIdOf(`${delivery.id}:${event}`, endpointId),
    deliveryId: delivery.id,
    signedAtSeconds: Math.floor(now / 1000),
    body,
  };
  const before = clock.elapsed();
  const headers = webhookHeaders(signed, secrets);
  const result = await outbound.post(url, headers, body);
  const ended = endedDelivery({ ...delivery, millis: Math.round(clock.elapsed() - before) }, result, headers);
  await deliveries.record(ended);
  return ended;
}

export interface RedeliveryServices {
  readonly clock: Clock;
  readonly schema: Schema;
  readonly creations: Pick<CreationStore, 'read'>;
  readonly deliveries: Pick<DeliveryStore, 'find' | 'reopen'>;
  readonly executions: Pick<Executions, 'start'>;
}

export type RedeliveryOutcome =
  | { readonly kind: 'started'; readonly creationId: CreationId }
  | { readonly kind: 'unknown_delivery' }
  | { readonly kind: 'still_pending' };

/** Opens a new round of attempts for the creation of a delivery. The body keeps its bytes, but for signed addresses. */
export async function redeliver(
  account: Account,
  deliveryId: string,
  services: RedeliveryServices,
): Promise<RedeliveryOutcome> {
  const delivery = await services.deliveries.find(account.id, deliveryId);
  const id = delivery?.creationId;
  const creation = id && (await services.creations.read(id));
  if (!creation) return { kind: 'unknown_delivery' };
  switch (await reopenWebhook(creation, services, delivery.endpointId)) {
    case 'no_webhook':
      return { kind: 'unknown_delivery' };
    case 'still_pending':
      return { kind: 'still_pending' };
    case 'started':
      return { kind: 'started', creationId: creation.id };
  }
}

/**
 * Opens a new round of attempts. 'still_pending': the webhook waits for an attempt, the creation is open, or a newer
 * release has accepted it, which alone may change its record.
 * @param to of the endpoints that the record names: one, or those that failed. Absent: all of them
 */
export async function reopenWebhook(
  creation: CreationRecord,
  { deliveries, executions, clock, schema }: Omit<RedeliveryServices, 'creations'>,
  to?: string,
): Promise<'started' | 'no_webhook' | 'still_pending'> {
  const { webhook, erasedAt, v } = creation;
  if (!isKnownVersion(v, schema)) return 'still_pending';
  if (!webhook || (!webhook.url && (!webhook.endpoints || erasedAt !== undefined))) return 'no_webhook';
  if (!(await deliveries.reopen(creation, clock.now(), to))) return 'still_pending';
  // If the start fails, the reconciler finds the pending webhook and starts an execution.
  await executions.start(creation, creation.executions + 1);
  return 'started';
}
