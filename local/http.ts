import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:net';

/** Reads a request's body. Undefined when the body is larger than `maxBytes`; the rest of it is not kept. */
export async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const parts: AsyncIterable<Buffer> = incoming.iterator({ destroyOnReturn: false });
  for await (const chunk of parts) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Answers with JSON. */
export function sendJson(
  outgoing: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(value);
  outgoing.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  outgoing.end(text);
}

/** A client that still sends after this many bytes, or this long, is cut off. */
const maxDiscardedBytes = 64 * 1024 * 1024;
const discardMillis = 5_000;

/** Answers a request whose body is not wanted. */
export function refuseBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  status: number,
  value: unknown,
): void {
  discardBody(incoming, outgoing, () => sendJson(outgoing, status, value));
}

/**
 * Answers once the body, which is not wanted, has come. Many clients read no answer before they have sent the whole
 * body, so the rest of the body is read and thrown away first.
 */
export function discardBody(incoming: IncomingMessage, outgoing: ServerResponse, send: () => void): void {
  let discarded = 0;
  const answer = (): void => {
    clearTimeout(timer);
    outgoing.setHeader('connection', 'close');
    if (!outgoing.headersSent) send();
  };
  const timer = setTimeout(() => incoming.destroy(), discardMillis);
  incoming.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > maxDiscardedBytes) incoming.destroy();
  });
  incoming.on('close', () => clearTimeout(timer));
  if (incoming.readableEnded) answer();
  else incoming.on('end', answer);
}

/** Listens on 127.0.0.1 and resolves with the port. Port 0 takes a free one. */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}
