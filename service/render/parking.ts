/**
 * When a job may be left to the callback of its vendor. The execution then waits without a function, and its
 * task needs its end or a heartbeat in time. Otherwise the task is run again, and RenderImage asks
 * the vendor.
 */
import type { RouteAttempt } from '../creations/creation.ts';
import { heartbeatSeconds } from '../creations/machines.ts';
import type { CreationId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import type { ImageProvider } from '../vendors/provider.ts';
import { type CallbackAddress, newCallbackAddress } from './callback-address.ts';
import type { RenderServices } from './open.ts';

/** The retry, its start and one poll of the vendor have to fit into the time after the heartbeat. */
const marginMillis = 5_000;

/** Whether the route's time outlasts a callback that never comes. */
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

/** Where the vendor is to call back. Undefined: the job has to be polled. */
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
