/** What the functions are given in the place of their surroundings: the clock, providers and the bucket. */
import { directivesOf, type SandboxOutcome } from '../../adapters/providers/sandbox/directives.ts';
import type { StoredImage } from '../../core/creation.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import type { ImageProvider, ProviderAnswer, RefusalReason, RenderJob } from '../../core/provider.ts';
import { Refused } from '../table/aws-refusal.ts';
import type { World } from '../world/simulated-world.ts';

/** The functions' clock: true time, and what it was set wrong; its timers end with their invocation. */
export function createClock(world: World): Clock {
  return {
    now: world.now,
    elapsed: () => world.time.now(),
    sleep: world.sleep,
    deadline: (atMillis) => {
      const controller = new AbortController();
      const timer = setTimeout(
        () => {
          controller.abort();
        },
        Math.max(0, atMillis - world.now()),
      );
      return { signal: controller.signal, release: () => clearTimeout(timer) };
    },
    timeout: (millis) => {
      const controller = new AbortController();
      const timer = setTimeout(
        () => {
          controller.abort();
        },
        Math.max(0, millis),
      );
      return { signal: controller.signal, release: () => clearTimeout(timer) };
    },
    every: (millis, task) => {
      const timer = setInterval(task, millis);
      return () => clearInterval(timer);
    },
  };
}

/** The smallest files that say what they are: 64 × 64 pixels. */
export const pictures: Readonly<Record<string, Buffer>> = {
  png: Buffer.from(
    '89504e470d0a1a0a0000000d4948445200000040000000400806000000aa6971de0000000049454e44ae426082',
    'hex',
  ),
  jpeg: Buffer.from('ffd8ffc0000b080040004001011100ffd9', 'hex'),
};

const refusals: Readonly<Record<Exclude<SandboxOutcome, 'hang' | 'crash'>, RefusalReason>> = {
  'reject-prompt': 'prompt',
  'reject-image': 'source_image',
  fail: 'failed',
  empty: 'nothing_rendered',
  down: 'unavailable',
};
const pollMillis = 500;

/** The sandbox's contract with a picture that costs nothing: a prompt's directives script the outcome. */
export function createProvider(world: World, name: string): ImageProvider {
  const answer = async (job: RenderJob, signal: AbortSignal): Promise<ProviderAnswer> => {
    const { outcome } = directivesOf(job.prompt, name);
    if (outcome === 'crash') {
      world.current()?.die('Runtime.ExitError');
      return world.sleep(0) as Promise<never>;
    }
    if (outcome === 'hang') await world.sleep(3_600_000, signal);
    if (outcome === undefined || outcome === 'hang')
      return { kind: 'rendered', bytes: pictures[job.outputFormat] ?? Buffer.alloc(0) };
    return { kind: 'refused', reason: refusals[outcome] };
  };
  const ask = (operation: string, work: () => Promise<ProviderAnswer>): Promise<ProviderAnswer> =>
    world.call({ service: 'provider', operation, target: name }, () => work).then((go) => go());
  return {
    name,
    submit: (job, signal) =>
      ask('submit', async () => {
        const { asyncMillis, delayMillis } = directivesOf(job.prompt, name);
        if (asyncMillis !== undefined)
          return { kind: 'pending', jobId: `job-${world.now() + asyncMillis}`, pollAfterMillis: pollMillis };
        if (delayMillis > 0) await world.sleep(delayMillis, signal);
        return answer(job, signal);
      }),
    poll: (jobId, job, signal) =>
      ask('poll', () =>
        world.now() < Number(jobId.slice(4))
          ? Promise.resolve({ kind: 'pending', jobId, pollAfterMillis: pollMillis })
          : answer(job, signal),
      ),
  };
}

export interface Bucket {
  /** The port, as its adapter opens it for a request whose time the signal ends. */
  readonly open: (signal?: AbortSignal) => ImageStore;
  readonly stored: ReadonlyMap<string, StoredImage>;
}

/** Time limits of one call, as adapters/s3-images.ts sets them. */
const callMillis = { put: 40_000, find: 10_000 } as const;

/**
 * The bucket: the requests of its adapter are not seen here, its calls are. Like the adapter it throws Overloaded
 * when the bucket is busy or gives no answer in time, and another error when the connection breaks.
 */
export function createBucket(world: World, clock: Clock): Bucket {
  const stored = new Map<string, StoredImage>();

  async function call<Answer>(
    operation: keyof typeof callMillis,
    target: string,
    outer: AbortSignal | undefined,
    effect: () => Answer,
  ): Promise<Answer> {
    const limit = clock.timeout(callMillis[operation]);
    const signal = outer ? AbortSignal.any([limit.signal, outer]) : limit.signal;
    try {
      return await world.call({ service: 'images', operation, target, signal }, effect);
    } catch (error) {
      const isBusy = signal.aborted || error instanceof Refused;
      throw isBusy ? new Overloaded(`the bucket gave no answer to a ${operation}`, { cause: error }) : error;
    } finally {
      limit.release();
    }
  }

  return {
    stored,
    open: (signal) => ({
      put: (image) =>
        call('put', image.key.split('/')[0] ?? '', signal, () => void stored.set(image.key, image)),
      get: () => Promise.reject(new Error('the sandbox does not look at source images')),
      find: (key) => call('find', '', signal, () => stored.get(key)),
    }),
  };
}
