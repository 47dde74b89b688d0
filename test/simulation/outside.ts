/** The outside world of the functions: providers, the bucket, the clients' receivers and their source images. */
import { directivesOf, type SandboxOutcome } from '../../adapters/providers/sandbox/directives.ts';
import type { StoredImage } from '../../core/creation.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import type { Outbound, PostResult, SourceResult } from '../../core/ports/outbound.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import type { ImageProvider, ProviderAnswer, RefusalReason, RenderJob } from '../../core/provider.ts';
import type { Invocation, World } from './world.ts';

/** The functions' clock: true time, and what it was set wrong; its timers end with their invocation. */
export function createClock(world: World): Clock {
  return {
    now: world.now,
    elapsed: () => world.time.now(),
    sleep: world.sleep,
    deadline: (atMillis) => {
      const controller = new AbortController();
      const timer = setTimeout(() => { controller.abort(); }, Math.max(0, atMillis - world.now()));
      return { signal: controller.signal, release: () => clearTimeout(timer) };
    },
    timeout: (millis) => {
      const controller = new AbortController();
      const timer = setTimeout(() => { controller.abort(); }, Math.max(0, millis));
      return { signal: controller.signal, release: () => clearTimeout(timer) };
    },
    every: (millis, task) => {
      const invocation = world.current();
      const timer = setInterval(() => {
        if (invocation?.dead === true) clearInterval(timer);
        else task();
      }, millis);
      return () => clearInterval(timer);
    },
  };
}

/** The smallest files that say what they are: 64 × 64 pixels. */
const pictures: Readonly<Record<string, Buffer>> = {
  png: Buffer.from('89504e470d0a1a0a0000000d4948445200000040000000400806000000aa6971de0000000049454e44ae426082', 'hex'),
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
    if (outcome === undefined || outcome === 'hang' ) return { kind: 'rendered', bytes: pictures[job.outputFormat] ?? Buffer.alloc(0) };
    return { kind: 'refused', reason: refusals[outcome] };
  };
  const ask = (operation: string, work: () => Promise<ProviderAnswer>): Promise<ProviderAnswer> =>
    world.call({ service: 'provider', operation, target: name }, () => work).then((go) => go());
  return {
    name,
    submit: (job, signal) =>
      ask('submit', async () => {
        const { asyncMillis, delayMillis } = directivesOf(job.prompt, name);
        if (asyncMillis !== undefined) return { kind: 'pending', jobId: `job-${world.now() + asyncMillis}`, pollAfterMillis: pollMillis };
        if (delayMillis > 0) await world.sleep(delayMillis, signal);
        return answer(job, signal);
      }),
    poll: (jobId, job, signal) =>
      ask('poll', () => (world.now() < Number(jobId.slice(4)) ? Promise.resolve({ kind: 'pending', jobId, pollAfterMillis: pollMillis }) : answer(job, signal))),
  };
}

export interface Bucket {
  readonly images: ImageStore;
  readonly stored: ReadonlyMap<string, StoredImage>;
}

/** The bucket: its adapter's own requests are not seen here, its calls are. */
export function createBucket(world: World): Bucket {
  const stored = new Map<string, StoredImage>();
  return {
    stored,
    images: {
      put: (image) => world.call({ service: 'images', operation: 'put', target: image.key.split('/')[0] ?? '' }, () => void stored.set(image.key, image)),
      get: () => Promise.reject(new Error('the sandbox does not look at source images')),
      find: (key) => world.call({ service: 'images', operation: 'find', target: '' }, () => stored.get(key)),
    },
  };
}

/** One POST as a receiver got it. */
export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly at: number;
  /** The invocation that sent it. */
  readonly sender: Invocation | undefined;
  /** When the service's side of the attempt ended, and with what; absent while it lasts or when its sender died. */
  endedAt?: number;
  status?: number;
}

/** How a receiver behaves, by the path of its address. */
export type Behaviour = 'ok' | 'flaky' | 'broken' | 'gone' | 'slow';

const attemptMillis = 10_000;

/** The way out: receivers that behave as their address says, and source images. */
export function createOutbound(world: World, onPost: (post: Post) => void): Outbound {
  const tries = new Map<string, number>();
  return {
    check: () => world.call({ service: 'receiver', operation: 'check', target: '' }, () => ({ kind: 'allowed' as const })).catch(() => ({ kind: 'refused' as const, why: 'does not resolve' })),
    post: async (url, headers, body) => {
      let post: Post | undefined;
      const exchange = world.call({ service: 'receiver', operation: 'post', target: '' }, () => {
        post = { url, headers, body, at: world.time.now(), sender: world.current() };
        onPost(post);
        const times = (tries.get(headers['webhook-id'] ?? '') ?? 0) + 1;
        tries.set(headers['webhook-id'] ?? '', times);
        return answerOf(new URL(url).pathname.slice(1) as Behaviour, times);
      });
      // The port bounds the whole attempt by itself.
      const result = await Promise.race([exchange.catch(() => unanswered('connection')), world.sleep(attemptMillis).then(() => unanswered('timeout'))]);
      const bounded = result.kind === 'hangs' ? await world.sleep(attemptMillis).then(() => unanswered('timeout')) : result;
      if (post) {
        post.endedAt = world.time.now();
        if (bounded.kind === 'answered') post.status = bounded.status;
      }
      return bounded;
    },
    fetchSource: (url) =>
      world
        .call({ service: 'receiver', operation: 'fetch', target: '' }, (): SourceResult => (url.includes('absent') ? { kind: 'failed', retryable: false } : { kind: 'fetched', bytes: pictures['png'] ?? Buffer.alloc(0) }))
        .catch((): SourceResult => ({ kind: 'failed', retryable: true })),
  };
}

function unanswered(reason: string): PostResult {
  return { kind: 'unanswered', reason };
}

function answerOf(behaviour: Behaviour, times: number): PostResult | { readonly kind: 'hangs' } {
  const answered = (status: number): PostResult => ({ kind: 'answered', status, excerpt: '' });
  switch (behaviour) {
    case 'ok':
      return answered(204);
    case 'flaky':
      return answered(times < 3 ? 503 : 200);
    case 'broken':
      return answered(500);
    case 'gone':
      return answered(410);
    case 'slow':
      return { kind: 'hangs' };
  }
}
