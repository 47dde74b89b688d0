/** The receivers of a crowd's webhooks: all of them answer with 200. */
import type { Outbound } from '../../../core/ports/outbound.ts';
import type { World } from '../../world/simulated-world.ts';

/** A look-up of a name that the resolver knows, and the time of an answer (tools/cost/prices.ts assumes the same). */
const resolveMillis = 5;
const answerMillis = 150;

/** @param onWebhook receives the body of a webhook when its receiver gets it */
export function createCrowdOutbound(world: World, onWebhook: (body: string) => void): Outbound {
  return {
    check: async () => {
      await world.sleep(resolveMillis);
      return { kind: 'allowed' };
    },
    post: async (_url, _headers, body) => {
      await world.sleep(answerMillis);
      onWebhook(body);
      return { kind: 'answered', status: 200, excerpt: '', headers: {} };
    },
    fetchSource: () => Promise.reject(new Error('no request of a crowd has a source image')),
  };
}
