import { decodeBase64, WebhookError } from './received.ts';

/** The two keys of a webhook secret, one for each scheme of signatures. */
const prefix = 'whsec_';
const hmac = { name: 'HMAC', hash: 'SHA-256' } as const;

/** CryptoKey, which the types of Node alone do not name. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

export interface SecretKeys {
  /** Of X-Webhook-Signature-256: the whole secret as UTF-8. */
  readonly whole: Key;
  /** Of webhook-signature (Standard Webhooks): the bytes after the prefix. */
  readonly standard: Key;
}

/** Throws `secret_invalid` for everything that is not `whsec_` and base64. */
export async function keysOf(secret: unknown): Promise<SecretKeys> {
  const bytes =
    typeof secret === 'string' && secret.startsWith(prefix)
      ? decodeBase64(secret.slice(prefix.length))
      : undefined;
  if (typeof secret !== 'string' || bytes === undefined || bytes.length < 16) {
    throw new WebhookError('secret_invalid');
  }
  const [whole, standard] = await Promise.all([
    importKey(new TextEncoder().encode(secret)),
    importKey(bytes),
  ]);
  return { whole, standard };
}

async function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<Key> {
  return crypto.subtle.importKey('raw', bytes, hmac, false, ['sign', 'verify']);
}

/** The signed text: the parts and the body, with a dot between each two. */
export function signedBytes(
  parts: readonly string[],
  body: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${parts.join('.')}.`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}
