/** The image providers of the simulation. */
import type { RefusalReason } from '../../../service/contract/failures.ts';
import type { Platform } from '../../../service/platform/platform.ts';
import type {
  CancelAnswer,
  ImageProvider,
  ProviderAnswer,
  RenderJob,
} from '../../../service/vendors/provider.ts';
import { directivesOf, type SandboxOutcome } from '../../../service/vendors/sandbox/provider.ts';
import type { World } from '../world/simulated-world.ts';

/**
 * @param endOf when a job ends; undefined for an unknown job
 * @param onStop receives the time until a job is stopped
 */
export function createStoppedJobs(
  world: World,
  endOf: (id: string) => number | undefined,
  onStop: (id: string, afterMillis: number) => void = () => undefined,
) {
  const { dice } = world;
  const stops = new Map<string, number>();
  const now = (): number => world.time.now();
  return {
    /** Asks to stop a job. */
    ask: (id: string): CancelAnswer => {
      const end = endOf(id);
      if (end === undefined || end <= now()) return 'refused';
      if (stops.has(id)) return 'asked';
      const way = dice.pick(`stop of ${id}`, ['at once', 'at once', 'soon', 'late', 'never'] as const);
      world.noteIncident(`job stopped ${way}`);
      const wait = {
        'at once': 0,
        soon: dice.between(`soon ${id}`, 100, 4_000),
        late: dice.between(`late ${id}`, 4_000, 15_000),
        never: Infinity,
      }[way];
      stops.set(id, now() + wait);
      if (now() + wait < end) onStop(id, wait);
      return 'asked';
    },
    /** Whether the job has been stopped before its end. */
    isStopped: (id: string): boolean => {
      const stop = stops.get(id) ?? Infinity;
      return stop <= now() && stop < (endOf(id) ?? -Infinity);
    },
  };
}

/** The smallest bytes that the product accepts as a picture of 64 × 64 pixels. */
export const pictures: Readonly<Record<string, Buffer>> = {
  png: Buffer.from(
    '89504e470d0a1a0a0000000d4948445200000040000000400806000000aa6971de0000000049454e44ae426082',
    'hex',
  ),
  jpeg: Buffer.from('ffd8ffc0000b080040004001011100ffd9', 'hex'),
};

/** As above, of the colour type for grey with opacities. */
const transparentPng = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000000400000004008040000000060b9550000000049454e44ae426082',
  'hex',
);

/** Behind the end of a picture that was rendered in a quality. */
export function markOfQuality(quality: string): Buffer {
  return Buffer.from(`in quality ${quality}`);
}

/** Behind the end of a picture that changed what its mask protects. */
const repainted = Buffer.from('repainted');

export function isRepainted(picture: Uint8Array): boolean {
  return repainted.equals(picture.subarray(-repainted.length));
}

/** A picture of which nothing can be seen. */
export function isTransparentPng(picture: Uint8Array): boolean {
  return transparentPng.equals(picture.subarray(0, transparentPng.length));
}

/** The pictures have no pixels. The two PNGs differ in their colour type. */
export const measures: Platform['measures'] = {
  isTransparent: (bytes) => Promise.resolve(isTransparentPng(bytes)),
  changeWhereProtected: ({ picture }) => Promise.resolve(isRepainted(picture) ? 40 : 0),
  seeThroughMask: (mask) => Promise.resolve(mask),
};

/** The pictures have no pixels, so their thumbnails are made up. A JPEG has none. */
export const thumbnails: Platform['thumbnails'] = (bytes) => {
  if (bytes[0] === 0xff) return Promise.reject(new Error('a picture without pixels'));
  const form = { width: 64, height: 64, bytes: Uint8Array.of(0xff) };
  return Promise.resolve({ small: form, large: form, colours: '243b55'.repeat(9) });
};

