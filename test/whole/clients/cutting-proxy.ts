/**
 * A proxy before the service that cuts connections before, during and after an answer, and throws 429, 500 and
 * 503 of its own in. A seed decides what happens to each request, so that a run can be repeated. It stands
 * for a network and a gateway: what arrived at the service goes on there, whoever has left.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import { finished, pipeline } from 'node:stream/promises';
import { listenOnLoopback } from '../../../local/http.ts';

/** What can happen to a request. */
export const cuts = [
  'before the request',
  'before the answer',
  'in the answer',
  'before the end',
  '429 now',
  '429 in a second',
  '500',
  '503',
] as const;
export type Cut = (typeof cuts)[number];

/** What the proxy answers by itself. The request never reaches the service. */
const thrownIn: Partial<Record<Cut, readonly [status: number, headers: Readonly<Record<string, string>>]>> = {
  '429 now': [429, { 'retry-after': '0' }],
  '429 in a second': [429, { 'retry-after': '1' }],
  '500': [500, {}],
  '503': [503, { 'retry-after': '0' }],
};

export interface CuttingProxy {
  /** The address that stands for that of the service. */
  readonly url: string;
  /** How often each cut was made. */
  readonly made: Readonly<Record<Cut, number>>;
  /** The requests that came, and those that were sent on. */
  readonly received: () => number;
  readonly sentOn: () => number;
  readonly stop: () => Promise<void>;
}

export interface CuttingOptions {
  /** The address of the service, such as `service.machine.openaiUrl`. */
  readonly target: string;
  readonly seed: number;
  /** The share of requests that are cut: 0 to 1. */
  readonly share: number;
  /** The cuts to choose from. The default is all of them. */
  readonly only?: readonly Cut[];
}

export async function startCuttingProxy(options: CuttingOptions): Promise<CuttingProxy> {
  const { target, seed, share, only = cuts } = options;
  const made = Object.fromEntries(cuts.map((cut) => [cut, 0])) as Record<Cut, number>;
  const seen = new Map<string, number>();
  const open = new Set<Promise<void>>();
  let received = 0;
  let sentOn = 0;

  /** Draws the cut: the same for the same seed, the same request, and the number of its coming. */
  const draw = ({ method, url, headers }: IncomingMessage, body: Buffer): Cut | undefined => {
    const text = createHash('sha256').update(body).digest('hex');
    const name = `${seed} ${method ?? ''} ${url ?? ''} ${text} ${String(headers['x-stainless-retry-count'])}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const hash = createHash('sha256').update(`${name} ${count}`).digest();
    if (hash.readUInt32BE(0) / 2 ** 32 >= share) return undefined;
    return only[hash.readUInt32BE(4) % only.length];
  };

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    received += 1;
    const body = Buffer.concat(await incoming.toArray());
    const cut = draw(incoming, body);
    if (cut) made[cut] += 1;
    const [status, headers] = (cut && thrownIn[cut]) ?? [];
    if (status !== undefined) {
      const error = { message: 'The proxy refuses.', type: 'server_error', param: null, code: null };
      outgoing.writeHead(status, { ...headers, 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ error }));
      return;
    }
    if (cut === 'before the request') {
      incoming.socket.destroy();
      return;
    }
    sentOn += 1;
    const answered = answerTo(`${target}${incoming.url ?? ''}`, incoming, body);
    if (cut === 'before the answer') incoming.socket.destroy();
    await passOn(await answered, outgoing, cut);
  };

  const server = createServer((incoming, outgoing) => {
    const served = serve(incoming, outgoing)
      .catch(() => {
        incoming.socket.destroy();
      })
      .finally(() => open.delete(served));
    open.add(served);
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    made,
    received: () => received,
    sentOn: () => sentOn,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await Promise.all([once(server, 'close'), ...open]);
    },
  };
}

/** Headers that belong to one connection. The answer is sent in chunks, so that it has an end of its own. */
const ofTheConnection = new Set(['connection', 'keep-alive', 'host', 'content-length', 'transfer-encoding']);

function kept(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofTheConnection.has(name)));
}

async function answerTo(
  url: string,
  { method, headers }: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body.length === 0 ? {} : { 'content-length': body.length };
    send(url, { method, headers: { ...kept(headers), ...length } }, resolve)
      .on('error', reject)
      .end(body);
  });
}

/** Half of the answer, all of it without its end, or all of it. */
async function passOn(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  cut: Cut | undefined,
): Promise<void> {
  if (cut === 'before the answer') {
    await finished(answer.resume());
    return;
  }
  outgoing.writeHead(answer.statusCode ?? 502, kept(answer.headers));
  if (cut === undefined) {
    await pipeline(answer, outgoing);
    return;
  }
  const body = Buffer.concat(await answer.toArray());
  const sent = cut === 'in the answer' ? body.subarray(0, body.length / 2) : body;
  await new Promise((resolve) => {
    outgoing.write(sent, resolve);
  });
  outgoing.socket?.destroy();
}
