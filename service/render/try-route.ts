/** One attempt at one route: the record first, then the provider, then the verdict. */
import type { CreationStore } from '../creations/creation-store.ts';
import { type CreationRecord, isTerminal, type RouteAttempt } from '../creations/creation.ts';
import { EndedMeanwhile } from '../creations/payload.ts';
import { jobOf } from '../creations/render-job.ts';
import type { TimeLimit } from '../values/runtime.ts';
import { type ImageProvider, refusedBy, unsentField } from '../vendors/provider.ts';
import { askProvider, type Parked } from './ask-provider.ts';
import type { RouteEnd } from './route-end.ts';
import { type Attempts, endAttempt, millisSince } from './attempts.ts';
import { honouredEnd, maskToSend } from './honoured.ts';
import type { RenderServices } from './open.ts';
import { callbackAddressFor, outlastsHeartbeat } from './parking.ts';
import { tokenPricesOf } from './route-costs.ts';
import type { RouteNotes } from './route-notes.ts';
import type { Verdict } from './route-verdict.ts';

// A vendor that reports a stopped job, although the renderer did not cancel it.

/** The record that judges a route's end, read again after a stopped job. Throws EndedMeanwhile. */
export async function recordFor(
  end: RouteEnd,
  creation: CreationRecord,
  creations: Pick<CreationStore, 'read'>,
): Promise<CreationRecord> {
  if (end.kind !== 'refused' || end.reason !== 'cancelled') return creation;
  const latest = (await creations.read(creation.id)) ?? creation;
  if (isTerminal(latest.status)) throw new EndedMeanwhile();
  return latest;
}

export interface RouteTry {
  readonly creation: CreationRecord;
  /** Unix milliseconds by which a route must have given the image. */
  readonly until: number;
  readonly attempts: Attempts;
  /** A new attempt, or one that an earlier invocation left: its job is polled, or its call is made again. */
  readonly attempt: RouteAttempt;
  readonly routesLeft: number;
  readonly mayPark: boolean;
  readonly notes: RouteNotes;
  readonly services: RenderServices;
}

/** The least time for a poll of a job that an earlier invocation left. */
const leastPollMillis = 5_000;

/** What the route's end means, or 'parked'. The caller saves the attempt. Throws EndedMeanwhile. */
export async function tryRoute(route: RouteTry): Promise<Verdict | Parked> {
  const { attempt, services } = route;
  const { clock } = services;
  const endsAtMillis = endOfShare(route);
  const limit = clock.deadline(endsAtMillis);
  try {
    // The provider is looked up first. An attempt that is saved counts as a call that may have been made.
    const provider = await services.providers.get(attempt.provider);
    const callbackUrl = await begin(route, provider, endsAtMillis, limit);
    const began = clock.elapsed();
    const answered = await withLateNote(route, () => ask(route, provider, endsAtMillis, limit, callbackUrl));
    if (answered.kind === 'parked') return answered;
    const millis =
      attempt.jobId === undefined ? Math.round(clock.elapsed() - began) : millisSince(attempt, clock.now());
    const answer = await honouredEnd(answered, route.creation, services);
    const creation = await recordFor(answer, route.creation, services.creations);
    return endAttempt(answer, millis, { ...route, creation }, services);
  } finally {
    limit.release();
  }
}

/** An equal share of the time that is left for each route. A parked job gets no new share. */
function endOfShare({ attempt, until, routesLeft, services }: RouteTry): number {
  const startedAt = Date.parse(attempt.startedAt);
  const endsAt = startedAt + (until - startedAt) / routesLeft;
  if (attempt.jobId === undefined) return endsAt;
  return Math.max(endsAt, Math.min(until, services.clock.now() + leastPollMillis));
}

/** Saves a new attempt before its vendor is called. Returns the address for the callback. */
async function begin(
  { creation, attempts, attempt, mayPark, notes, services }: RouteTry,
  provider: ImageProvider | undefined,
  endsAtMillis: number,
  { signal }: TimeLimit,
): Promise<string | undefined> {
  // An earlier invocation has begun it.
  if (attempts.at(attempt) === attempt) return undefined;
  const address = mayPark
    ? await callbackAddressFor({
        creationId: creation.id,
        provider,
        attempt,
        endsAtMillis,
        signal,
        services,
      })
    : undefined;
  const usual = notes.usualMillis(attempt);
  attempts.begin({
    ...attempt,
    ...(usual !== undefined && { usualMillis: Math.round(usual) }),
    ...(address && { callbackHash: address.hash }),
  });
  await attempts.save();
  return address?.url;
}

async function withLateNote<Result>(
  { notes, attempt }: RouteTry,
  work: () => Promise<Result>,
): Promise<Result> {
  const end = notes.noteIfLate(attempt);
  try {
    return await work();
  } finally {
    end();
  }
}

async function ask(
  { creation, attempts, attempt, mayPark, services }: RouteTry,
  provider: ImageProvider | undefined,
  endsAtMillis: number,
  { signal }: TimeLimit,
  callbackUrl: string | undefined,
): Promise<RouteEnd | Parked> {
  if (!provider) return refusedBy('unavailable', 'no such provider');
  const begun = attempts.at(attempt) ?? attempt;
  const job = jobOf(creation, attempt, services.images, {
    callbackUrl,
    tokenPrices: tokenPricesOf(services.providerCosts, attempt),
    maskToSend: async (mask) => maskToSend(mask, services),
  });
  // The catalog of an operator may promise what the adapter cannot send.
  const { negativePrompt, background, readMask } = job;
  const asked = {
    negativePrompt,
    ...(attempt.quality === undefined && { quality: job.quality }),
    // Every vendor renders an opaque one, also without the field.
    ...(background === 'transparent' && { background }),
    ...(readMask && { mask: 'mask' }),
  };
  const unsent = unsentField(asked, provider);
  if (unsent !== undefined) return refusedBy('unknown_answer', `${unsent} is not sent`);
  return askProvider({
    provider,
    job,
    attempt,
    signal,
    accept: async (jobId) => {
      attempts.set({ ...begun, jobId });
      await attempts.save();
    },
    canPark: () =>
      mayPark && begun.callbackHash !== undefined && outlastsHeartbeat(endsAtMillis, services.clock.now()),
    services,
  });
}
