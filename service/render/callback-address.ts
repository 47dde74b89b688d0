/**
 * The address under which a vendor reports that a job has ended. Only the vendor of one attempt gets it:
 *
 *   https://api.example.com /callbacks/v1/ fal / 019aa5a0-… / PPPPPPPP…
 *                                        provider creation   capability, 32 random bytes
 *
 * The record keeps only the SHA-256 of the capability, so a reader of the table cannot make the address.
 */
import { createHash } from 'node:crypto';
import { callbackRoute } from '../contract/operations.ts';
import type { CreationId } from '../values/ids.ts';
import { sameHash } from '../values/text.ts';

const capabilityBytes = 32;
const form = /^[\w-]{43}$/;

export interface CallbackAddress {
  readonly url: string;
  /** Lower-case hex of the SHA-256 of the capability. */
  readonly hash: string;
}

/**
 * A new address for one attempt.
 * @param baseUrl the root of the HTTP API, without a slash at its end
 */
export function newCallbackAddress(
  baseUrl: string,
  provider: string,
  creationId: CreationId,
  randomBytes: (count: number) => Uint8Array,
): CallbackAddress {
  const capability = Buffer.from(randomBytes(capabilityBytes)).toString('base64url');
  const path = callbackRoute
    .replace('{provider}', provider)
    .replace('{creation_id}', creationId)
    .replace('{capability}', capability);
  return { url: `${baseUrl}${path}`, hash: hashOf(capability) };
}

/** Whether a capability is the one with this hash. The comparison takes the same time for every hash. */
export function isCapability(presented: string, hash: string): boolean {
  return form.test(presented) && sameHash(hashOf(presented), hash);
}

function hashOf(capability: string): string {
  return createHash('sha256').update(capability).digest('hex');
}
