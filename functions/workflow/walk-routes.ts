/**
 * The routes of a creation, one after the other, until one gives an image or an answer
 * that ends the matter. Each attempt is written before its vendor is called, so that
 * whoever comes after a crash knows what was begun.
 */
import type { CreationRecord, RouteAttempt, StoredImage } from '../../core/creation.ts';
import { CreationFailed, failureNamed, failureNames, type FailureName } from '../../core/failure.ts';
import { readImageHeader } from '../../core/image-bytes.ts';
import type { ImageProvider, ProviderAnswer, RefusalReason, RenderJob } from '../../core/ports.ts';
import type { RenderServices } from '../services.ts';
import { Remedy } from './payload.ts';

/** What a refusal means for the creation; null: nothing yet, the next route is tried. */
const remedies: Readonly<Record<RefusalReason, FailureName | null>> = {
  prompt: 'PromptRejected',
  source_image: 'SourceImageRejected',
  failed: 'GenerationFailed',
  nothing_rendered: 'NothingRendered',
  timed_out: 'GenerationTimedOut',
  unavailable: null,
  credentials: null,
  unknown_answer: 'InternalFailure',
};

export interface Rendering {
  readonly image: StoredImage;
  /** Absent when the image was found stored by an attempt before. */
  readonly bytes?: Uint8Array;
  readonly attempts: readonly RouteAttempt[];
}

export interface Walk {
  readonly creation: CreationRecord;
  /** Aborts when the creation's time is over. */
  readonly signal: AbortSignal;
  /** Throws when the lease is no longer ours: another invocation renders by now. */
  readonly save: (attempts: readonly RouteAttempt[]) => Promise<void>;
  readonly services: RenderServices;
}

/** The first image that a route gives. Throws CreationFailed under the name of the message that the client gets. */
export async function walkRoutes(walk: Walk): Promise<Rendering> {
  const attempts = [...walk.creation.attempts];
  const ended = attempts.at(-1)?.outcome;
  if (ended !== undefined && isFailureName(ended)) throw new CreationFailed(failureNamed(ended));
  let unknownOutcome = false;
  for (const route of walk.creation.routes) {
    const index = attempts.findIndex((attempt) => attempt.provider === route.provider && attempt.providerModel === route.providerModel);
    const before = attempts[index];
    if (before?.outcome !== undefined) continue;
    const found = before && (await walk.services.images.find(before.resultKey));
    if (found) return { image: found, attempts: replaced(attempts, index, { ...before, outcome: 'rendered' }) };
    if (before && before.jobId === undefined) {
      // A call whose end nobody saw is not repeated at the same vendor: it may have been rendered and billed.
      unknownOutcome = true;
      continue;
    }
    const result = await tryRoute(walk, attempts, before ?? begin(walk, route));
    if (result) return result;
  }
  throw new CreationFailed(unknownOutcome ? 'InternalFailure' : 'ServiceUnavailable');
}

function isFailureName(outcome: string): boolean {
  return failureNames.some((name) => name === outcome);
}

function begin({ creation, services }: Walk, route: { provider: string; providerModel: string }): RouteAttempt {
  const random = Buffer.from(services.randomBytes(24)).toString('base64url');
  const extension = creation.outputFormat === 'jpeg' ? 'jpg' : creation.outputFormat;
  return { ...route, startedAt: new Date(services.clock.now()).toISOString(), resultKey: `results/${random}.${extension}` };
}

function replaced(attempts: readonly RouteAttempt[], index: number, attempt: RouteAttempt): RouteAttempt[] {
  return attempts.map((old, place) => (place === index ? attempt : old));
}

/** One route; undefined when its vendor is out and the next one is to be tried. */
async function tryRoute(walk: Walk, attempts: RouteAttempt[], attempt: RouteAttempt): Promise<Rendering | undefined> {
  const index = attempts.includes(attempt) ? attempts.indexOf(attempt) : attempts.push(attempt) - 1;
  const note = (change: Partial<RouteAttempt>): RouteAttempt => (attempts[index] = { ...attempt, ...attempts[index], ...change });
  const provider = walk.services.providers.get(attempt.provider);
  const answer = provider ? await askProvider(walk, provider, attempt, attempts, note) : refusedBy('unavailable');
  if (answer.kind === 'refused') {
    const failure = remedies[answer.reason];
    note({ outcome: failure ?? answer.reason });
    if (answer.reason === 'credentials') walk.services.log.alarm('provider_refused_credentials', { provider: attempt.provider });
    if (failure) await giveUp(walk, attempts, failure);
    return undefined;
  }
  const header = readImageHeader(answer.bytes);
  if (!header) {
    note({ outcome: 'InternalFailure' });
    return giveUp(walk, attempts, 'InternalFailure');
  }
  note({ outcome: 'rendered' });
  return { image: { key: attempt.resultKey, ...header, bytes: answer.bytes.byteLength }, bytes: answer.bytes, attempts };
}

async function giveUp(walk: Walk, attempts: readonly RouteAttempt[], failure: FailureName): Promise<never> {
  await walk.save(attempts);
  throw new CreationFailed(failure);
}

type Ended = Exclude<ProviderAnswer, { kind: 'pending' }>;

function refusedBy(reason: RefusalReason): Ended {
  return { kind: 'refused', reason };
}

/** Submits, or goes on where a job was already accepted, and polls until it ends or the time is over. */
async function askProvider(
  walk: Walk,
  provider: ImageProvider,
  attempt: RouteAttempt,
  attempts: readonly RouteAttempt[],
  note: (change: Partial<RouteAttempt>) => RouteAttempt,
): Promise<Ended> {
  const { signal, services } = walk;
  const job = jobOf(walk.creation, attempt);
  // Not written, not called: whoever comes after a crash must know what was begun.
  if (attempt.jobId === undefined) await walk.save(attempts);
  try {
    signal.throwIfAborted();
    let answer: ProviderAnswer =
      attempt.jobId === undefined
        ? await provider.submit(job, signal)
        : { kind: 'pending', jobId: attempt.jobId, pollAfterMillis: 0 };
    if (answer.kind === 'pending' && attempt.jobId === undefined) {
      note({ jobId: answer.jobId });
      await walk.save(attempts);
    }
    while (answer.kind === 'pending') {
      await services.clock.sleep(answer.pollAfterMillis, signal);
      answer = (await provider.poll?.(answer.jobId, job, signal)) ?? refusedBy('unknown_answer');
    }
    return answer;
  } catch (error) {
    if (error instanceof Remedy) throw error;
    if (signal.aborted) return refusedBy('timed_out');
    services.log.alarm('provider_call_broke', { provider: provider.name, error: error instanceof Error ? error.name : 'unknown' });
    return refusedBy('unknown_answer');
  }
}

function jobOf(creation: CreationRecord, attempt: RouteAttempt): RenderJob {
  const { prompt, resolution, aspectRatio, outputFormat, seed, sources } = creation;
  return { providerModel: attempt.providerModel, prompt, resolution, aspectRatio, outputFormat, seed, sources };
}
