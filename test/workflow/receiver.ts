/** A client's own webhook receiver: outside the service, so that it outlives one that is killed. */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface Arrival {
  /** Below the receiver's root, with its query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it came over the wire. */
  readonly raw: Buffer;
}

export interface Receiver {
  /** Of one hook: a path of its own, which answers with these statuses in turn, and the last one from then on; 0 never answers. */
  hook(name: string, ...statuses: number[]): string;
  /** What came to a hook, oldest first. */
  arrivals(name: string): Arrival[];
  /** Resolves once so many have come to a hook. */
  until(name: string, count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const statuses = new Map<string, number[]>();
  const arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      arrivals.push({ path, headers: request.headers as Record<string, string>, raw: Buffer.concat(chunks) });
      const open = statuses.get(path) ?? [404];
      const status = (open.length > 1 ? open.shift() : open[0]) ?? 404;
      if (status === 0) return;
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {});
      response.end(status === 204 ? undefined : 'noted');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const arrivalsAt = (name: string): Arrival[] => arrivals.filter(({ path }) => path === `/${name}`);
  return {
    hook: (name, ...wanted) => {
      statuses.set(`/${name}`, wanted);
      return `http://127.0.0.1:${port}/${name}`;
    },
    arrivals: arrivalsAt,
    until: async (name, count) => {
      while (arrivalsAt(name).length < count) await sleep(20);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
