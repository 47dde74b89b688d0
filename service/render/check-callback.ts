/** The checks of a callback before anything is touched, the cheapest first, and the outcomes of a callback. */
import { maxBodyBytes } from '../contract/limits.ts';
import { type CreationRecord, isTerminal, type RouteAttempt } from '../creations/creation.ts';
import { parseCreationId } from '../values/ids.ts';
import { readJson } from '../values/read-json.ts';
import type { CallbackRequest, ImageProvider } from '../vendors/provider.ts';
import { isCapability } from './parking.ts';
import type { CallbackServices } from './open.ts';

export interface Callback extends CallbackRequest {
  readonly provider: string;
  readonly creationId: string;
  readonly capability: string;
}

export type CallingProvider = ImageProvider & Required<Pick<ImageProvider, 'callback' | 'poll'>>;

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

/** How a callback can end, with status and log. A vendor repeats a callback after 503 only. */
export const callbackOutcomes = {
  /** The creation is completed, and the execution continues. */
  completed: 200,
  /** The job gave no image. The execution continues with the next route, or fails the creation. */
  route_ended: 200,
  /** The creation was terminal before, or a later route has replaced this job. */
  late: 200,
  refused: 401,
  /** No provider that calls back, no such creation, or no attempt with this capability. */
  unknown: 404,
  /** A genuine callback for another job than the attempt's. */
  other_job: 404,
  /** More than 32 lists and objects inside each other. */
  too_deep: 400,
  too_large: 413,
  /** The job's id is not in the record yet. */
  too_early: 503,
  /**
   * This code does not understand the creation. The vendor repeats its callback, or the heartbeat polls
   * later.
   */
  newer_release: 503,
  unverifiable: 503,
  leased: 503,
  /** The vendor itself says that the job has not ended, or did not say anything in time. */
  pending: 503,
  /** The image could not be stored, or the table was too busy. */
  busy: 503,
  /** Everything is recorded, but no answer says that the execution continues. */
  task_unclear: 503,
  broke: 503,
} as const;

export type CallbackOutcome = keyof typeof callbackOutcomes;
