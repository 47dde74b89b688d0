/** The work after a genuine callback: polls the vendor's job, and ends the attempt. */
import { CreationFailed } from '../contract/failures.ts';
import type { LeaseOutcome } from '../creations/creation-reads.ts';
import type { CreationRecord, RouteAttempt } from '../creations/creation.ts';
import { EndedMeanwhile } from '../creations/payload.ts';
import { jobOf } from '../creations/render-job.ts';
import { noteAnswer, wakeRenderer } from '../creations/waiting-task.ts';
import { startCopy } from '../notices/start-copy.ts';
import { Overloaded } from '../values/errors.ts';
import type { CreationId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import type { ProviderAnswer } from '../vendors/provider.ts';
import { deliverFirst } from '../webhooks/deliver-webhook.ts';
import { endAttempt, millisSince, openAttempts } from './attempts.ts';
import type { CallbackOutcome, CalledAttempt, CallingProvider } from './check-callback.ts';
import { type HeldLease, holdLease, leaseMillis } from './held-lease.ts';
import { honouredEnd, measureMillis } from './honoured.ts';
import type { CallbackServices, CompletionServices } from './open.ts';
import { openRouteNotes, type RouteNotes } from './route-notes.ts';
import { storeThumbnails, type Stored } from './store-thumbnails.ts';
import { recordFor } from './try-route.ts';
import type { Rendering } from './walk-routes.ts';

// The end of a rendering: store the image and complete the creation.

/** How long each step may take before its lease is given up: well above the limits of its calls. */
const storeMillis = 60_000;
const completeMillis = 30_000;
const dayMillis = 86_400_000;

/** Stores the image and commits. A terminal creation discards it: undefined. Throws Overloaded. */
export async function completeCreation(
  creation: CreationRecord,
  rendering: Omit<Rendering, 'kind'>,
  lease: HeldLease,
  services: CompletionServices,
): Promise<Stored | undefined> {
  lease.begin('store_image', storeMillis);
  await store(rendering, services);
  lease.begin('complete_creation', completeMillis);
  return (await commit(creation, rendering, services)) === 'completed' ? rendering : undefined;
}

async function store(
  { image, bytes }: Omit<Rendering, 'kind'>,
  { clock, resultDays, images, log }: CompletionServices,
): Promise<void> {
  if (!bytes) return;
  try {
    // The creation ends a moment later, and its results with it.
    await images.put(image, bytes, clock.now() + resultDays * dayMillis);
  } catch (error) {
    log.alarm('image_not_stored', { error: errorName(error) });
    throw new CreationFailed('InternalFailure');
  }
}

/** A busy table never leads to a refund. */
async function commit(
  creation: CreationRecord,
  rendering: Omit<Rendering, 'kind'>,
  services: CompletionServices,
): Promise<'completed' | 'already_terminal'> {
  const { clock, creations, log } = services;
  const nowMillis = clock.now();
  const committed = await creations.complete(creation, {
    results: [rendering.image],
    resultsExpireAt: nowMillis + services.resultDays * dayMillis,
    attempts: rendering.attempts,
    nowMillis,
  });
  if (committed === 'busy')
    throw new Overloaded('the image is stored; the table was too busy to complete the creation');
  if (committed === 'completed')
    log.info('creation_completed', { millis: nowMillis - Date.parse(creation.createdAt) });
  return committed;
}

/** RenderImage gives its lease back within this time after it has noted the job. */
const leaseWaitMillis = 3_000;
const leaseTryMillis = 200;
/** How long the vendor may take to answer and to send the picture. */
const pollLimitMillis = 20_000;

export async function finishJob(
  { provider, creation: { id }, attempt: { callbackHash } }: CalledAttempt,
  holder: string,
  services: CallbackServices,
): Promise<CallbackOutcome> {
  const leased = await takeLease(id, holder, services);
  switch (leased.kind) {
    case 'absent':
      return 'unknown';
    case 'leased_by_another':
      return 'leased';
    case 'terminal':
      return settleLate(id, services);
    case 'leased': {
      const { creation, turn } = leased;
      const attempt = creation.attempts.find((known) => known.callbackHash === callbackHash);
      if (!attempt) return 'unknown';
      const notes = openRouteNotes(services);
      try {
        return await endUnderLease({ provider, creation, attempt, holder, turn, notes }, services);
      } finally {
        await notes.settled();
      }
    }
  }
}

async function endUnderLease(job: LeasedJob, services: CallbackServices): Promise<CallbackOutcome> {
  const { creation } = job;
  const { id } = creation;
  const lease = holdLease(job.creation.id, job.holder, services);
  let end: JobEnd | undefined;
  try {
    end = await endOfJob(job, lease, services);
  } catch (error) {
    if (!(error instanceof EndedMeanwhile)) throw error;
    return await settleLate(id, services);
  } finally {
    // The end of the creation has removed the lease already.
    await (end?.outcome === 'completed' ? lease.release() : lease.giveBack());
  }
  if (end.outcome === 'completed') return afterCompletion(creation, end.stored, services);
  if (end.wakes === undefined) return end.outcome;
  // No later invocation has this token: it was read under the lease.
  return (await services.tasks.fail(end.wakes, 'RouteEnded')) === 'unclear' ? 'task_unclear' : end.outcome;
}

/** Makes the first attempt to deliver the webhook, ends the task of the execution, and stores the thumbnails. */
async function afterCompletion(
  creation: CreationRecord,
  stored: Stored | undefined,
  services: CallbackServices,
): Promise<CallbackOutcome> {
  const { id } = creation;
  const { creations, tasks } = services;
  const [isDelivered] = await Promise.all([
    deliverFirst(id, creation, services),
    stored && startCopy(creation, services),
  ]);
  const token = await creations.taskToken(id);
  const ended =
    token !== undefined &&
    (isDelivered ? tasks.succeed(token, id) : tasks.fail(token, 'WebhookNotDelivered'));
  const isUnclear = ended && (await noteAnswer(ended, id, services)) === 'unclear';
  await storeThumbnails(id, stored, services);
  return isUnclear ? 'task_unclear' : 'completed';
}

/** The task may wait although the creation is terminal: its end was lost, or an operator refunded. */
export async function settleLate(id: CreationId, services: CallbackServices): Promise<CallbackOutcome> {
  return (await wakeRenderer(id, services)) === 'unclear' ? 'task_unclear' : 'late';
}

async function takeLease(
  id: CreationId,
  holder: string,
  { clock, creations }: CallbackServices,
): Promise<LeaseOutcome> {
  const began = clock.elapsed();
  for (;;) {
    const now = clock.now();
    const outcome = await creations.lease(id, holder, now + leaseMillis, now);
    if (outcome.kind !== 'leased_by_another' || clock.elapsed() - began >= leaseWaitMillis) return outcome;
    await clock.sleep(leaseTryMillis);
  }
}

interface LeasedJob {
  readonly provider: CallingProvider;
  readonly creation: CreationRecord;
  readonly attempt: RouteAttempt;
  readonly holder: string;
  readonly turn: number;
  readonly notes: RouteNotes;
}

interface JobEnd {
  readonly outcome: CallbackOutcome;
  /** Of a creation that this invocation has completed. */
  readonly stored?: Stored;
  /** The token of the task with which RenderImage continues. */
  readonly wakes?: string | undefined;
}

async function endOfJob(job: LeasedJob, lease: HeldLease, services: CallbackServices): Promise<JobEnd> {
  const { creation, attempt, turn } = job;
  const { clock, creations } = services;
  if (attempt.outcome !== undefined) {
    // The creation has not continued after the last attempt: its callback may have died before the wake-up.
    const isLast = creation.attempts.at(-1) === attempt;
    return { outcome: 'late', ...(isLast && { wakes: await creations.taskToken(creation.id) }) };
  }
  if (attempt.jobId === undefined) return { outcome: 'too_early' };
  lease.begin('ask_providers', pollLimitMillis + leaseWaitMillis + measureMillis);
  const answered = await lookAt(attempt.jobId, job, services);
  if (answered === undefined || answered.kind === 'pending') return { outcome: 'pending' };
  const answer = await honouredEnd(answered, creation, services);
  const attempts = openAttempts(creation.attempts, async () => Promise.resolve());
  const ended = {
    creation: await recordFor(answer, creation, creations),
    attempts,
    attempt,
    notes: job.notes,
  };
  const verdict = endAttempt(answer, millisSince(attempt, clock.now()), ended, services);
  if (verdict.kind === 'rendered') {
    const image = { key: attempt.resultKey, ...verdict.image };
    const rendering = { image, bytes: verdict.bytes, attempts: attempts.all };
    return complete(creation, rendering, lease, services);
  }
  if (!(await creations.saveAttempts(creation.id, turn, attempts.all))) return { outcome: 'leased' };
  return { outcome: 'route_ended', wakes: await creations.taskToken(creation.id) };
}

/** What the vendor says about the stored job. Undefined: nothing, for now. */
async function lookAt(
  jobId: string,
  { provider, creation, attempt }: LeasedJob,
  { clock, images, log }: CallbackServices,
): Promise<ProviderAnswer | undefined> {
  const limit = clock.timeout(pollLimitMillis);
  try {
    return await provider.poll(jobId, jobOf(creation, attempt, images, { saidEnded: true }), limit.signal);
  } catch (error) {
    if (!limit.signal.aborted)
      log.alarm('provider_call_broke', { provider: provider.name, error: errorName(error) });
    return undefined;
  } finally {
    limit.release();
  }
}

async function complete(
  creation: CreationRecord,
  rendering: Parameters<typeof completeCreation>[1],
  lease: HeldLease,
  services: CallbackServices,
): Promise<JobEnd> {
  try {
    const stored = await completeCreation(creation, rendering, lease, services);
    if (stored) return { outcome: 'completed', stored };
    return { outcome: 'late', wakes: await services.creations.taskToken(creation.id) };
  } catch (error) {
    // The image was not stored. The vendor still has it, and its next callback or the heartbeat tries again.
    if (error instanceof CreationFailed) return { outcome: 'busy' };
    throw error;
  }
}
