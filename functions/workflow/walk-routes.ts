/**
 * The routes of a creation, one after the other, until one gives an image or an answer
 * that ends the matter. Each attempt is written before its vendor is called, so that
 * whoever comes after a crash knows what was begun.
 */
import type { CreationRecord, RouteAttempt, RouteChoice, StoredImage } from '../../core/creation.ts';
import { CreationFailed, failureNamed, failureNames, type FailureName } from '../../core/failure.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { refusedBy, type ImageProvider, type RenderJob } from '../../core/provider.ts';
import { errorName } from '../error-name.ts';
import type { RenderServices } from '../services.ts';
import { askProvider, type RouteEnd } from './ask-provider.ts';
import { verdictOf, type Verdict } from './route-verdict.ts';

export interface Rendering {
  readonly image: StoredImage;
  /** Absent when the image was found stored by an attempt before. */
  readonly bytes?: Uint8Array;
  readonly attempts: readonly RouteAttempt[];
}

export interface Walk {
  readonly creation: CreationRecord;
  /** Unix milliseconds at which the image has to be there. */
  readonly until: number;
  /** Throws when the lease is no longer ours: another invocation renders by now. */
  readonly save: (attempts: readonly RouteAttempt[]) => Promise<void>;
  readonly services: RenderServices;
}

/** The first image that a route gives. Throws CreationFailed under the name of the message that the client gets. */
export async function walkRoutes(walk: Walk): Promise<Rendering> {
  const { creation, services } = walk;
  const attempts = [...creation.attempts];
  const ended = attempts.at(-1)?.outcome;
  if (ended !== undefined && isFailureName(ended)) throw new CreationFailed(failureNamed(ended));
  for (const [place, route] of creation.routes.entries()) {
    const index = attempts.findIndex((attempt) => isOf(attempt, route));
    const before = attempts[index];
    if (before?.outcome !== undefined) continue;
    const found = before && (await services.images.find(before.resultKey));
    if (found)
      return { image: found, attempts: replaced(attempts, index, { ...before, outcome: 'rendered' }) };
    if (before && before.jobId === undefined) {
      // A call whose end nobody saw is not repeated at the same vendor: it may have been rendered and billed.
      attempts[index] = { ...before, outcome: 'unknown_outcome' };
      continue;
    }
    if (services.clock.now() >= walk.until) break;
    const result = await tryRoute(
      walk,
      attempts,
      before ?? begin(walk, route),
      creation.routes.length - place,
    );
    if (result) return result;
  }
  await noteEnd(walk, attempts);
  throw new CreationFailed(lastWord(walk, attempts));
}

/** When no route is left: what ended in the dark is ours; what took too long timed out; else all were out. */
function lastWord({ until, services }: Walk, attempts: readonly RouteAttempt[]): FailureName {
  const outcomes = attempts.map(({ outcome }) => outcome);
  if (services.clock.now() >= until) return 'GenerationTimedOut';
  if (outcomes.includes('unknown_outcome')) return 'InternalFailure';
  return outcomes.includes('no_answer') ? 'GenerationTimedOut' : 'ServiceUnavailable';
}

function isFailureName(outcome: string): boolean {
  return failureNames.some((name) => name === outcome);
}

function isOf(attempt: RouteAttempt, route: RouteChoice): boolean {
  return (
    attempt.provider === route.provider &&
    attempt.providerModel === route.providerModel &&
    attempt.quality === route.quality
  );
}

function begin({ creation, services }: Walk, route: RouteChoice): RouteAttempt {
  const random = Buffer.from(services.randomBytes(24)).toString('base64url');
  const extension = creation.outputFormat === 'jpeg' ? 'jpg' : creation.outputFormat;
  return {
    ...route,
    startedAt: new Date(services.clock.now()).toISOString(),
    resultKey: `results/${random}.${extension}`,
  };
}

function replaced(attempts: readonly RouteAttempt[], index: number, attempt: RouteAttempt): RouteAttempt[] {
  return attempts.map((old, place) => (place === index ? attempt : old));
}

/** One route; undefined when its vendor is out and the next one is to be tried. */
async function tryRoute(
  walk: Walk,
  attempts: RouteAttempt[],
  attempt: RouteAttempt,
  routesLeft: number,
): Promise<Rendering | undefined> {
  const { creation, services } = walk;
  const index = attempts.includes(attempt) ? attempts.indexOf(attempt) : attempts.push(attempt) - 1;
  const note = (change: Partial<RouteAttempt>): void =>
    void (attempts[index] = { ...attempt, ...attempts[index], ...change });
  const provider = services.providers.get(attempt.provider);
  // Not written, not called: whoever comes after a crash must know what was begun.
  if (attempt.jobId === undefined) await walk.save(attempts);
  const began = services.clock.elapsed();
  const accept = async (jobId: string): Promise<void> => {
    note({ jobId });
    await walk.save(attempts);
  };
  const end = provider
    ? await withinShare(walk, provider, attempt, routesLeft, accept)
    : refusedBy('unavailable', 'no such provider');
  const verdict = verdictOf(end, creation);
  const millis = Math.round(services.clock.elapsed() - began);
  note({
    endedAt: new Date(services.clock.now()).toISOString(),
    outcome: verdict.outcome,
    ...(verdict.detail !== undefined && { detail: verdict.detail }),
  });
  tell(walk, attempt, verdict, millis);
  switch (verdict.kind) {
    case 'next':
      return undefined;
    case 'over':
      await noteEnd(walk, attempts);
      throw new CreationFailed(verdict.failure);
    case 'rendered':
      return { image: { key: attempt.resultKey, ...verdict.image }, bytes: verdict.bytes, attempts };
  }
}

/** How a creation ended is known, also when the table is too busy to take the attempt's end. */
async function noteEnd(walk: Walk, attempts: readonly RouteAttempt[]): Promise<void> {
  try {
    await walk.save(attempts);
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
    walk.services.log.info('attempt_not_noted', { error: errorName(error) });
  }
}

/**
 * Asks for no longer than the route's equal share of what is left, so that a provider
 * that hangs leaves time for those behind it. The last one has all of it.
 */
async function withinShare(
  walk: Walk,
  provider: ImageProvider,
  attempt: RouteAttempt,
  routesLeft: number,
  accept: (jobId: string) => Promise<void>,
): Promise<RouteEnd> {
  const { clock } = walk.services;
  const now = clock.now();
  const limit = clock.deadline(now + (walk.until - now) / routesLeft);
  try {
    return await askProvider({
      provider,
      job: jobOf(walk, attempt),
      attempt,
      signal: limit.signal,
      accept,
      services: walk.services,
    });
  } finally {
    limit.release();
  }
}

function tell(
  { services }: Walk,
  { provider, providerModel }: RouteAttempt,
  { outcome, detail, alarm }: Verdict,
  millis: number,
): void {
  const fields = { provider, providerModel, outcome, detail, millis };
  services.log.info('provider_answered', fields);
  if (alarm !== undefined) services.log.alarm(alarm, fields);
}

function jobOf({ creation, services }: Walk, { providerModel, quality }: RouteAttempt): RenderJob {
  const { prompt, resolution, aspectRatio, outputFormat, seed, sources } = creation;
  const readSources: RenderJob['readSources'] = () =>
    Promise.all(
      sources.map(async ({ key, contentType, width, height }) => ({
        contentType,
        width,
        height,
        bytes: await services.images.get(key),
      })),
    );
  return {
    providerModel,
    ...(quality !== undefined && { quality }),
    prompt,
    resolution,
    aspectRatio,
    outputFormat,
    seed,
    sourceCount: sources.length,
    readSources,
  };
}
