/**
 * The routes of a creation, in order, until a route gives an image or an answer that no other route would
 * change.
 */
import {
  isStoppedByCancel,
  type CreationRecord,
  type RouteAttempt,
  type RouteChoice,
  type StoredImage,
} from '../../core/creation.ts';
import { CreationFailed, failureNamed, failureNames, type FailureName } from '../../core/failure.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { errorName } from '../error-name.ts';
import type { RenderServices } from '../services/render.ts';
import type { Parked } from './ask-provider.ts';
import { openAttempts, type Attempts } from './attempts.ts';
import { tryRoute } from './try-route.ts';

export interface Rendering {
  readonly kind: 'rendered';
  readonly image: StoredImage;
  /** Absent when an earlier invocation has stored the image. */
  readonly bytes?: Uint8Array;
  readonly attempts: readonly RouteAttempt[];
}

export interface Walk {
  readonly creation: CreationRecord;
  /** Unix milliseconds by which a route must have given the image. */
  readonly until: number;
  /** Writes the attempts into the record. Throws when another invocation holds the lease by now. */
  readonly save: (attempts: readonly RouteAttempt[]) => Promise<void>;
  /** Whether the execution can wait for a vendor's callback. */
  readonly mayPark: boolean;
  readonly services: RenderServices;
}

/**
 * The first image that a route gives, or 'parked' when a vendor works and will call back. Throws CreationFailed
 * with the failure that the client is told.
 */
export async function walkRoutes(walk: Walk): Promise<Rendering | Parked> {
  const { creation, until, mayPark, services } = walk;
  const attempts = openAttempts(creation.attempts, walk.save);
  const ended = attempts.all.at(-1)?.outcome;
  if (ended !== undefined && isFailureName(ended)) throw new CreationFailed(failureNamed(ended));
  if (isStoppedByCancel(creation)) throw new CreationFailed('InternalFailure');
  for (const [place, route] of creation.routes.entries()) {
    const before = attempts.at(route);
    if (before?.outcome !== undefined) continue;
    const found = before && (await services.images.find(before.resultKey));
    if (found) {
      attempts.set({ ...before, outcome: 'rendered' });
      return { kind: 'rendered', image: found, attempts: attempts.all };
    }
    if (before && before.jobId === undefined) {
      // Nobody saw the end of this call. The vendor may have rendered and billed it, so the call is not
      // repeated.
      attempts.set({ ...before, outcome: 'unknown_outcome' });
      continue;
    }
    if (services.clock.now() >= until) break;
    const attempt = before ?? newAttempt(walk, route);
    const routesLeft = creation.routes.length - place;
    const verdict = await tryRoute({ creation, until, attempts, attempt, routesLeft, mayPark, services });
    switch (verdict.kind) {
      case 'parked':
        return verdict;
      case 'next':
        continue;
      case 'over':
        await saveEnd(walk, attempts);
        throw new CreationFailed(verdict.failure);
      case 'rendered': {
        const image = { key: attempt.resultKey, ...verdict.image };
        return { kind: 'rendered', image, bytes: verdict.bytes, attempts: attempts.all };
      }
    }
  }
  await saveEnd(walk, attempts);
  throw new CreationFailed(lastFailure(walk, attempts));
}

/**
 * The failure when no route is left. If the outcome of a call is unknown, the failure is ours. If a route did
 * not answer in time, or its vendor stopped the job, the creation timed out. Otherwise no provider was available.
 */
function lastFailure({ until, services }: Walk, { all }: Attempts): FailureName {
  const outcomes = all.map(({ outcome }) => outcome);
  if (services.clock.now() >= until) return 'GenerationTimedOut';
  if (outcomes.includes('unknown_outcome')) return 'InternalFailure';
  const isLate = outcomes.includes('no_answer') || outcomes.includes('cancelled');
  return isLate ? 'GenerationTimedOut' : 'ServiceUnavailable';
}

function isFailureName(outcome: string): boolean {
  return failureNames.some((name) => name === outcome);
}

function newAttempt({ creation, services }: Walk, route: RouteChoice): RouteAttempt {
  const random = Buffer.from(services.randomBytes(24)).toString('base64url');
  const extension = creation.outputFormat === 'jpeg' ? 'jpg' : creation.outputFormat;
  return {
    ...route,
    startedAt: new Date(services.clock.now()).toISOString(),
    resultKey: `results/${random}.${extension}`,
  };
}

/** The end of the creation is known, even when the table is too busy to record how the last attempt ended. */
async function saveEnd({ services }: Walk, attempts: Attempts): Promise<void> {
  try {
    await attempts.save();
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
    services.log.info('attempt_not_noted', { error: errorName(error) });
  }
}
