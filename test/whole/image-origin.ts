/** A host of source images that belongs to the test. Each path answers as the test says. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { portOf } from '../fixtures/values.ts';

type Serve = (response: ServerResponse, request: IncomingMessage) => void;

export interface ImageOrigin {
  /** Lets a path answer like this from now on, and returns its address. */
  at(path: string, serve: Serve): string;
  /** The requested paths in their order. */
  readonly asked: string[];
  /** The most requests that were open at the same time. */
  readonly most: () => number;
  forget(): void;
  close(): Promise<void>;
}

export async function startImageOrigin(): Promise<ImageOrigin> {
  const paths = new Map<string, Serve>();
  const asked: string[] = [];
  let open = 0;
  let most = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => {
      open -= 1;
    });
    (paths.get(path) ?? answering(404, ''))(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  return {
    at: (path, serve) => {
      paths.set(path, serve);
      return `http://127.0.0.1:${port}${path}`;
    },
    asked,
    most: () => most,
    forget: () => {
      asked.length = 0;
      most = 0;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function answering(
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
  afterMillis = 0,
): Serve {
  return (response) => {
    setTimeout(() => response.writeHead(status, headers).end(body), afterMillis);
  };
}
