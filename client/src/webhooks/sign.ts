/** Signs a body as the service does, for tests of receivers and for `darkroom listen`. */
import { keysOf, signedBytes } from './keys.ts';

export interface SignOptions {
  /** The webhook-id: creation id and event, or the id of a notice. Read from the body unless given. */
  readonly id?: string;
  /** When the delivery is signed. Now, unless given. */
  readonly signedAt?: Date;
  /** The X-Webhook-Delivery-ID: new for each attempt. A random UUID unless given. */
  readonly deliveryId?: string;
  /** Which attempt this is. 1 unless given. */
  readonly attempt?: number;
}

/**
 * The headers of a delivery of this body, with both signatures. Use them to test a receiver.
 *
 * @example
 * const body = JSON.stringify({ event: 'creation.completed', id: 'my-creation', result_urls: [] });
 * const headers = await signWebhook(body, secret);
 * await fetch('http://127.0.0.1:3000/hooks', { method: 'POST', headers, body });
 */
export async function signWebhook(
  body: string,
  secret: string,
  { id, signedAt = new Date(), deliveryId = crypto.randomUUID(), attempt = 1 }: SignOptions = {},
): Promise<Record<string, string>> {
  const { whole, standard } = await keysOf(secret);
  const { kind, name, messageId } = messageOf(body);
  const webhookId = id ?? messageId;
  const timestamp = String(Math.floor(signedAt.getTime() / 1000));
  const bytes = new TextEncoder().encode(body);
  const [hash, value] = await Promise.all([
    crypto.subtle.sign('HMAC', whole, signedBytes([timestamp], bytes)),
    crypto.subtle.sign('HMAC', standard, signedBytes([webhookId, timestamp], bytes)),
  ]);
  return {
    'content-type': 'application/json',
    'user-agent': 'Darkroom-Webhooks/1',
    [kind === 'notice' ? 'x-darkroom-notice' : 'x-webhook-event']: name,
    'x-webhook-delivery-id': deliveryId,
    'x-webhook-attempt': String(attempt),
    'x-timestamp': timestamp,
    'x-webhook-signature-256': `sha256=${hex(hash)}`,
    'webhook-id': webhookId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(value)))}`,
  };
}

interface Message {
  readonly kind: 'event' | 'notice';
  readonly name: string;
  readonly messageId: string;
}

function messageOf(body: string): Message {
  const { event, notice, id } = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return notice === undefined
    ? { kind: 'event', name: text(event), messageId: `${text(id)}:${text(event)}` }
    : { kind: 'notice', name: text(notice), messageId: text(id) };
}

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
