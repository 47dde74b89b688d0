/**
 * Signs addresses of results with CloudFront's canned policy
 * (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-creating-signed-url-canned-policy.html).
 * A function loads this file with its first signed address (lib/bundling/bundle-text.ts).
 */
import { sign } from 'node:crypto';
import { createSignedSecret } from '../aws/signed-secret.ts';
import { signedPrefix } from '../contract/limits.ts';
import { Overloaded } from '../values/errors.ts';
import type { Addressed, AddressOf } from './result-addresses.ts';

/** The secret of the keys. docs/operations.md says how a key is replaced. */
export interface KeySecret {
  /** PEM of the pair that a deployment made first, which the template names. */
  readonly public_key: string;
  /** PEM of the key that signs. */
  readonly private_key: string;
  /** CloudFront's id of the key that signs. Absent: that of the template's key. */
  readonly key_id?: string;
}

/**
 * The key is read at most once in five minutes, so a replaced key signs five minutes longer.
 * Undefined: Secrets Manager stayed busy.
 * @param templateKeyId CloudFront's id of the template's key
 */
export function openSigner(
  access: Parameters<typeof createSignedSecret>[0],
  templateKeyId: string,
): (baseUrl: string) => Promise<AddressOf | undefined> {
  const read = createSignedSecret(access);
  return async (baseUrl) => {
    try {
      return signedBy((await read())[0] ?? '{}', templateKeyId, baseUrl);
    } catch (error) {
      // The bundle that loads this file has a class Overloaded of its own.
      if (error instanceof Overloaded) return undefined;
      throw error;
    }
  };
}

/** @param templateKeyId CloudFront's id of the template's key */
export function signedBy(secret: string, templateKeyId: string, baseUrl: string): AddressOf {
  const { private_key: key, key_id: id = templateKeyId } = JSON.parse(secret) as Partial<KeySecret>;
  if (key === undefined) throw new Error('the secret has no key that signs addresses');
  return (object, creation, nowMillis) => {
    const url = `${baseUrl}/${object}`;
    if (!object.startsWith(signedPrefix)) return url;
    const expires = lastSecond(creation, nowMillis);
    const signature = sign('sha1', Buffer.from(cannedPolicy(url, expires)), key).toString('base64');
    return `${url}?Expires=${expires}&Signature=${signature.replace(/[+=/]/g, forQuery)}&Key-Pair-Id=${id}`;
  };
}

/** The largest error of the clock of a reader or of CloudFront. */
const skewSeconds = 60;

/** Unix seconds. An address ends with its creation's results at the latest. */
function lastSecond({ signedMinutes = 0, resultsExpireAt = Infinity }: Addressed, nowMillis: number): number {
  return Math.floor(Math.min(nowMillis + signedMinutes * 60_000, resultsExpireAt) / 1_000) + skewSeconds;
}

/** The bytes that are signed. CloudFront builds the same bytes from the requested address. */
function cannedPolicy(url: string, expires: number): string {
  return `{"Statement":[{"Resource":"${url}","Condition":{"DateLessThan":{"AWS:EpochTime":${expires}}}}]}`;
}

function forQuery(character: string): string {
  return { '+': '-', '=': '_' }[character] ?? '~';
}
