/** Image files with as few bytes as their format allows. Each claims the size that the test wants. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { portOf } from '../fixtures/values.ts';

/** The first 33 bytes of a PNG, followed by zeros. */
export function png(width: number, height: number, length = 64): Buffer {
  const file = Buffer.alloc(Math.max(33, length));
  Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13]).copy(file);
  file.write('IHDR', 12, 'latin1');
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  file.set([8, 2, 0, 0, 0], 24);
  return file;
}

/** SOI, one baseline frame header, EOI. */
export function jpeg(width: number, height: number): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 17, 8, 0, 0, 0, 0, 3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), frame, Buffer.from([0xff, 0xd9])]);
}

/** RIFF with one VP8X chunk. */
export function webp(width: number, height: number): Buffer {
  const file = Buffer.alloc(30);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(22, 4);
  file.write('WEBPVP8X', 8, 'latin1');
  file.writeUInt32LE(10, 16);
  file.writeUIntLE(width - 1, 24, 3);
  file.writeUIntLE(height - 1, 27, 3);
  return file;
}

/** A host of source images that belongs to the test. Each path answers as the test says. */
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
