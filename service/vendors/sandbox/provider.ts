/** The sandbox: a provider without network. It paints a picture and obeys directives in prompts. */
import { directiveForm } from '../../catalog/sandbox.ts';
import type { RefusalReason } from '../../contract/failures.ts';
import type { AspectRatio, Resolution } from '../../contract/request-fields.ts';
import type { Clock } from '../../values/runtime.ts';
import type { ImageProvider, ProviderAnswer, RenderJob } from '../provider.ts';
import { type PictureJob, renderPicture } from './picture/picture.ts';

/** Directives such as [sandbox:delay=3s], any number anywhere: a client's tests reach every outcome. */
const outcomes = ['reject-prompt', 'reject-image', 'fail', 'empty', 'hang', 'down', 'crash'] as const;
export type SandboxOutcome = (typeof outcomes)[number];

export interface Directives {
  readonly outcome?: SandboxOutcome;
  readonly delayMillis: number;
  /** The sandbox paints another picture than was asked for: its background is opaque, and it heeds no mask. */
  readonly ignores?: true;
  /** The sandbox answers with a job to poll, which ends after this many milliseconds. */
  readonly asyncMillis?: number;
}

const duration = /^(\d+(?:\.\d+)?)(ms|s|m)?$/;
const unitMillis = { ms: 1, s: 1000, m: 60_000 } as const;

function millisOf(text: string | undefined): number {
  const match = duration.exec(text?.trim() ?? '');
  if (!match) return 0;
  return Number(match[1]) * unitMillis[(match[2] ?? 's') as keyof typeof unitMillis];
}

/** The directives for one provider, which an outcome may name: [sandbox:down=sandbox]. */
export function directivesOf(prompt: string | null, provider: string): Directives {
  let found: Directives = { delayMillis: 0 };
  for (const [, name, value] of (prompt ?? '').matchAll(directiveForm)) {
    const outcome = outcomes.find((known) => known === name);
    if (outcome && (value === undefined || value === provider)) found = { ...found, outcome };
    if (name === 'ignore' && (value === undefined || value === provider)) found = { ...found, ignores: true };
    if (name === 'delay') found = { ...found, delayMillis: millisOf(value) };
    if (name === 'async') found = { ...found, asyncMillis: millisOf(value) };
  }
  return found;
}

const edge: Readonly<Record<Resolution, number>> = { '1K': 1024, '2K': 2048, '4K': 4096 };

/** Width and height, both multiples of 16. The area is about the area of the resolution's square. */
export function pixelsOf(
  resolution: Resolution,
  aspectRatio: AspectRatio,
): { width: number; height: number } {
  const [across = 1, down = 1] = aspectRatio.split(':').map(Number);
  const side = (share: number): number => Math.round((edge[resolution] * Math.sqrt(share)) / 16) * 16;
  return { width: side(across / down), height: side(down / across) };
}

/** What a mask protects of a source image, as RGBA in the size of the picture. What may change has opacity 0. */
export type Protect = (
  images: { readonly source: Uint8Array; readonly mask: Uint8Array },
  size: { readonly width: number; readonly height: number },
  signal: AbortSignal,
) => Promise<Uint8Array>;

type Paint = (job: PictureJob) => Promise<Buffer>;

/** The number of pictures that stay in memory. A picture of 1K has about 1.5 MB. */
const mostPictures = 4;
/** A larger picture does not stay in memory: a picture of 4K may have 30 MB. */
const mostPixels = 1 << 21;

/** A painter that keeps its last pictures: tests repeat prompts. Callers must not change the bytes. */
export function keepRecentPictures(paint: Paint): Paint {
  const recent = new Map<string, Promise<Buffer>>();
  return async (job) => {
    if (job.width * job.height > mostPixels) return paint(job);
    const key = JSON.stringify(job);
    const picture = recent.get(key) ?? paint(job);
    // A map keeps its order of insertion: the least recently used picture is the first.
    recent.delete(key);
    recent.set(key, picture);
    const [oldest] = recent.keys();
    if (recent.size > mostPictures && oldest !== undefined) recent.delete(oldest);
    try {
      return await picture;
    } catch (error) {
      recent.delete(key);
      throw error;
    }
  };
}

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
  /** Throws when it cannot read one of the images. */
  readonly protect: Protect;
}

export function createSandboxProvider({ name, clock, crash, protect }: SandboxOptions): ImageProvider {
  const answer = async (job: RenderJob, signal: AbortSignal): Promise<ProviderAnswer> => {
    const { outcome, ignores } = directivesOf(job.prompt, name);
    if (outcome === 'crash') return crash();
    if (outcome === 'hang') return untilAborted(signal);
    if (outcome) return { kind: 'refused', reason: refusals[outcome] };
    return job.readMask && !ignores ? paintAround(job, job.readMask, protect, signal) : paint(job, ignores);
  };
  return {
    name,
    sends: ['negativePrompt', 'quality', 'background', 'mask'],
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
    // A picture of the sandbox costs nothing. A crash plays a vendor whose answer is lost.
    mayRepeat: (prompt) => directivesOf(prompt, name).outcome !== 'crash',
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

async function paint(job: RenderJob, ignores?: true): Promise<ProviderAnswer> {
  return { kind: 'rendered', bytes: await pictureOf(pictureJobOf(job, ignores)) };
}

/** The picture with the source image in it where the mask protects it. */
async function paintAround(
  job: RenderJob,
  readMask: NonNullable<RenderJob['readMask']>,
  protect: Protect,
  signal: AbortSignal,
): Promise<ProviderAnswer> {
  const [[source], mask] = await Promise.all([job.readSources(), readMask()]);
  if (!source) return { kind: 'refused', reason: 'unknown_answer', detail: 'a mask without a source image' };
  const pictureJob = pictureJobOf(job);
  let kept: Uint8Array;
  try {
    kept = await protect({ source: source.bytes, mask: mask.bytes }, pictureJob, signal);
  } catch {
    signal.throwIfAborted();
    return { kind: 'refused', reason: 'source_image', detail: 'an image that cannot be read' };
  }
  return { kind: 'rendered', bytes: await renderPicture(pictureJob, kept) };
}

function pictureJobOf(job: RenderJob, ignores?: true): PictureJob {
  const { width, height } = pixelsOf(job.resolution, job.aspectRatio);
  return {
    prompt: job.prompt ?? '',
    ...(job.negativePrompt != null && { negativePrompt: job.negativePrompt }),
    // Pictures of one request differ, as a vendor's do. A request with a seed gets the pictures of this seed.
    seed: job.seed ?? job.index ?? 0,
    width,
    height,
    format: job.outputFormat === 'jpeg' ? 'jpeg' : 'png',
    ...(job.background === 'transparent' && !ignores && { isCutOut: true }),
    ...(job.quality === 'low' && { isDraft: true }),
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error('aborted at the deadline'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
