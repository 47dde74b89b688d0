/** The buckets of the accounts of a scenario. The first part of an object's name says how a bucket behaves. */
import { type BucketFault, createClientBucket } from '../../buckets/client-bucket.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { answerOf, type PeerAnswer, type PeerRequest } from './peers.ts';

export const bucketHost = 'bucket.test';
export const bucketSecret = 'secret-of-a-bucket';

/** Each behaviour by the faults of the requests for one object. The last one stays. */
const behaviours = {
  ok: [undefined],
  flaky: ['SlowDown', 'InternalError', undefined],
  broken: ['AccessDenied'],
  silent: ['silent', undefined],
  forgets: ['closed-after', 'closed', undefined],
  other: ['more-bytes', 'other-bytes'],
  sealed: ['other-etag'],
} as const satisfies Readonly<Record<string, readonly (BucketFault | undefined)[]>>;

export type BucketBehaviour = keyof typeof behaviours;

/** One request of the service, as the bucket got it. */
export interface BucketCall {
  readonly account: string;
  readonly method: string;
  readonly key: string;
  readonly at: number;
  readonly sender: Invocation | undefined;
}

export type ClientBuckets = ReturnType<typeof createClientBuckets>;

export function createClientBuckets(world: World, onCall?: (call: BucketCall) => void) {
  const buckets = new Map<string, ReturnType<typeof createClientBucket>>();
  const puts = new Map<string, number>();

  function of(account: string): ReturnType<typeof createClientBucket> {
    const known = buckets.get(account);
    if (known) return known;
    const bucket = createClientBucket({
      bucket: `b-${account}`,
      region: 'auto',
      accessKeyId: account,
      secretAccessKey: bucketSecret,
      now: () => world.time.now(),
    });
    buckets.set(account, bucket);
    return bucket;
  }

  return {
    /** What the bucket of an account holds under a key. */
    objectAt: (account: string, key: string): Buffer | undefined => of(account).objects.get(key)?.bytes,
    answer: ({ method, path, headers, bytes: body }: PeerRequest): PeerAnswer => {
      const [, name = '', ...rest] = path.split('/');
      const [account, key] = [name.replace('b-', ''), rest.join('/')];
      onCall?.({ account, method, key, at: world.time.now(), sender: world.current() });
      const isPicture = key.endsWith('.png') || key.endsWith('.jpg') || key.endsWith('.webp');
      const times = puts.get(path) ?? 0;
      if (method === 'PUT') puts.set(path, times + 1);
      const faults = behaviours[(rest[0] ?? 'ok') as BucketBehaviour];
      const fault = isPicture && method === 'PUT' ? faults[Math.min(times, faults.length - 1)] : undefined;
      const answer = of(account).answer({ method, path, headers, body }, fault);
      if (answer === 'silent') return { writes: [], then: 'keep' };
      if (answer === 'closed') return { writes: [], then: 'close' };
      return answerOf(answer.status, answer.body, answer.headers);
    },
  };
}
