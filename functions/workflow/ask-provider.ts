/** The calls to one provider for one attempt: submit the job or resume it, poll it, and cancel it in time. */
import type { RouteAttempt } from '../../core/creation.ts';
import { refusedBy, type ImageProvider, type ProviderAnswer, type RenderJob } from '../../core/provider.ts';
import { errorName } from '../error-name.ts';
import type { RenderServices } from '../services/render.ts';
import { Remedy } from './payload.ts';

/** 'no_answer': the time of the route ended before the provider did. */
export type RouteEnd = Exclude<ProviderAnswer, { kind: 'pending' }> | { readonly kind: 'no_answer' };

/** How long a request to cancel may take. The creation's time goes on meanwhile. */
const cancelMillis = 1_500;

export interface Conversation {
  readonly provider: ImageProvider;
  readonly job: RenderJob;
  readonly attempt: RouteAttempt;
  /** Aborts when the route's time is over. */
  readonly signal: AbortSignal;
  /**
   * Writes the id of the accepted job into the record. Throws a Remedy when another renderer holds the lease.
   */
  readonly accept: (jobId: string) => Promise<void>;
  readonly services: Pick<RenderServices, 'clock' | 'log'>;
}

/** The provider's last answer. Throws a Remedy when another renderer holds the lease, and nothing else. */
export async function askProvider(conversation: Conversation): Promise<RouteEnd> {
  const { provider, job, attempt, signal, services } = conversation;
  let jobId = attempt.jobId;
  try {
    signal.throwIfAborted();
    let answer: ProviderAnswer =
      jobId === undefined
        ? await provider.submit(job, signal)
        : { kind: 'pending', jobId, pollAfterMillis: 0 };
    if (answer.kind === 'pending' && jobId === undefined) {
      jobId = answer.jobId;
      await note(conversation, jobId);
    }
    while (answer.kind === 'pending') {
      await services.clock.sleep(answer.pollAfterMillis, signal);
      answer =
        (await provider.poll?.(answer.jobId, job, signal)) ??
        refusedBy('unknown_answer', 'a job without a poll');
    }
    return answer;
  } catch (error) {
    if (error instanceof Remedy) throw error;
    if (signal.aborted) {
      await letGo(conversation, jobId);
      return { kind: 'no_answer' };
    }
    services.log.alarm('provider_call_broke', { provider: provider.name, error: errorName(error) });
    await letGo(conversation, jobId);
    return refusedBy('unknown_answer', 'the adapter broke');
  }
}

/**
 * Records the job. A job whose id could not be recorded is waited for all the same: only a crash would need
 * the id.
 */
async function note(conversation: Conversation, jobId: string): Promise<void> {
  try {
    await conversation.accept(jobId);
  } catch (error) {
    if (error instanceof Remedy) {
      // The renderer that holds the lease now does not know of this job.
      await letGo(conversation, jobId);
      throw error;
    }
    conversation.services.log.info('job_not_noted', {
      provider: conversation.provider.name,
      error: errorName(error),
    });
  }
}

/** Cancels the job. Nobody waits for its image any more, and a vendor that goes on may bill the image. */
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
