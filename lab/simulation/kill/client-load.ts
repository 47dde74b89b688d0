/**
 * Clients that send one request after the other over HTTP. A client repeats an unanswered request with the
 * same idempotency key, however often the service dies.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from '../world/dice.ts';

/**
 * A receiver of webhooks outside the process that is killed. It remembers each webhook and its own answer.
 */
export interface Arrival {
  readonly creation: string;
  readonly attempt: number;
  readonly delivery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The status that the receiver answered. */
  readonly status: number;
}

interface Receiver {
  /** The address of a receiver with this behaviour. */
  address(behaviour: Behaviour): string;
  readonly arrivals: readonly Arrival[];
  end(): Promise<void>;
}

const behaviours = ['ok', 'flaky', 'gone', 'broken'] as const;
export type Behaviour = (typeof behaviours)[number];

/** Starts the receiver on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const attempt = Number(headers['x-webhook-attempt']);
      const body = Buffer.concat(chunks).toString('utf8');
      const status = statusOf((request.url ?? '').slice(1) as Behaviour, attempt);
      arrivals.push({
        creation: (JSON.parse(body) as { id: string }).id,
        attempt,
        delivery: headers['x-webhook-delivery-id'] ?? '',
        headers,
        body,
        status,
      });
      response.writeHead(status).end();
    });
    // The sender was killed before the whole request arrived.
    request.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    arrivals,
    address: (behaviour) => `http://127.0.0.1:${port}/${behaviour}`,
    end: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function statusOf(behaviour: Behaviour, attempt: number): number {
  switch (behaviour) {
    case 'ok':
      return 204;
    case 'flaky':
      return attempt < 3 ? 503 : 200;
    case 'gone':
      return 410;
    case 'broken':
      return 500;
  }
}

/** One request as its client knows it. */
export interface Sent {
  readonly account: number;
  /**
   * The idempotency key. The metadata of the request carries the key, too, so that its creations can be
   * found.
   */
  readonly key: string;
  tries: number;
  /**
   * The creations that its 202 answers named. There are several when a creation failed before the next try.
   */
  readonly accepted: Set<string>;
  /** The status of the refusal that ended the request. */
  refused?: number;
}

export interface Load {
  readonly sent: readonly Sent[];
  requests: number;
  retried: number;
  /** How many requests wait for their answer at present. */
  underWay: number;
  /** Lets each client finish its request, and stops. */
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
/** The pause between two tries of a request. */
const pauseMillis = 40;
/**
 * The pause between two requests of a client. With a shorter pause so much work would be open that two
 * processors could not end any of it before the next kill.
 */
const thinkMillis = 800;
const answerMillis = 35_000;
/** The share of requests that a client sends again although they were answered. */
const forgetful = 0.1;

/** Starts the clients. */
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
      // A refused connection means that the service is not up yet, so nothing was sent. After any other error
      // the service died meanwhile, and the outcome is unknown.
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
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}
