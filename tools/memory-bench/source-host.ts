/** A host of source images on loopback. `/10000000.png` is an image of ten million bytes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { heavySource } from './heavy-pictures.ts';

export interface SourceHost {
  /** The address of an image of this many bytes. */
  readonly at: (bytes: number) => string;
  readonly stop: () => Promise<void>;
}

export async function startSourceHost(): Promise<SourceHost> {
  const server = createServer((incoming, outgoing) => {
    const bytes = Number(/^\/(\d+)\.png$/.exec(incoming.url ?? '')?.[1] ?? 0);
    outgoing.writeHead(200, { 'content-type': 'image/png' }).end(heavySource(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the host has no port');
  return {
    at: (bytes) => `http://127.0.0.1:${address.port}/${bytes}.png`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
