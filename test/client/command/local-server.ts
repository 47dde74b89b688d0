/** A developer's server that goes down and comes back at the same address. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { portOf } from '../../fixtures/values.ts';

export interface Arrived {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LocalServer {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** The status of the next answers. */
  status: number;
  /** Goes down after so many more requests. */
  downAfter: number;
  up(): Promise<void>;
  down(): Promise<void>;
  /** Resolves once so many requests have come in all. */
  until(count: number): Promise<void>;
}

export async function startLocalServer(): Promise<LocalServer> {
  const arrived: Arrived[] = [];
  let server: Server | undefined;
  let port = 0;
  const local: LocalServer = {
    get url() {
      return `http://127.0.0.1:${port}/hooks`;
    },
    arrived,
    status: 204,
    downAfter: Infinity,
    up: async () => {
      server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const body = Buffer.concat(chunks).toString();
          arrived.push({ headers: request.headers as Record<string, string>, body });
          response.writeHead(local.status, { connection: 'close' }).end();
          if ((local.downAfter -= 1) <= 0) server?.close();
        });
      }).listen(port, '127.0.0.1');
      await once(server, 'listening');
      port = portOf(server);
    },
    down: async () => {
      const closed = server?.listening === true ? once(server, 'close') : undefined;
      server?.close();
      server?.closeAllConnections();
      await closed;
    },
    until: async (count) => {
      while (arrived.length < count) await sleep(20);
    },
  };
  await local.up();
  return local;
}
