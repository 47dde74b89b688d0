/** Verifies webhooks and notices. Uses only WebCrypto, so that edge runtimes can use it. */
import type {
  CreationCompleted,
  CreationFailed,
  KeyCapReached,
  WalletEmpty,
  WalletLow,
  WebhookFailing,
} from '../types/generated.ts';
import {
  decodeBase64,
  readReceived,
  type Received,
  type ReceivedParts,
  WebhookError,
  type WebhookErrorReason,
  type WebRequest,
} from './received.ts';
import { keysOf, type SecretKeys, signedBytes } from './keys.ts';

export interface VerifyOptions {
  /** How far the time of signing may lie from now, in both directions. 300 unless given. */
  readonly toleranceSeconds?: number;
}

/** One scheme of a request: its signatures, what they cover, and when they were made. */
interface Claim {
  readonly key: keyof SecretKeys;
  readonly timestamp: string;
  /** The signed text before the body. */
  readonly signedParts: readonly string[];
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Verifies a request and returns its event. Accepts both schemes of the service, and each of several secrets,
 * for the time in which a secret is being rotated. Throws a {@link WebhookError} for everything else.
 *
 * @param request a fetch `Request`, or an object with `headers` and the raw `body`
 * @param secret `whsec_…`, or several of them
 *
 * @example
 * export async function POST(request: Request) {
 *   const event = await verifyWebhook(request, process.env.DARKROOM_WEBHOOK_SECRET ?? '');
 *   console.log(event.id);
 *   return new Response(null, { status: 204 });
 * }
 */
export async function verifyWebhook(
  request: WebRequest | ReceivedParts,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  return verifyWebhookAt(request, secret, { ...options, nowMillis: Date.now() });
}

/** Like verifyWebhook, at a given time. */
export async function verifyWebhookAt(
  request: WebRequest | ReceivedParts,
  secret: string | readonly string[],
  { toleranceSeconds = 300, nowMillis }: VerifyOptions & { readonly nowMillis: number },
): Promise<WebhookEvent> {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  // Callers without types may give undefined for a variable that is not set.
  if (!Array.isArray(secrets) || secrets.length === 0) throw new WebhookError('secret_invalid');
  const keys = await Promise.all(secrets.map(keysOf));
  const received = await readReceived(request);

  const claims = claimsOf(received);
  if (claims.length === 0) throw new WebhookError('signature_missing');
  const late = claims.map((claim) => lateness(claim.timestamp, nowMillis, toleranceSeconds));
  const fresh = claims.filter((_claim, index) => late[index] === undefined);
  if (fresh.length === 0) throw new WebhookError(late[0] ?? 'timestamp_invalid');

  if (!(await oneMatches(fresh, keys, received.body))) throw new WebhookError('signature_mismatch');
  return eventIn(received.body);
}

function claimsOf(received: Received): readonly Claim[] {
  const header = (name: string): string | undefined => received.header(name);
  const id = header('webhook-id') ?? '';
  const standardAt = header('webhook-timestamp') ?? '';
  const standard = (header('webhook-signature') ?? '')
    .split(/[ ,]+(?=v\d+[a-z]?,)/)
    .flatMap((value) => (value.startsWith('v1,') ? (decodeBase64(value.slice(3)) ?? []) : []));
  const plainAt = header('x-timestamp') ?? '';
  const plain = ['x-webhook-signature-256', 'x-webhook-signature-256-previous'].flatMap(
    (name) => bytesOfHex(header(name) ?? '') ?? [],
  );
  const has = (name: string): boolean => header(name) !== undefined;
  return [
    ...(has('webhook-signature')
      ? [
          {
            key: 'standard',
            timestamp: standardAt,
            signedParts: [id, standardAt],
            signatures: standard,
          } as const,
        ]
      : []),
    ...(has('x-webhook-signature-256') || has('x-webhook-signature-256-previous')
      ? [{ key: 'whole', timestamp: plainAt, signedParts: [plainAt], signatures: plain } as const]
      : []),
  ];
}

/** Undefined when the timestamp is near enough. */
function lateness(
  timestamp: string,
  nowMillis: number,
  toleranceSeconds: number,
): WebhookErrorReason | undefined {
  if (!/^\d{1,12}$/.test(timestamp)) return 'timestamp_invalid';
  const ageSeconds = nowMillis / 1000 - Number(timestamp);
  if (Math.abs(ageSeconds) <= toleranceSeconds) return undefined;
  return ageSeconds < 0 ? 'timestamp_too_new' : 'timestamp_too_old';
}

/** True when one key matches one signature. crypto.subtle.verify compares in constant time. */
async function oneMatches(
  claims: readonly Claim[],
  keys: readonly SecretKeys[],
  body: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const { key, signedParts, signatures } of claims) {
    const signed = signedBytes(signedParts, body);
    for (const signature of signatures) {
      for (const secretKeys of keys) {
        if (await crypto.subtle.verify('HMAC', secretKeys[key], signature, signed)) return true;
      }
    }
  }
  return false;
}

/** The headers X-Webhook-Event and X-Darkroom-Notice are not signed, so only the body determines the kind. */
function eventIn(body: Uint8Array): WebhookEvent {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new WebhookError('payload_invalid', { cause });
  }
  if (!isEvent(parsed)) throw new WebhookError('payload_invalid');
  return parsed;
}

/** The signature vouches for the rest: only the service can have made this body. */
function isEvent(value: unknown): value is WebhookEvent {
  if (typeof value !== 'object' || value === null || !('id' in value) || typeof value.id !== 'string') {
    return false;
  }
  const name = 'event' in value ? value.event : 'notice' in value ? value.notice : undefined;
  return typeof name === 'string';
}

/** Reads `sha256=` and 64 hex digits. Undefined for every other text. */
function bytesOfHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(text.trim())?.[1];
  if (hex === undefined) return undefined;
  return Uint8Array.from({ length: 32 }, (_byte, index) => parseInt(hex.slice(index * 2, index * 2 + 2), 16));
}

/** The bodies of webhooks and notices, by their types in the document of the API. */
export type { CreationCompleted, CreationFailed, KeyCapReached, WalletEmpty, WalletLow, WebhookFailing };

/** What happened to a creation. */
export type CreationEvent = CreationCompleted | CreationFailed;

/** What the service reports about the account and its keys. */
export type Notice = WalletLow | WalletEmpty | KeyCapReached | WebhookFailing;

/** A verified body. `'notice' in event` is true for a notice, and false for the event of a creation. */
export type WebhookEvent = CreationEvent | Notice;
