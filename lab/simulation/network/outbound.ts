/** The product's own outbound HTTP client, over a name resolver and connections of the simulation. */
import { createOutbound, type Outbound, type PostResult } from '../../../service/outbound/outbound.ts';
import type { Clock } from '../../../service/values/runtime.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { bucketHost, type BucketCall, type ClientBuckets } from './client-buckets.ts';
import { openPeer, originAnswer, type PeerAnswer, type PeerRequest, receiverAnswer } from './peers.ts';

/** One POST as the receiver got it. */
export interface Post {
  readonly url: string;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly at: number;
  /** The invocation that sent it. */
  readonly sender: Invocation | undefined;
  /**
   * When the service's side of the attempt ended, and with which status. Absent before that, or if the sender
   * died.
   */
  endedAt?: number;
  status?: number;
}

/** What the outside world reports to the observer. */
export interface OutsideObserver {
  readonly onPost: (post: Post) => void;
  /** A request arrived at the bucket of an account. */
  readonly onBucketCall: (call: BucketCall) => void;
  /** A request for a source image arrived at its origin. */
  readonly onFetch: () => void;
  /**
   * The service has ended the attempt that began at this time. `post` is absent when no receiver got a
   * request.
   */
  readonly onPostEnded: (startedAt: number, post: Post | undefined, result: PostResult) => void;
}

/** The name server of this host never answers. */
export const silentHost = 'silent.test';
const address = { address: '93.184.215.14', family: 4 } as const;

/** Creates the outbound client of one world. Receivers and origins behave as their addresses say. */
export function createSimulatedOutbound(
  world: World,
  clock: Clock,
  picture: Uint8Array,
  observer: Partial<OutsideObserver>,
  buckets: ClientBuckets,
): Outbound {
  const tries = new Map<string, number>();
  const posts = new Map<string, Post>();

  function post(url: string, request: PeerRequest): PeerAnswer {
    const sent: Post = {
      url,
      headers: request.headers,
      body: request.body,
      at: world.time.now(),
      sender: world.current(),
    };
    posts.set(request.headers['x-webhook-delivery-id'] ?? '', sent);
    observer.onPost?.(sent);
    const event = request.headers['webhook-id'] ?? '';
    const times = (tries.get(event) ?? 0) + 1;
    tries.set(event, times);
    return receiverAnswer(new URL(url).pathname.slice(1), times);
  }

  function fetch(path: string): PeerAnswer {
    observer.onFetch?.();
    return originAnswer(path, picture);
  }

  const outbound = createOutbound('public', {
    clock,
    resolve: (host) => {
      if (host === silentHost) return new Promise(() => undefined);
      return world.call({ service: 'receiver', operation: 'resolve', target: '' }, () => [address]);
    },
    connect: ({ host }) =>
      openPeer(world, (request) => {
        if (host === bucketHost)
          return world.call({ service: 'receiver', operation: 'bucket', target: request.method }, () =>
            buckets.answer(request),
          );
        const operation = request.method === 'GET' ? 'fetch' : 'post';
        return world.call({ service: 'receiver', operation, target: '' }, () =>
          operation === 'fetch' ? fetch(request.path) : post(`https://${host ?? ''}${request.path}`, request),
        );
      }),
  });
  return {
    ...outbound,
    post: async (url, headers, body) => {
      const startedAt = world.time.now();
      const result = await outbound.post(url, headers, body);
      const sent = posts.get(headers['x-webhook-delivery-id'] ?? '');
      if (sent) {
        sent.endedAt = world.time.now();
        if (result.kind === 'answered') sent.status = result.status;
      }
      observer.onPostEnded?.(startedAt, sent, result);
      return result;
    },
  };
}
