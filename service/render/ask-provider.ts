/** The calls to one provider for one attempt: submit or resume, poll or park, and cancel in time. */
import type { RouteAttempt } from '../creations/creation.ts';
import { WorkflowError } from '../creations/payload.ts';
import { errorName } from '../values/runtime.ts';
import { type ImageProvider, type ProviderAnswer, refusedBy, type RenderJob } from '../vendors/provider.ts';
import type { RenderServices } from './open.ts';
import type { RouteEnd } from './route-end.ts';

export interface Parked {
  readonly kind: 'parked';
}

/** How long a request to cancel may take. The creation's time continues meanwhile. */
const cancelMillis = 1_500;

export interface Conversation {
  readonly provider: ImageProvider;
  readonly job: RenderJob;
  readonly attempt: RouteAttempt;
  readonly signal: AbortSignal;
  /** Stores the id of the accepted job. Throws a WorkflowError when another renderer holds the lease. */
  readonly accept: (jobId: string) => Promise<void>;
  /** Whether a job whose id is recorded may be left to its callback now. */
  readonly canPark: () => boolean;
  readonly services: Pick<RenderServices, 'clock' | 'log'>;
}

/** The provider's last answer, or 'parked'. Throws a WorkflowError when another renderer holds the lease. */
export async function askProvider(conversation: Conversation): Promise<RouteEnd | Parked> {
  const { provider, job, attempt, signal, canPark, services } = conversation;
  let jobId = attempt.jobId;
  let isPollDue = jobId !== undefined;
  let isNoted = isPollDue;
  try {
    signal.throwIfAborted();
    let answer: ProviderAnswer =
      jobId === undefined
        ? await provider.submit(job, signal)
        : { kind: 'pending', jobId, pollAfterMillis: 0 };
    if (answer.kind === 'pending' && jobId === undefined) {
      jobId = answer.jobId;
      isNoted = await note(conversation, jobId);
    }
    while (answer.kind === 'pending') {
      if (isNoted && !isPollDue && canPark()) return { kind: 'parked' };
      isPollDue = false;
      await services.clock.sleep(answer.pollAfterMillis, signal);
      answer =
        (await provider.poll?.(answer.jobId, job, signal)) ??
        refusedBy('unknown_answer', 'a job without a poll');
    }
    return answer;
  } catch (error) {
    if (error instanceof WorkflowError) throw error;
    if (signal.aborted) {
      await letGo(conversation, jobId);
      return { kind: 'no_answer' };
    }
    services.log.alarm('provider_call_broke', { provider: provider.name, error: errorName(error) });
    await letGo(conversation, jobId);
    return refusedBy('unknown_answer', 'the adapter broke');
  }
}

/** Records the job. False when the id could not be recorded; only a crash or a callback needs the id. */
async function note(conversation: Conversation, jobId: string): Promise<boolean> {
  try {
    await conversation.accept(jobId);
    return true;
  } catch (error) {
    if (error instanceof WorkflowError) {
      // The renderer that holds the lease now does not know of this job.
      await letGo(conversation, jobId);
      throw error;
    }
    conversation.services.log.info('job_not_noted', {
      provider: conversation.provider.name,
      error: errorName(error),
    });
    return false;
  }
}

/** Cancels the job. Its image is no longer needed, and a vendor that continues may bill the image. */
async function letGo({ provider, job, services }: Conversation, jobId: string | undefined): Promise<void> {
  if (jobId === undefined || !provider.cancel) return;
  const limit = services.clock.deadline(services.clock.now() + cancelMillis);
  try {
    await provider.cancel(jobId, job, limit.signal);
  } catch (error) {
    services.log.info('job_not_cancelled', { provider: provider.name, error: errorName(error) });
  } finally {
    limit.release();
  }
}
