/** Clients over HTTP: each sends request after request, and one that was not answered again with the same key, however often the service dies. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from '../world/dice.ts';
import { behaviours, type Receiver } from './webhook-receiver.ts';

/** One request as its client knows it. */
export interface Sent {
  readonly account: number;
  /** Its idempotency key; metadata carries it, too, so that its creations are found again. */
  readonly key: string;
  tries: number;
  /** Its creations by the 202s that it got: one, or more when one failed and was refunded meanwhile. */
  readonly accepted: Set<string>;
  /** The refusal that ended it. */
  refused?: number;
}

export interface Load {
  readonly sent: readonly Sent[];
  requests: number;
  retried: number;
  /** Requests that wait for their answer. */
  underWay: number;
  /** Lets each client finish its request. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly dice: Dice;
  readonly apiUrl: string;
  readonly keys: readonly string[];
  readonly clients: number;
  readonly receiver: Receiver;
}

const prompts = [
  'a lake',
  'a lake',
  'a lake [sandbox:delay=300ms]',
  'a lake [sandbox:delay=1s]',
  'a lake [sandbox:async=1s]',
  'a lake [sandbox:fail]',
  'a lake [sandbox:reject-prompt]',
  'a lake [sandbox:down]',
] as const;
/** Between two tries. */
const pauseMillis = 40;
/** Between two requests of a client: with more of them open than two processors carry, no life would be long enough to end any. */
const thinkMillis = 800;
const answerMillis = 35_000;
/** So many of a hundred requests are sent again though they were answered, as by a client that forgot. */
const forgetful = 0.1;

export function startLoad({ dice, apiUrl, keys, clients, receiver }: LoadOptions): Load {
  const sent: Sent[] = [];
  let stopped = false;
  const load: Load = {
    sent,
    requests: 0,
    retried: 0,
    underWay: 0,
    stop: async () => {
      stopped = true;
      await Promise.all(lanes);
    },
  };

  async function send(body: string, request: Sent): Promise<Response | undefined> {
    const headers = {
      authorization: `Bearer ${keys[request.account] ?? ''}`,
      'content-type': 'application/json',
      'idempotency-key': request.key,
    };
    load.underWay += 1;
    try {
      const answer = await fetch(`${apiUrl}/images/generate`, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(answerMillis),
      });
      count(request);
      return answer;
    } catch (error) {
      // The service is not there yet: nothing was sent. Otherwise it died meanwhile, and nobody knows.
      if (!isRefusedConnection(error)) count(request);
      return undefined;
    } finally {
      load.underWay -= 1;
    }
  }

  function count(request: Sent): void {
    load.requests += 1;
    request.tries += 1;
    if (request.tries > 1) load.retried += 1;
  }

  async function untilAnswered(body: string, request: Sent): Promise<void> {
    for (;;) {
      const answer = await send(body, request);
      const text = await answer?.text().catch(() => undefined);
      if (answer?.status === 202 && text !== undefined) {
        request.accepted.add((JSON.parse(text) as { id: string }).id);
        return;
      }
      const status = answer?.status ?? 0;
      if (status >= 400 && status < 500 && status !== 429) {
        request.refused = status;
        return;
      }
      await sleep(pauseMillis);
    }
  }

  async function lane(client: number): Promise<void> {
    for (let number = 0; !stopped; number += 1) {
      const name = `client ${client} request ${number}`;
      const request: Sent = {
        account: client % keys.length,
        key: `${client}-${number}`,
        tries: 0,
        accepted: new Set(),
      };
      sent.push(request);
      const body = JSON.stringify({
        model: dice.pick(`${name} model`, ['sandbox-sketch', 'sandbox-standard']),
        prompt: dice.pick(`${name} prompt`, prompts),
        metadata: { key: request.key },
        ...(dice.chance(`${name} webhook`, 0.6) && {
          webhook_url: receiver.address(dice.pick(`${name} receiver`, behaviours)),
        }),
      });
      await untilAnswered(body, request);
      if (dice.chance(`${name} again`, forgetful)) await untilAnswered(body, request);
      await sleep(thinkMillis);
    }
  }
  const lanes = Array.from({ length: clients }, (_, client) => lane(client));
  return load;
}

function isRefusedConnection(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : undefined;
  return cause?.code === 'ECONNREFUSED';
}
