/**
 * The sandbox is a provider like any other, but it needs no network. It paints a picture itself, and it obeys
 * the directives in a prompt.
 */
import type { Clock } from '../../../core/ports/runtime.ts';
import type { ImageProvider, ProviderAnswer, RefusalReason, RenderJob } from '../../../core/provider.ts';
import { directivesOf, type SandboxOutcome } from './directives.ts';
import { renderPicture } from './picture/picture.ts';
import { pixelsOf } from './pixels.ts';
import { keepRecentPictures } from './recent-pictures.ts';

const pollMillis = 500;

const refusals: Readonly<Record<Exclude<SandboxOutcome, 'hang' | 'crash'>, RefusalReason>> = {
  'reject-prompt': 'prompt',
  'reject-image': 'source_image',
  fail: 'failed',
  empty: 'nothing_rendered',
  down: 'unavailable',
};

export interface SandboxOptions {
  readonly name: string;
  readonly clock: Clock;
  /** Ends the invocation, as a fatal error in a vendor's library would. */
  readonly crash: () => never;
}

export function createSandboxProvider({ name, clock, crash }: SandboxOptions): ImageProvider {
  const answer = async (job: RenderJob, signal: AbortSignal): Promise<ProviderAnswer> => {
    const { outcome } = directivesOf(job.prompt, name);
    if (outcome === 'crash') return crash();
    if (outcome === 'hang') return untilAborted(signal);
    return outcome ? { kind: 'refused', reason: refusals[outcome] } : paint(job);
  };
  return {
    name,
    submit: async (job, signal) => {
      const { asyncMillis, delayMillis } = directivesOf(job.prompt, name);
      if (asyncMillis !== undefined) {
        return {
          kind: 'pending',
          jobId: `sandbox-${clock.now() + asyncMillis}`,
          pollAfterMillis: pollMillis,
        };
      }
      if (delayMillis > 0) await clock.sleep(delayMillis, signal);
      return answer(job, signal);
    },
    // The job's id holds the time at which the job ends, so that the sandbox needs no state.
    poll: async (jobId, job, signal) => {
      const readyAt = Number(jobId.replace('sandbox-', ''));
      if (!Number.isFinite(readyAt)) return { kind: 'refused', reason: 'unknown_answer' };
      return clock.now() < readyAt
        ? { kind: 'pending', jobId, pollAfterMillis: pollMillis }
        : answer(job, signal);
    },
  };
}

const pictureOf = keepRecentPictures(renderPicture);

async function paint(job: RenderJob): Promise<ProviderAnswer> {
  const { width, height } = pixelsOf(job.resolution, job.aspectRatio);
  const bytes = await pictureOf({
    prompt: job.prompt ?? '',
    seed: job.seed ?? 0,
    width,
    height,
    format: job.outputFormat === 'jpeg' ? 'jpeg' : 'png',
  });
  return { kind: 'rendered', bytes };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error('aborted at the deadline'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
