/** A webhook receiver outside the service, so that it survives when a test kills the service. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { undocumentedDelivery } from '../../../service/document/check/undocumented.ts';
import { throwAny } from '../../fixtures/documented.ts';
import { portOf } from '../../fixtures/values.ts';

export interface Arrival {
  /** The path with its query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body as they arrived. */
  readonly raw: Buffer;
}

export interface Receiver {
  /**
   * The address of one hook. It answers with these statuses in turn and repeats the last one. 0 gives no
   * answer.
   */
  hook(name: string, ...statuses: number[]): string;
  /** The requests to a hook, the oldest first. */
  arrivals(name: string): Arrival[];
  /** Resolves once so many requests have come to a hook. */
  until(name: string, count: number): Promise<void>;
  /** Throws when a delivery was not as docs/openapi.json documents it. */
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
  const port = portOf(server);
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
      const findings = arrivals.flatMap(({ headers, raw }) =>
        undocumentedDelivery({ headers, body: raw.toString('utf8') }),
      );
      throwAny(findings);
    },
  };
}
