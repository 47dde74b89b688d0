import type { IncomingMessage, ServerResponse } from 'node:http';

/** Reads a request's body; undefined when it is larger than `maxBytes`, of which no more is kept. */
export async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Answers with JSON. */
export function sendJson(outgoing: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  outgoing.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  outgoing.end(text);
}

/** Answers a request whose body is not wanted, and ends the connection when the client goes on sending. */
export function refuseBody(incoming: IncomingMessage, outgoing: ServerResponse, status: number, value: unknown): void {
  outgoing.setHeader('connection', 'close');
  // The rest is thrown away for a moment, so that a client still writing gets to read the answer.
  incoming.resume();
  setTimeout(() => incoming.destroy(), 2_000).unref();
  sendJson(outgoing, status, value);
}
