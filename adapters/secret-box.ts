/**
 * Encrypts webhook secrets for the table, with AES-256-GCM. The key is derived from the service's secret in
 * Secrets Manager. The account's id is the associated data, so that no other account can use the text.
 *
 *   v1 . version of the key . nonce (12 bytes) . ciphertext and tag
 *
 * A sealed text names the version of the secret that sealed it. So texts from before a rotation still open.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { AccountId } from '../core/ids.ts';
import type { Clock, RandomBytes } from '../core/ports/runtime.ts';
import { SecretLost, type SecretBox } from '../core/ports/secret-box.ts';
import { readSecretValue } from './secret-value.ts';

const cacheMillis = 5 * 60_000;
const tagBytes = 16;

interface Key {
  readonly version: string;
  readonly bytes: Buffer;
}

export interface SecretBoxOptions {
  readonly client: SecretsManagerClient;
  readonly secretArn: string;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** The name under which the key is derived. Absent: that of the webhook secrets. */
  readonly purpose?: string;
}

/** The result of sealing a text again with the current version of the secret. */
export type Resealed =
  | { readonly kind: 'resealed'; readonly sealed: string }
  | { readonly kind: 'already_current' }
  /** Nobody can open the text any more: the version that sealed it is gone, or the text is damaged. */
  | { readonly kind: 'lost' };

/**
 * For the operator's command: after a rotation, texts are sealed again while their old version still exists.
 */
export interface ResealingBox extends SecretBox {
  reseal(accountId: AccountId, sealed: string): Promise<Resealed>;
}

/**
 * open() throws SecretLost when the text was altered, belongs to another account, or was sealed by a lost
 * version. Both throw Overloaded when Secrets Manager stayed busy.
 */
export function createSecretBox(options: SecretBoxOptions): ResealingBox {
  const keyOf = cachedKeys(options);
  const box: SecretBox = {
    seal: async (accountId, plain) => {
      const key = await keyOf(undefined);
      const nonce = options.randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(Buffer.from(accountId));
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return ['v1', key.version, Buffer.from(nonce).toString('base64url'), sealed.toString('base64url')].join(
        '.',
      );
    },
    open: async (accountId, text) => {
      const [form, version, nonce, body] = text.split('.');
      if (form !== 'v1' || version === undefined || nonce === undefined || body === undefined) {
        throw new SecretLost('a sealed secret has not the form v1.version.nonce.body');
      }
      const key = await keyOf(version).catch((error: unknown) => {
        throw isGone(error)
          ? new SecretLost('the version that sealed the secret is gone', { cause: error })
          : error;
      });
      return decrypt(key, accountId, Buffer.from(nonce, 'base64url'), Buffer.from(body, 'base64url'));
    },
  };
  return {
    ...box,
    reseal: async (accountId, text) => {
      const [, version] = text.split('.');
      try {
        const plain = await box.open(accountId, text);
        if (version === (await keyOf(undefined)).version) return { kind: 'already_current' };
        return { kind: 'resealed', sealed: await box.seal(accountId, plain) };
      } catch (error) {
        if (error instanceof SecretLost) return { kind: 'lost' };
        throw error;
      }
    },
  };
}

/** Whether the version of the secret is lost for good. A throttle or a lost connection is not. */
function isGone(error: unknown): boolean {
  const names = ['ResourceNotFoundException', 'InvalidParameterException', 'ValidationException'];
  return error instanceof Error && names.includes(error.name);
}

function decrypt(key: Key, accountId: AccountId, nonce: Buffer, sealed: Buffer): string {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, nonce)
      .setAAD(Buffer.from(accountId))
      .setAuthTag(sealed.subarray(-tagBytes));
    return decipher.update(sealed.subarray(0, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch (error) {
    throw new SecretLost('the sealed secret was altered, or sealed for another account', { cause: error });
  }
}

/**
 * Reads the current key (for undefined) or the key of a version. Each is read at most once in five minutes.
 */
function cachedKeys({
  client,
  secretArn,
  clock,
  purpose = 'webhook secrets',
}: SecretBoxOptions): (version: string | undefined) => Promise<Key> {
  const held = new Map<string, { readonly key: Key; readonly until: number }>();
  return async (version) => {
    const cached = held.get(version ?? 'current');
    if (cached && cached.until > clock.now()) return cached.key;
    const answer = await readSecretValue(client, {
      SecretId: secretArn,
      ...(version !== undefined && { VersionId: version }),
    });
    const key = { version: answer.VersionId ?? '', bytes: deriveKey(answer.SecretString ?? '', purpose) };
    const entry = { key, until: clock.now() + cacheMillis };
    held.set(key.version, entry);
    if (version === undefined) held.set('current', entry);
    return key;
  };
}

function deriveKey(secret: string, purpose: string): Buffer {
  if (secret.length < 32) throw new Error('the encryption secret is shorter than 32 characters');
  return Buffer.from(hkdfSync('sha256', secret, 'darkroom', purpose, 32));
}
