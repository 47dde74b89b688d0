/** One route's conversation with its provider: submit or resume, poll, and let go in time. */
import type { RouteAttempt } from '../../core/creation.ts';
import { refusedBy, type ImageProvider, type ProviderAnswer, type RenderJob } from '../../core/provider.ts';
import { errorName } from '../error-name.ts';
import type { RenderServices } from '../services/render.ts';
import { Remedy } from './payload.ts';

/** 'no_answer': the route's time was over before the provider came to an end. */
export type RouteEnd = Exclude<ProviderAnswer, { kind: 'pending' }> | { readonly kind: 'no_answer' };

/** What telling a vendor to stop may take of the creation's time. */
const cancelMillis = 1_500;

export interface Conversation {
  readonly provider: ImageProvider;
  readonly job: RenderJob;
  readonly attempt: RouteAttempt;
  /** Aborts when the route's time is over. */
  readonly signal: AbortSignal;
  /** Writes the accepted job's id. Throws a Remedy when the lease is no longer ours. */
  readonly accept: (jobId: string) => Promise<void>;
  readonly services: Pick<RenderServices, 'clock' | 'log'>;
}

/** How the provider answered in the end. Throws only what concerns the lease. */
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

/** A job that could not be written down is waited for all the same: its id is needed after a crash alone. */
async function note(conversation: Conversation, jobId: string): Promise<void> {
  try {
    await conversation.accept(jobId);
  } catch (error) {
    if (error instanceof Remedy) {
      // Whoever has the lease now does not know of it.
      await letGo(conversation, jobId);
      throw error;
    }
    conversation.services.log.info('job_not_noted', {
      provider: conversation.provider.name,
      error: errorName(error),
    });
  }
}

/** Nobody waits for the image any more; a vendor that goes on may charge for it. */
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
