/** A customer's receiver of webhooks, which can break and be mended. */
import { createServer, type Server } from 'node:http';
import { verifyWebhookAt } from '../../client/src/webhooks/verify.ts';
import { listenOnLoopback } from '../../local/http.ts';

export interface Receiver {
  readonly url: string;
  /** What came, with the event that the signature proves. Undefined: the signature proves nothing. */
  readonly received: (string | undefined)[];
  /** The secrets that the receiver knows. */
  readonly secrets: string[];
  /** Nothing listens there any more. */
  readonly breakDown: () => Promise<void>;
  /** Listens again, at the same address. */
  readonly mend: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/** @param now the time of the service, in Unix milliseconds. A test sets the clock of the service forward. */
export async function startReceiver(now: () => number): Promise<Receiver> {
  const received: (string | undefined)[] = [];
  const secrets: string[] = [];
  let server = receiving(received, secrets, now);
  const port = await listenOnLoopback(server, 0);
  const close = async (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    received,
    secrets,
    breakDown: close,
    mend: async () => {
      server = receiving(received, secrets, now);
      await listenOnLoopback(server, port);
    },
    end: close,
  };
}

function receiving(received: (string | undefined)[], secrets: readonly string[], now: () => number): Server {
  return createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const parts = { headers: incoming.headersDistinct, body: Buffer.concat(chunks) };
      verifyWebhookAt(parts, secrets, { nowMillis: now() }).then(
        (event) => {
          received.push('event' in event ? event.event : event.notice);
          outgoing.writeHead(204).end();
        },
        () => {
          received.push(undefined);
          outgoing.writeHead(401).end('the signature is wrong');
        },
      );
    });
  });
}
