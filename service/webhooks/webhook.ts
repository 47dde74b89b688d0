/** Webhooks (docs/api.md): payload, signatures and the schedule of attempts. */
import { createHmac } from 'node:crypto';
import { shownFailure } from '../contract/failures.ts';
import { webhookSchedule } from '../contract/limits.ts';
import { type CreationRecord, echoedFields, type WebhookState } from '../creations/creation.ts';
import type { PostResult } from '../outbound/outbound.ts';
import { toUsd } from '../values/money.ts';
import { firstBytes } from '../values/text.ts';
import type { Delivery, SignatureCuts } from './delivery.ts';
import type { SigningSecrets } from './secrets.ts';

const { firstWaitSeconds, backoffRate, retries } = webhookSchedule;
export const webhookAttempts = 1 + retries;
/** Seconds between the end of attempt n and attempt n + 1. No wait follows the last attempt. */
export const webhookWaitsSeconds = Array.from(
  { length: retries },
  (_, n) => firstWaitSeconds * backoffRate ** n,
);
/** How long an attempt may take from its claim on: as long as its function may run. */
export const webhookClaimedMillis = 30_000;
/** Milliseconds between the end of attempt n and the next attempt; 0 after the last attempt. */
export function waitAfter(attempt: number): number {
  return (webhookWaitsSeconds[attempt - 1] ?? 0) * 1000;
}

/** The least time between two test deliveries of an account. */
export const testDeliverySeconds = 30;
const excerptBytes = 1_024;
const mostHeaders = 16;
const headerBytes = 1_024;

const secretPrefix = 'whsec_';

/** `whsec_` and the base64 of 32 random bytes. */
export function webhookSecret(randomBytes: Uint8Array): string {
  return `${secretPrefix}${Buffer.from(randomBytes).toString('base64')}`;
}

export const endedEvents = ['creation.completed', 'creation.failed'] as const;

/** A notice names its type in a header of its own: X-Webhook-Event has the two events of creations. */
export function isNotice(event: string): boolean {
  return !endedEvents.some((one) => one === event);
}

export function endedEvent({ status }: CreationRecord): (typeof endedEvents)[number] {
  return status === 'failed' ? 'creation.failed' : 'creation.completed';
}

/** What a webhook says about a creation. */
export type ToldCreation = Pick<
  CreationRecord,
  'id' | 'status' | 'failure' | 'costMicros' | 'metadata' | 'createdAt' | 'completedAt' | 'cancelledAt'
>;

/** The body of a creation's webhook. The first attempt stores it; every attempt sends the stored bytes. */
export function webhookBody(creation: ToldCreation, resultUrls: readonly string[]): string {
  const failure = shownFailure(creation);
  return JSON.stringify({
    event: failure ? 'creation.failed' : 'creation.completed',
    id: creation.id,
    status: creation.status,
    ...(!failure && { result_urls: resultUrls }),
    cost: toUsd(creation.costMicros),
    ...(failure && { error: failure.error, error_code: failure.error_code }),
    ...echoedFields(creation),
    created_at: creation.createdAt,
    completed_at: creation.completedAt ?? null,
    ...(failure && { cancelled_at: creation.cancelledAt ?? null }),
  });
}

/** The delivery with its outcome: 2xx means delivered. @param sent the headers of the attempt */
export function endedDelivery(
  delivery: Delivery,
  result: PostResult,
  sent: Readonly<Record<string, string>>,
): Delivery {
  const signed = { ...delivery, signedAt: Number(sent['x-timestamp']), cuts: signatureCuts(sent) };
  if (result.kind === 'unanswered')
    return { ...signed, outcome: 'failed', reason: result.reason, failure: result.failure };
  const { status, excerpt, headers } = result;
  const outcome = status >= 200 && status < 300 ? 'delivered' : 'failed';
  return {
    ...signed,
    outcome,
    status,
    responseExcerpt: firstBytes(excerpt, excerptBytes),
    responseHeaders: firstHeaders(headers, headerBytes),
  };
}

