/** A vendor on loopback: a server that speaks its protocol, and remembers what it was asked. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FailureName } from '../../core/failure.ts';

/** One way in which a vendor answers, and what becomes of the creation. A prompt that holds `[row:name]` asks for it. */
export interface VendorRow {
  readonly row: string;
  readonly says: string;
  readonly ends: FailureName | 'completed';
  /** Source images that the request needs to get there. */
  readonly sources?: number;
}

export interface Received {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}

export interface Reply {
  /** 'hang': never answered. 'break': the connection is cut behind the request. */
  readonly status: number | 'hang' | 'break';
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON when it is a plain object. */
  readonly body?: object | string | Uint8Array;
}

export interface FakeVendor {
  /** As the provider's base URL. */
  readonly url: string;
  readonly received: readonly Received[];
  stop(): Promise<void>;
}

/** Listens on a free port of loopback. `origin` is told to the vendor for the addresses that its answers name. */
export async function startFakeVendor(
  answer: (request: Received, origin: string) => Reply | Promise<Reply>,
): Promise<FakeVendor> {
  const received: Received[] = [];
  let origin = '';
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const request = await readRequest(incoming);
      received.push(request);
      const reply = await answer(request, origin);
      if (reply.status === 'hang') return;
      if (reply.status === 'break') return void incoming.socket.destroy();
      const { body = '' } = reply;
      const isJson = typeof body === 'object' && !(body instanceof Uint8Array);
      outgoing.writeHead(reply.status, {
        ...(isJson && { 'content-type': 'application/json' }),
        ...reply.headers,
      });
      outgoing.end(isJson ? JSON.stringify(body) : body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: origin,
    received,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readRequest(incoming: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers as Received['headers'],
    body,
    json: parsed(body),
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The row that a prompt asks for; undefined: an ordinary success. */
export function rowOf(prompt: unknown): string | undefined {
  return typeof prompt === 'string' ? /\[row:([\w-]+)\]/.exec(prompt)?.[1] : undefined;
}
