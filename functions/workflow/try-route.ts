/** One attempt at one route: the record first, then the provider, then the verdict. */
import type { CreationRecord, RouteAttempt } from '../../core/creation.ts';
import { refusedBy, type RenderJob } from '../../core/provider.ts';
import type { RenderServices } from '../services/render.ts';
import { askProvider, type RouteEnd } from './ask-provider.ts';
import type { Attempts } from './attempts.ts';
import { verdictOf, type Verdict } from './route-verdict.ts';

export interface RouteTry {
  readonly creation: CreationRecord;
  /** Unix milliseconds by which a route must have given the image. */
  readonly until: number;
  readonly attempts: Attempts;
  /** A new attempt, or an attempt with an accepted job that an earlier invocation left. */
  readonly attempt: RouteAttempt;
  /** Routes that are not tried yet, this one included. */
  readonly routesLeft: number;
  readonly services: RenderServices;
}

/** What the route's end means. The attempt in `attempts` has its outcome; the caller saves it. */
export async function tryRoute(route: RouteTry): Promise<Verdict> {
  const { creation, attempts, attempt, services } = route;
  const { clock } = services;
  attempts.set(attempt);
  // The attempt is saved before its vendor is called: after a crash nobody else knows that the call was made.
  if (attempt.jobId === undefined) await attempts.save();
  const began = clock.elapsed();
  const verdict = verdictOf(await askWithinShare(route), creation);
  const millis = Math.round(clock.elapsed() - began);
  const { outcome, detail, alarm } = verdict;
  attempts.set({
    ...(attempts.at(attempt) ?? attempt),
    endedAt: new Date(clock.now()).toISOString(),
    outcome,
    ...(detail !== undefined && { detail }),
  });
  const { provider, providerModel } = attempt;
  const fields = { provider, providerModel, outcome, detail, millis };
  services.log.info('provider_answered', fields);
  if (alarm !== undefined) services.log.alarm(alarm, fields);
  return verdict;
}

/**
 * The provider's answer within the route's equal share of the time that is left, so that a provider that
 * hangs leaves time for the routes after it. The last route has all of the time.
 */
async function askWithinShare(route: RouteTry): Promise<RouteEnd> {
  const { attempts, attempt, until, routesLeft, services } = route;
  const provider = services.providers.get(attempt.provider);
  if (!provider) return refusedBy('unavailable', 'no such provider');
  const now = services.clock.now();
  const limit = services.clock.deadline(now + (until - now) / routesLeft);
  try {
    return await askProvider({
      provider,
      job: jobOf(route),
      attempt,
      signal: limit.signal,
      accept: async (jobId) => {
        attempts.set({ ...attempt, jobId });
        await attempts.save();
      },
      services,
    });
  } finally {
    limit.release();
  }
}

function jobOf({ creation, attempt, services }: RouteTry): RenderJob {
  const { prompt, resolution, aspectRatio, outputFormat, seed, sources } = creation;
  const { providerModel, quality } = attempt;
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