const refusals: Readonly<Record<Exclude<SandboxOutcome, 'hang' | 'crash'>, RefusalReason>> = {
  'reject-prompt': 'prompt',
  'reject-image': 'source_image',
  fail: 'failed',
  empty: 'nothing_rendered',
  down: 'unavailable',
};
const pollMillis = 500;

/** With this word in the prompt, half of the answers are failures. So a later try of the same call can succeed. */
export const unsteady = 'unsteady';

/** A provider, and what it knows about its jobs. */
export interface SimulatedProvider extends ImageProvider {
  readonly isStopped: (jobId: string) => boolean;
}

/**
 * Behaves as the sandbox provider does, with a ready picture: the directives in a prompt decide the outcome.
 * @param directed the provider that a directive has to name to concern this one
 */
export function createProvider(world: World, name: string, directed = name): SimulatedProvider {
  let answers = 0;
  const answer = async (job: RenderJob, signal: AbortSignal): Promise<ProviderAnswer> => {
    const { outcome } = directivesOf(job.prompt, directed);
    answers += 1;
    if (job.prompt?.includes(unsteady) && world.dice.chance(`${name} fails ${answers}`, 0.5))
      return { kind: 'refused', reason: 'failed' };
    if (outcome === 'crash') {
      world.current()?.die('Runtime.ExitError');
      return new Promise(() => undefined);
    }
    if (outcome === 'hang') await world.sleep(3_600_000, signal);
    if (outcome === undefined || outcome === 'hang') return { kind: 'rendered', bytes: painted(job) };
    return { kind: 'refused', reason: refusals[outcome] };
  };
  /** Sometimes with the other background than the job names, and with a change of what the mask protects. */
  const painted = ({ background, outputFormat, quality, readMask }: RenderJob): Uint8Array => {
    const ignores = background !== undefined && world.dice.chance(`${name} ignores ${answers}`, 0.2);
    if (ignores) world.noteIncident('background ignored');
    const isCutOut = (background === 'transparent') !== ignores;
    const painting =
      isCutOut && outputFormat === 'png' ? transparentPng : (pictures[outputFormat] ?? Buffer.alloc(0));
    const picture = quality === undefined ? painting : Buffer.concat([painting, markOfQuality(quality)]);
    if (!readMask || !world.dice.chance(`${name} repaints ${answers}`, 0.25)) return picture;
    world.noteIncident('mask ignored');
    return Buffer.concat([picture, repainted]);
  };
  const ask = <Answer>(operation: string, work: () => Promise<Answer>): Promise<Answer> =>
    world.call({ service: 'provider', operation, target: name }, () => work).then((go) => go());
  let jobs = 0;
  const endOf = (jobId: string): number => Number(jobId.split('-')[1]);
  const stops = createStoppedJobs(world, endOf);
  return {
    name,
    isStopped: stops.isStopped,
    sends: ['negativePrompt', 'background', 'mask'],
    submit: (job, signal) =>
      ask('submit', async () => {
        const { asyncMillis, delayMillis } = directivesOf(job.prompt, directed);
        if (asyncMillis !== undefined) {
          jobs += 1;
          const jobId = `job-${world.now() + asyncMillis}-${name}-${jobs}`;
          return { kind: 'pending', jobId, pollAfterMillis: pollMillis };
        }
        if (delayMillis > 0) await world.sleep(delayMillis, signal);
        return answer(job, signal);
      }),
    poll: (jobId, job, signal) =>
      ask('poll', () =>
        stops.isStopped(jobId)
          ? Promise.resolve<ProviderAnswer>({ kind: 'refused', reason: 'cancelled' })
          : world.now() < endOf(jobId)
            ? Promise.resolve<ProviderAnswer>({ kind: 'pending', jobId, pollAfterMillis: pollMillis })
            : answer(job, signal),
      ),
    // A provider that plays a vendor can stop its jobs. The sandbox itself cannot.
    ...(directed !== name && {
      cancel: (jobId: string) =>
        ask('cancel', (): Promise<CancelAnswer> => Promise.resolve(stops.ask(jobId))),
    }),
  };
}
