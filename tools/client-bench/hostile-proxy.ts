/**
 * A proxy in front of the API that loses requests and answers, kills connections, and throws 429, 502 and 503
 * in. A seed decides what happens to the n-th sending of each request, so that a run can be repeated.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../../local/loopback.ts';

/** What can happen to a sending. */
export const hostilities = [
  'kill before',
  'lose the answer',
  'kill in the answer',
  '429',
  '503',
  '502 of a gateway',
  'gateway gives up',
] as const;
export type Hostility = (typeof hostilities)[number];

export interface HostileProxy {
  readonly url: string;
  /** How often each hostility has struck. */
  readonly struck: Readonly<Record<Hostility, number>>;
  /** How many sendings came in all. */
  readonly received: () => number;
  readonly stop: () => Promise<void>;
}

export interface HostileOptions {
  /** The root of the API behind the proxy. */
  readonly api: string;
  readonly seed: number;
  /** The share of sendings that are struck: 0 to 1. */
  readonly share: number;
}

export async function startHostileProxy({ api, seed, share }: HostileOptions): Promise<HostileProxy> {
  const { origin } = new URL(api);
  const struck = Object.fromEntries(hostilities.map((name) => [name, 0])) as Record<Hostility, number>;
  const sendings = new Map<string, number>();
  let received = 0;

  /** Draws what happens to this sending: the same for the same seed, request and number of its sending. */
  const draw = (incoming: IncomingMessage): Hostility | undefined => {
    const request = `${incoming.method ?? ''} ${incoming.url ?? ''} ${String(incoming.headers['idempotency-key'])}`;
    const count = (sendings.get(request) ?? 0) + 1;
    sendings.set(request, count);
    const hash = createHash('sha256').update(`${seed} ${request} ${count}`).digest();
    if (hash.readUInt32BE(0) / 2 ** 32 >= share) return undefined;
    return hostilities[hash.readUInt32BE(4) % hostilities.length];
  };

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    received += 1;
    const hostility = draw(incoming);
    if (hostility) struck[hostility] += 1;
    const body = await bodyOf(incoming);
    switch (hostility) {
      case 'kill before':
        incoming.socket.destroy();
        return;
      case '429':
        refuse(outgoing, 429, 'ERR_RATE_LIMIT');
        return;
      case '503':
        refuse(outgoing, 503, 'ERR_PROVIDER_UNAVAILABLE');
        return;
      case '502 of a gateway':
        outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
        return;
      case undefined:
      case 'lose the answer':
      case 'kill in the answer':
      case 'gateway gives up':
    }
    const { status, headers, text } = await forward(`${origin}${incoming.url ?? ''}`, incoming, body);
    switch (hostility) {
      case 'lose the answer':
        incoming.socket.destroy();
        return;
      case 'kill in the answer':
        outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) });
        outgoing.write(text.slice(0, text.length / 2), () => incoming.socket.destroy());
        return;
      case 'gateway gives up':
        outgoing
          .writeHead(503, { 'content-type': 'application/json' })
          .end('{"message":"Service Unavailable"}');
        return;
      case undefined:
        outgoing.writeHead(status, headers).end(text);
    }
  };

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    struck,
    received: () => received,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** The headers that concern one connection, or the encoding of its body. */
const ofTheConnection = new Set(['connection', 'keep-alive', 'host', 'content-length', 'transfer-encoding']);

interface Forwarded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

async function forward(url: string, { method, headers }: IncomingMessage, body: string): Promise<Forwarded> {
  const sent = Object.entries(headers).filter(([name]) => !ofTheConnection.has(name));
  const response = await fetch(url, {
    method: method ?? 'GET',
    headers: sent.map(([name, value]): [string, string] => [name, String(value)]),
    ...(body !== '' && { body }),
  });
  const text = await response.text();
  const kept = [...response.headers].filter(([name]) => !ofTheConnection.has(name));
  return { status: response.status, headers: Object.fromEntries(kept), text };
}

function refuse(outgoing: ServerResponse, status: number, code: string): void {
  const body = JSON.stringify({ error: { code, message: 'The proxy refuses.', details: {} } });
  outgoing.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' }).end(body);
}
