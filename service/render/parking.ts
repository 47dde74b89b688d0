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
import type { RouteAttempt } from '../creations/creation.ts';
import { heartbeatSeconds } from '../creations/machines.ts';
import type { CreationId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import { sameHash } from '../values/text.ts';
import type { ImageProvider } from '../vendors/provider.ts';
import type { RenderServices } from './open.ts';

const capabilityBytes = 32;
const form = /^[\w-]{43}$/;

interface CallbackAddress {
  readonly url: string;
  /** Lower-case hex of the SHA-256 of the capability. */
  readonly hash: string;
}

/** A new address for one attempt. @param baseUrl the root of the HTTP API, without a slash at its end */
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

// When a job may be left to the callback of its vendor. The execution then waits without a function, and its
// task needs its end or a heartbeat in time. Otherwise the task is run again, and RenderImage asks
// the vendor.

/** The retry, its start and one poll of the vendor have to fit into the time after the heartbeat. */
const marginMillis = 5_000;

export function outlastsHeartbeat(endsAtMillis: number, nowMillis: number): boolean {
  return nowMillis + heartbeatSeconds * 1000 + marginMillis <= endsAtMillis;
}

export interface AddressQuestion {
  readonly creationId: CreationId;
  readonly provider: ImageProvider | undefined;
  readonly attempt: RouteAttempt;
  /** Unix milliseconds at which the time of the route ends. */
  readonly endsAtMillis: number;
  readonly signal: AbortSignal;
  readonly services: RenderServices;
}

/** The address for the vendor's callback. Undefined: the job has to be polled. */
export async function callbackAddressFor(question: AddressQuestion): Promise<CallbackAddress | undefined> {
  const { creationId, provider, attempt, endsAtMillis, signal, services } = question;
  const { callbackBaseUrl, clock, randomBytes } = services;
  if (callbackBaseUrl === undefined || !provider?.callback) return undefined;
  if (!outlastsHeartbeat(endsAtMillis, clock.now())) return undefined;
  try {
    if (!(await provider.callback.ready(signal))) return undefined;
  } catch (error) {
    services.log.info('callbacks_not_ready', { provider: attempt.provider, error: errorName(error) });
    return undefined;
  }
  return newCallbackAddress(callbackBaseUrl, attempt.provider, creationId, randomBytes);
}