/** The first headers, in order. One that does not fit is left out with all after it. */
export function firstHeaders(
  headers: Readonly<Record<string, string>>,
  mostBytes: number,
): Record<string, string> {
  let left = mostBytes;
  const entries = Object.entries(headers).slice(0, mostHeaders);
  const end = entries.findIndex(([name, value]) => {
    left -= Buffer.byteLength(name) + Buffer.byteLength(value);
    return left < 0;
  });
  return Object.fromEntries(end === -1 ? entries : entries.slice(0, end));
}

/** The number of characters of a signature that are shown. */
const cutLength = 4;

function signatureCuts(headers: Readonly<Record<string, string>>): SignatureCuts {
  const cut = (text: string, prefix: string): string => text.slice(prefix.length, prefix.length + cutLength);
  const previous = headers['x-webhook-signature-256-previous'];
  return {
    current: cut(headers['x-webhook-signature-256'] ?? '', 'sha256='),
    ...(previous !== undefined && { previous: cut(previous, 'sha256=') }),
    standard: (headers['webhook-signature'] ?? '').split(' ').map((one) => cut(one, 'v1,')),
  };
}

export interface SignedAttempt {
  readonly event: string;
  /** A notice names its type in a header of its own: X-Webhook-Event has the two events of creations. */
  readonly isNotice?: boolean;
  /** Creation id and event, or the id of the notice: the same in every attempt. */
  readonly messageId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  readonly signedAtSeconds: number;
  readonly body: string;
}

/** The header webhook-id: the same in all attempts of a message to an endpoint. */
export function messageIdOf(message: string, endpointId: string | undefined): string {
  return endpointId === undefined ? message : `${message}:${endpointId}`;
}

/** `sha256=` and the lower-case hex HMAC-SHA-256 of "timestamp.body" under the whole secret as UTF-8. */
export function signature256(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

/** One `v1,` value of Standard Webhooks. The key is the 32 bytes after the prefix of the secret. */
export function standardSignature(
  secret: string,
  messageId: string,
  timestamp: string,
  body: string,
): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${messageId}.${timestamp}.${body}`).digest('base64')}`;
}

export function webhookHeaders(attempt: SignedAttempt, secrets: SigningSecrets): Record<string, string> {
  const timestamp = String(attempt.signedAtSeconds);
  return {
    'content-type': 'application/json',
    'user-agent': 'Darkroom-Webhooks/1',
    [attempt.isNotice === true ? 'x-darkroom-notice' : 'x-webhook-event']: attempt.event,
    'x-webhook-delivery-id': attempt.deliveryId,
    'x-webhook-attempt': String(attempt.attempt),
    'x-timestamp': timestamp,
    'x-webhook-signature-256': signature256(secrets.current, timestamp, attempt.body),
    ...(secrets.previous !== undefined && {
      'x-webhook-signature-256-previous': signature256(secrets.previous, timestamp, attempt.body),
    }),
    'webhook-id': attempt.messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.valid
      .map((secret) => standardSignature(secret, attempt.messageId, timestamp, attempt.body))
      .join(' '),
  };
}

/** What "failing" means: an attempt has failed, and another one follows. */
type Schedule = Pick<WebhookState, 'status' | 'attempts' | 'nextAt'>;

export function isFailing({ status, attempts, nextAt }: Schedule, nowMillis: number): boolean {
  if (status !== 'pending' || attempts === 0) return false;
  // While the first attempt is at work, the next one is further away than the wait between the two.
  return attempts > 1 || nextAt - nowMillis <= waitAfter(1);
}

/** The same schedule, read from the log row of the newest attempt. */
export function scheduleOf({ outcome, attempt, startedAt, nextAttemptAt }: Delivery): Schedule {
  if (nextAttemptAt !== undefined)
    return { status: 'pending', attempts: attempt, nextAt: Date.parse(nextAttemptAt) };
  const nextAt = Date.parse(startedAt) + webhookClaimedMillis + waitAfter(attempt);
  return {
    status: outcome === undefined || outcome === 'unknown' ? 'pending' : outcome,
    attempts: attempt,
    nextAt,
  };
}
