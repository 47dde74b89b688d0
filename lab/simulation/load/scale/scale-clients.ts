/** The clients of a load: each asks for one image, and then polls as Retry-After says, or waits for its webhook. */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Outbound } from '../../../../service/outbound/outbound.ts';
import type { KeyId } from '../../../../service/values/ids.ts';
import type { Service } from '../../aws/deployed-service.ts';
import { type AccountHeld, freshKey, keyAt } from '../../clients/open-accounts.ts';
import { eventOf } from '../../clients/requests.ts';
import type { World } from '../../world/simulated-world.ts';
import { type ScalePlan, loadedModels, type Stranger } from './scale-measures.ts';

export interface ClientObserver {
  /** A request for an image was answered. */
  readonly onAnswer: (answer: APIGatewayProxyStructuredResultV2) => void;
  readonly onPoll: (answer: APIGatewayProxyStructuredResultV2) => void;
  /** A client has seen the end of its creation. */
  readonly onSeen: (sentAt: number) => void;
}

const submitPath = '/api/public/v1/images/generate';
/** How long a client waits after a refusal without Retry-After. */
const usualWaitSeconds = 2;
/** A client gives up this long after its creation should have ended. */
const patienceMillis = 420_000;

export function createScaleClients(
  world: World,
  service: () => Service,
  plan: ScalePlan,
  observer: ClientObserver,
) {
  /** When each request was sent whose client waits for a webhook. */
  const called = new Map<string, number>();
  const polled = new Set<string>();

  async function poll(account: AccountHeld, id: string, waitSeconds: number, sentAt: number): Promise<void> {
    polled.add(id);
    const until = sentAt + patienceMillis;
    let seconds = waitSeconds;
    while (world.time.now() < until) {
      await world.sleep(seconds * 1000);
      const path = `/api/public/v1/creations/${id}`;
      const answer = await service().request(
        'get',
        eventOf('GET', path, keyAt(account, 0), {}, undefined, id, addressOf(account)),
      );
      observer.onPoll(answer);
      if (answer.statusCode === 200 && isOver(answer.body ?? '')) {
        observer.onSeen(sentAt);
        break;
      }
      seconds = retryAfter(answer);
    }
    polled.delete(id);
  }

  return {
    waiting: (): number => polled.size + called.size,
    isPolled: (id: string): boolean => polled.has(id),
    onWebhook: (body: string) => {
      const id = idIn(body);
      const sentAt = called.get(id);
      if (sentAt === undefined) return;
      called.delete(id);
      observer.onSeen(sentAt);
    },
    /** Sends one request with a wrong key. */
    sendAsStranger: () => {
      const { route } = plan.stranger ?? { route: 'unknown' };
      const [method, path] = strange[route];
      const id = path.split('/')[5];
      const event = eventOf(method, path, wrongKey, {}, undefined, id, '198.51.100.66');
      return service().request(route, event);
    },
    /** Sends one request, and continues until its image has arrived or can no longer arrive. */
    send: async (account: AccountHeld, sentAt: number) => {
      const takesWebhook = world.dice.unit('') < plan.webhookShare;
      const body = {
        model: loadedModels[plan.vendor],
        prompt: 'a small boat on a lake at dawn, seen from the shore, with mist between the trees',
        resolution: '1K',
        ...(takesWebhook && { webhook_url: 'https://receiver.test/ok' }),
      };
      const headers = { 'content-type': 'application/json' };
      const answer = await service().request(
        'generate',
        eventOf(
          'POST',
          submitPath,
          keyAt(account, 0),
          headers,
          JSON.stringify(body),
          undefined,
          addressOf(account),
        ),
      );
      observer.onAnswer(answer);
      if (answer.statusCode !== 202) return;
      const id = idIn(answer.body ?? '');
      if (takesWebhook) called.set(id, sentAt);
      else await poll(account, id, retryAfter(answer), sentAt);
    },
  };
}

/** What a stranger sends to a route: method and path. */
const strange: Readonly<Record<Stranger['route'], readonly [method: string, path: string]>> = {
  unknown: ['GET', '/api/public/v1/pictures'],
  get: ['GET', '/api/public/v1/creations/01a1fea2-83cb-71c7-a229-e47b2c1760f6'],
  generate: ['POST', submitPath],
};
const wrongKey = freshKey('unknown' as KeyId, `dk_live_${'x'.repeat(40)}`);

/** Each account has a server with an address of its own. The id of the account gives the address. */
function addressOf({ id }: AccountHeld): string {
  let value = 0;
  for (let index = 0; index < id.length; index += 1) value = (value * 31 + id.charCodeAt(index)) % 2 ** 24;
  return `10.${value >> 16}.${(value >> 8) & 255}.${value & 255}`;
}

/** The first id of a creation in a body. Reading all of each body would cost more than the rest of a client. */
function idIn(body: string): string {
  return /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/.exec(body)?.[0] ?? '';
}

function isOver(body: string): boolean {
  return /"status":\s?"(completed|failed|cancelled)"/.test(body);
}

function retryAfter({ headers = {} }: APIGatewayProxyStructuredResultV2): number {
  const header = headers['retry-after'] ?? headers['Retry-After'];
  return header === undefined ? usualWaitSeconds : Number(header);
}

/** A lookup of a name that the resolver knows, and the time of an answer (lab/cost/prices.ts assumes the same). */
const resolveMillis = 5;
const answerMillis = 150;

/** @param onWebhook receives the body of a webhook when its receiver gets it */
export function createScaleOutbound(world: World, onWebhook: (body: string) => void): Outbound {
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
    request: () => Promise.reject(new Error('no account of a crowd has a bucket')),
    fetchSource: () => Promise.reject(new Error('no request of a crowd has a source image')),
  };
}
