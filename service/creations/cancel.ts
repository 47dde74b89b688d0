/**
 * The cancel of a creation, by its client and by an operator. A creation can be cancelled while nothing was sent
 * to a vendor, and later when the vendor of its job confirms that the job was stopped. One condition decides
 * every race: the creation is open, and its attempts are those that the cancel has read.
 */
import type { Tasks } from '../aws/step-functions.ts';
import { Overloaded } from '../values/errors.ts';
import { type Clock, isKnownVersion, type Log, type Schema } from '../values/runtime.ts';
import type { ImageProvider, Providers } from '../vendors/provider.ts';
import type { ChargeStore } from './charge-store.ts';
import type { CreationStore } from './creation-store.ts';
import { type CreationRecord, isTerminal, type RouteAttempt } from './creation.ts';
import { jobOf } from './render-job.ts';
import { wakeRenderer } from './waiting-task.ts';

/** How long the vendor may take to stop the job. A vendor that stops a job at all stops it within seconds. */
export const stopMillis = 5_000;
const pollMillis = 500;
/** How often the record may change under the cancel. A creation rarely has more routes than this. */
const mostRounds = 5;

export interface CancelServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly schema: Schema;
  readonly creations: Pick<CreationStore, 'read' | 'noteCancel' | 'withdrawCancel' | 'taskToken'>;
  readonly charges: Pick<ChargeStore, 'cancel'>;
  readonly tasks: Tasks;
  readonly providers: Providers;
}

export interface CancelOutcome {
  /** 'cancelled': by this call or an earlier one. 'not_cancellable': it cancels nothing later either. */
  readonly kind: 'cancelled' | 'not_cancellable';
  readonly creation: CreationRecord;
}

/** @param ids names the creation in the log @throws Overloaded: it may be cancelled all the same */
export async function cancelCreation(
  asked: CreationRecord,
  ids: Readonly<Record<string, string>>,
  services: CancelServices,
): Promise<CancelOutcome> {
  const { clock, creations } = services;
  const until = clock.elapsed() + stopMillis;
  let creation = asked;
  let note: string | undefined;
  for (let round = 1; round <= mostRounds && isOpen(creation, services); round += 1) {
    const work = await workOn(creation, services);
    let stopped = work.kind === 'none' ? work.attempts : undefined;
    if (work.kind === 'job' && clock.elapsed() < until) {
      const at = new Date(clock.now()).toISOString();
      const isNoted = await creations.noteCancel(creation, at);
      if (isNoted) note = at;
      if (isNoted && (await isStopped(work, until, services)))
        stopped = stoppedAttempts(creation, clock.now());
    }
    if (stopped) await end(creation, stopped, ids, services);
    else if (note === undefined || (await creations.withdrawCancel(creation, note)))
      return outcomeOf((await creations.read(creation.id)) ?? creation);
    creation = (await creations.read(creation.id)) ?? creation;
  }
  if (isOpen(creation, services)) throw new Overloaded('the creation changed too often to be cancelled');
  return outcomeOf(creation);
}

/** A record of a newer release is not changed, because this code does not understand it. */
function isOpen({ status, v }: CreationRecord, { schema }: CancelServices): boolean {
  return !isTerminal(status) && isKnownVersion(v, schema);
}

function outcomeOf(creation: CreationRecord): CancelOutcome {
  return { kind: creation.cancelledAt === undefined ? 'not_cancellable' : 'cancelled', creation };
}

type Work =
  /** Nothing, as long as the attempts do not change. */
  | { readonly kind: 'none'; readonly attempts: readonly RouteAttempt[] }
  | { readonly kind: 'other' }
  | ({ readonly kind: 'job' } & RunningJob);

interface RunningJob {
  readonly creation: CreationRecord;
  readonly attempt: RouteAttempt;
  readonly jobId: string;
  readonly provider: StoppingProvider;
}

async function workOn(creation: CreationRecord, { providers }: CancelServices): Promise<Work> {
  const { attempts } = creation;
  const attempt = attempts.at(-1);
  if (attempt === undefined || attempt.outcome === 'cancelled') return { kind: 'none', attempts };
  const { jobId, outcome } = attempt;
  if (outcome !== undefined || jobId === undefined) return { kind: 'other' };
  const provider = await providers.get(attempt.provider);
  if (!provider || !canStop(provider)) return { kind: 'other' };
  return { kind: 'job', creation, attempt, jobId, provider };
}

function stoppedAttempts({ attempts }: CreationRecord, nowMillis: number): RouteAttempt[] {
  const endedAt = new Date(nowMillis).toISOString();
  return attempts.map((attempt, index) =>
    index === attempts.length - 1 ? { ...attempt, endedAt, outcome: 'cancelled' } : attempt,
  );
}

type StoppingProvider = ImageProvider & Required<Pick<ImageProvider, 'cancel' | 'poll'>>;

function canStop(provider: ImageProvider): provider is StoppingProvider {
  return provider.cancel !== undefined && provider.poll !== undefined;
}

/** Asks the vendor to stop the job. Only the job's state counts. @param until millis of `elapsed` */
async function isStopped(
  { creation, attempt, jobId, provider }: RunningJob,
  until: number,
  { clock, log }: CancelServices,
): Promise<boolean> {
  const job = jobOf(creation, attempt, { get: unread });
  const limit = clock.timeout(until - clock.elapsed());
  const broke = (error: unknown): void => {
    limit.signal.throwIfAborted();
    const name = error instanceof Error ? error.name : 'unknown';
    log.info('job_not_cancelled', { provider: provider.name, error: name });
  };
  try {
    // After a broken call the vendor may have got the request all the same.
    const answer = await provider.cancel(jobId, job, limit.signal).catch(broke);
    if (answer === 'refused') return false;
    for (;;) {
      const state = await provider.poll(jobId, job, limit.signal);
      if (state.kind !== 'pending') return state.kind === 'refused' && state.reason === 'cancelled';
      await clock.sleep(pollMillis, limit.signal);
    }
  } catch (error) {
    if (!limit.signal.aborted) broke(error);
    return false;
  } finally {
    limit.release();
  }
}

async function unread(): Promise<never> {
  return Promise.reject(new Error('a cancel reads no source image'));
}

/** If another write came first, the next read of the record shows which. */
async function end(
  creation: CreationRecord,
  attempts: readonly RouteAttempt[],
  ids: Readonly<Record<string, string>>,
  services: CancelServices,
): Promise<void> {
  const { charges, clock, log } = services;
  switch (await charges.cancel(creation, { attempts, nowMillis: clock.now() })) {
    case 'busy':
      throw new Overloaded('the table was too busy to cancel the creation');
    case 'moved_on':
      return;
    case 'cancelled':
      log.info('creation_failed', { ...ids, failure: 'Cancelled', refundedMicros: creation.costMicros });
      await wakeRenderer(creation.id, services);
  }
}
