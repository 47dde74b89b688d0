/** Requests and answers over HTTP, as all servers of the one machine treat them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:net';

export type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | void;

/** A part of a server that has some of its requests. */
export interface Door {
  readonly serves: (incoming: IncomingMessage) => boolean;
  readonly handle: Handler;
}

/** Listens, by default on 127.0.0.1, and resolves with the port. Port 0 takes a free one. */
export async function listenOnLoopback(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

/** The path and the query of a request, exactly as the client sent them. The query has no question mark. */
export function targetOf({ url = '/' }: IncomingMessage): { path: string; query: string } {
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

/** The headers under lower-case names. When a header occurs twice, a comma joins its values. */
export function joinedHeaders(incoming: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(incoming.headersDistinct).map(([name, values = []]) => [
      name,
      values.join(name === 'cookie' ? '; ' : ','),
    ]),
  );
}

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

export function sendJson(
  outgoing: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendText(outgoing, status, 'application/json', JSON.stringify(value), headers);
}

export function sendText(
  outgoing: ServerResponse,
  status: number,
  contentType: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  outgoing.writeHead(status, {
    ...headers,
    'content-type': contentType,
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

/** Answers once the unwanted body has come: many clients read no answer before they have sent it. */
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

/** The first outcome, or undefined after the time limit. The work goes on in that case. */
export async function within<Outcome>(
  millis: number,
  outcomes: readonly Promise<Outcome>[],
): Promise<Outcome | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), millis);
  try {
    return await Promise.race([...outcomes, promise]);
  } finally {
    clearTimeout(timer);
  }
}
