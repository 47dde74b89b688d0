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
import { heldFor, readSecretValue } from '../aws/secrets.ts';
import type { AccountId } from '../values/ids.ts';
import type { Clock, RandomBytes } from '../values/runtime.ts';

// The encryption of webhook secrets.

/** Encrypts webhook secrets. A text that was sealed for one account does not open for another. */
export interface SecretBox {
  seal(accountId: AccountId, plain: string): Promise<string>;
  /** Throws SecretLost when the text can no longer be opened. Any other error may be temporary. */
  open(accountId: AccountId, sealed: string): Promise<string>;
}

/** The key that sealed a text is lost for ever, or the text is damaged or belongs to another account. */
export class SecretLost extends Error {
  override readonly name = 'SecretLost';
}

const cacheMillis = 5 * 60_000;
const tagBytes = 16;
/** A nonce has 12 bytes, and a body at least the 16 bytes of a tag. */
const sealedForm = /^v1\.([\w-]{1,64})\.([\w-]{16})\.([\w-]{22,})$/;
/** The least time between two reads of newer versions that only a presented text has caused. */
const pauseMillis = 60_000;

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
  /** Strangers can present texts, so only the current and the previous version open one. */
  readonly isOpenToStrangers?: boolean;
}

export type Resealed =
  | { readonly kind: 'resealed'; readonly sealed: string }
  | { readonly kind: 'already_current' }
  /** The text can no longer be opened: the version that sealed it is gone, or the text is damaged. */
  | { readonly kind: 'lost' };

/** For the operator: after a rotation, texts are sealed again while their old version exists. */
export interface ResealingBox extends SecretBox {
  reseal(accountId: AccountId, sealed: string): Promise<Resealed>;
}

/** open() throws SecretLost for a text that does not open; both throw Overloaded when AWS is busy. */
export function createSecretBox(options: SecretBoxOptions): ResealingBox {
  const keyOf = options.isOpenToStrangers === true ? recentKeys(options) : cachedKeys(options);
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
      const [, version, nonce, body] = sealedForm.exec(text) ?? [];
      if (version === undefined || nonce === undefined || body === undefined) {
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
    // Without the length, Node would take a tag of four bytes, which a stranger can guess.
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(accountId))
      .setAuthTag(sealed.subarray(-tagBytes));
    return decipher.update(sealed.subarray(0, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch (error) {
    throw new SecretLost('the sealed secret was altered, or sealed for another account', { cause: error });
  }
}

/** The current key (for undefined), or the key of a version. */
type KeyOf = (version: string | undefined) => Promise<Key>;

function cachedKeys(options: SecretBoxOptions): KeyOf {
  const { clock } = options;
  const held = new Map<string, { readonly key: Key; readonly until: number }>();
  return async (version) => {
    const cached = held.get(version ?? 'current');
    if (cached && cached.until > clock.now()) return cached.key;
    const key = await readKey(options, version === undefined ? {} : { VersionId: version });
    const entry = { key, until: clock.now() + cacheMillis };
    held.set(key.version, entry);
    if (version === undefined) held.set('current', entry);
    return key;
  };
}

/** Reads the current and the previous key, and checks for newer keys at most once a minute. */
function recentKeys(options: SecretBoxOptions): KeyOf {
  const { clock } = options;
  const readBoth = () => ({
    current: heldFor(clock, () => readKey(options, {})),
    previous: heldFor(clock, () => previousKey(options)),
    at: clock.now(),
  });
  let keys = readBoth();
  const find = async (version: string): Promise<Key | undefined> => {
    const current = await keys.current();
    if (current.version === version) return current;
    const previous = await keys.previous();
    return previous?.version === version ? previous : undefined;
  };
  return async (version) => {
    if (version === undefined) return keys.current();
    const known = await find(version);
    if (known) return known;
    const isSoon = clock.now() - keys.at < pauseMillis;
    if (!isSoon) keys = readBoth();
    const newer = isSoon ? undefined : await find(version);
    if (!newer) throw new SecretLost('no recent version sealed the text');
    return newer;
  };
}

/** Undefined: the secret was never rotated. */
async function previousKey(options: SecretBoxOptions): Promise<Key | undefined> {
  try {
    return await readKey(options, { VersionStage: 'AWSPREVIOUS' });
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

async function readKey(
  { client, secretArn, purpose = 'webhook secrets' }: SecretBoxOptions,
  which: { readonly VersionId?: string; readonly VersionStage?: string },
): Promise<Key> {
  const answer = await readSecretValue(client, { SecretId: secretArn, ...which });
  return { version: answer.VersionId ?? '', bytes: deriveKey(answer.SecretString ?? '', purpose) };
}

function deriveKey(secret: string, purpose: string): Buffer {
  if (secret.length < 32) throw new Error('the encryption secret is shorter than 32 characters');
  return Buffer.from(hkdfSync('sha256', secret, 'darkroom', purpose, 32));
}
