/**
 * A receiver of webhooks outside the process that is killed. It remembers each webhook and its own answer.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Arrival {
  readonly creation: string;
  readonly attempt: number;
  readonly delivery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The status that the receiver answered. */
  readonly status: number;
}

export interface Receiver {
  /** The address of a receiver with this behaviour. */
  address(behaviour: Behaviour): string;
  readonly arrivals: readonly Arrival[];
  end(): Promise<void>;
}

export const behaviours = ['ok', 'flaky', 'gone', 'broken'] as const;
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
