/** One HTTP exchange with exactly the addresses that were checked. */
import type { LookupAddress } from 'node:dns';
import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';

/** How Node opens the connection of a request. A test gives a stream of its own in the place of a socket. */
export type Connect = NonNullable<RequestOptions['createConnection']>;

export interface Exchange {
  readonly url: URL;
  readonly addresses: readonly LookupAddress[];
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** At most so many bytes of the answer are read; the connection is closed behind them. */
  readonly mostBytes: number;
  /** Bounds the whole exchange, the last byte of the answer included: a slow drip defeats every shorter limit. */
  readonly signal: AbortSignal;
  /** Absent: a socket of the system. */
  readonly connect?: Connect;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: Buffer;
  /** There was more than mostBytes. */
  readonly cut: boolean;
}

/**
 * Never follows a redirect, uses no proxy and no kept connection. Throws when no whole answer came.
 * Each way in which a request can end ends the exchange: an answer, a switch of protocols (which is an answer
 * with status 101 and no body), an error, a closed connection, and the abort of the signal.
 */
export function exchange(options: Exchange): Promise<ExchangeAnswer> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = send(options);
    let hasAnswer = false;
    const abort = (): void => {
      reject(new Error('the exchange took too long', { cause: signal.reason }));
      request.destroy();
    };
    signal.addEventListener('abort', abort, { once: true });
    request.on('error', reject);
    request.on('close', () => {
      signal.removeEventListener('abort', abort);
      // Node closes some requests without an error. An answer that has begun ends by itself.
      if (!hasAnswer) reject(new ConnectionClosed());
    });
    // Without a listener, Node drops a switch of protocols without an event: nothing would end the exchange.
    request.on('upgrade', (_response, socket) => {
      hasAnswer = true;
      socket.destroy();
      resolve({ status: 101, location: undefined, body: Buffer.alloc(0), cut: false });
    });
    request.on('response', (response) => {
      hasAnswer = true;
      readStart(response, options.mostBytes).then(
        ({ body, cut }) =>
          resolve({ status: response.statusCode ?? 0, location: response.headers.location, body, cut }),
        reject,
      );
    });
    request.end(options.body);
  });
}

/** The connection was closed before an answer began. */
class ConnectionClosed extends Error {
  readonly code = 'ECONNRESET';
  constructor() {
    super('the connection was closed without an answer');
  }
}

function send({ url, method, headers, body, addresses, connect }: Exchange): ClientRequest {
  const settings: RequestOptions = {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
    lookup: pinned(addresses),
    // An agent would open the connection by itself and leave createConnection out.
    ...(connect ? { createConnection: connect } : { agent: false }),
  };
  return url.protocol === 'https:' ? httpsRequest(url, settings) : httpRequest(url, settings);
}

/** For an address literal the connection asks no lookup at all; that literal is what was checked. */
function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses;
    if (options.all === true) done(null, [...addresses]);
    else done(null, first?.address ?? '', first?.family);
  };
}

async function readStart(response: IncomingMessage, most: number): Promise<{ body: Buffer; cut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > most) break;
  }
  response.destroy();
  return { body: Buffer.concat(chunks).subarray(0, most), cut: length > most };
}
