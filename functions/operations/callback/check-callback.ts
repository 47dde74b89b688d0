/** The checks of a callback before anything is touched, the cheapest first. */
import { isCapability } from '../../../core/callback-address.ts';
import { isTerminal, type CreationRecord, type RouteAttempt } from '../../../core/creation.ts';
import { parseCreationId } from '../../../core/ids.ts';
import { maxBodyBytes } from '../../../core/limits.ts';
import { readJson } from '../../../core/read-json.ts';
import type { CallbackRequest, ImageProvider } from '../../../core/provider.ts';
import type { CallbackServices } from '../../services/completion.ts';
import type { CallbackOutcome } from './outcomes.ts';

/** A callback as it arrived. */
export interface Callback extends CallbackRequest {
  readonly provider: string;
  readonly creationId: string;
  readonly capability: string;
}

/** A provider that calls back and whose jobs can be looked at. */
export type CallingProvider = ImageProvider & Required<Pick<ImageProvider, 'callback' | 'poll'>>;

/** The attempt whose vendor called. */
export interface CalledAttempt {
  readonly provider: CallingProvider;
  readonly creation: CreationRecord;
  readonly attempt: RouteAttempt & Required<Pick<RouteAttempt, 'callbackHash'>>;
}

export async function callingProvider(
  { provider }: Callback,
  services: CallbackServices,
): Promise<CallingProvider | undefined> {
  const known = await services.providers.get(provider);
  return known && canCall(known) ? known : undefined;
}

function canCall(provider: ImageProvider): provider is CallingProvider {
  return provider.callback !== undefined && provider.poll !== undefined;
}

/** The attempt to which the address belongs. Undefined for every address that this service did not give. */
export async function attemptOf(
  callback: Callback,
  provider: CallingProvider,
  { creations }: CallbackServices,
): Promise<CalledAttempt | undefined> {
  const id = parseCreationId(callback.creationId);
  const creation = id && (await creations.read(id));
  for (const attempt of creation?.attempts ?? []) {
    const { callbackHash } = attempt;
    if (attempt.provider !== provider.name || callbackHash === undefined) continue;
    if (creation && isCapability(callback.capability, callbackHash))
      return { provider, creation, attempt: { ...attempt, callbackHash } };
  }
  return undefined;
}

/** How long the read of the vendor's keys may take. */
const keysMillis = 5_000;

/** Undefined: the vendor of the attempt's own job has called. */
export async function refusalOf(
  callback: Callback,
  { provider, creation, attempt }: CalledAttempt,
  { clock, log }: CallbackServices,
): Promise<CallbackOutcome | undefined> {
  if (callback.body.byteLength > maxBodyBytes) return 'too_large';
  if (readJson(Buffer.from(callback.body).toString('utf8'), Infinity).kind === 'too_deep') return 'too_deep';
  const limit = clock.timeout(keysMillis);
  try {
    const verdict = await provider.callback.verify(callback, clock.now(), limit.signal);
    switch (verdict.kind) {
      case 'unverifiable':
        return 'unverifiable';
      case 'refused':
        log.alarm('callback_refused', { provider: provider.name, why: verdict.why });
        return 'refused';
      case 'genuine':
        if (attempt.jobId === undefined) return isTerminal(creation.status) ? undefined : 'too_early';
        return provider.callback.isJob(attempt.jobId, verdict.jobId) ? undefined : 'other_job';
    }
  } catch (error) {
    if (limit.signal.aborted) return 'unverifiable';
    throw error;
  } finally {
    limit.release();
  }
}
