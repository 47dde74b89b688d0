/** One HTTP exchange with exactly the addresses that were checked. */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import {
  literalAddress,
  notPublicText,
  type OutboundRules,
  type Purpose,
  readClientUrl,
  schemeOrPortProblem,
} from './client-url.ts';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

/** How Node opens the connection of a request. A test passes a stream of its own instead of a socket. */
export type Connect = NonNullable<RequestOptions['createConnection']>;

export interface Exchange {
  readonly url: URL;
  readonly addresses: readonly LookupAddress[];
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The most bytes of the answer that are read. After them the connection is closed. */
  readonly mostBytes: number;
  /** Limits the whole exchange: a peer that sends single bytes would outlast a limit between two. */
  readonly signal: AbortSignal;
  /** Absent: the system opens a socket. */
  readonly connect?: Connect;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly cut: boolean;
}

/**
 * Sends one request. It never follows a redirect, and it uses no proxy and no connection of an earlier
 * request. A switch of protocols counts as an answer with status 101 and no body.
 * @throws when no complete answer came: after an error, a closed connection, or the abort of the signal
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
      // Node closes some requests without an error event. Once an answer has begun, readStart ends the
      // exchange.
      if (!hasAnswer) reject(new ConnectionClosed());
    });
    // Without this listener, Node reports no event for a switch of protocols, and the exchange would never
    // end.
    request.on('upgrade', ({ headers }, socket) => {
      hasAnswer = true;
      socket.destroy();
      resolve({ status: 101, location: undefined, headers, body: Buffer.alloc(0), cut: false });
    });
    request.on('response', (response) => {
      hasAnswer = true;
      readStart(response, options.mostBytes).then(({ body, cut }) => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, location: headers.location, headers, body, cut });
      }, reject);
    });
    const { body } = options;
    if (typeof body === 'object' && body.byteLength > partBytes)
      pipeline(Readable.from(partsOf(body)), request, () => undefined);
    else request.end(body);
  });
}

/** A body above this size is sent in parts. At once, TLS would hold all of it a second time. */
const partBytes = 256 * 1024;

function* partsOf(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.byteLength; at += partBytes) yield body.subarray(at, at + partBytes);
}

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
    // An agent would open the connection itself and ignore createConnection.
    ...(connect ? { createConnection: connect } : { agent: false }),
  };
  return url.protocol === 'https:' ? httpsRequest(url, settings) : httpRequest(url, settings);
}

/** Node does not resolve a literal address. Then the literal is the address that was checked. */
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

/** Decides whether a client's URL may be called: every resolved address must be public, and is pinned. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export const resolveBySystem: Resolve = async (host) => lookup(host, { all: true, order: 'verbatim' });

export type Target =
  | { readonly kind: 'allowed'; readonly url: URL; readonly addresses: readonly LookupAddress[] }
  | { readonly kind: 'refused'; readonly why: string }
  /** The URL may be fine, but its host name has no address now. It may have one later. */
  | { readonly kind: 'unresolved' };

/** Judges the text of the URL first, and then every address of its host. */
export async function findTarget(
  text: string,
  purpose: Purpose,
  rules: OutboundRules,
  resolve: Resolve,
): Promise<Target> {
  const refused = (why: string): Target => ({ kind: 'refused', why });
  const read = readClientUrl(text, purpose, rules);
  if (read.kind === 'refused') return refused(read.why);
  const { url } = read;
  const addresses = await addressesOf(url, resolve);
  if (
    rules === 'loopback-too' &&
    addresses.length > 0 &&
    addresses.every(({ address }) => isLoopbackAddress(address))
  ) {
    return { kind: 'allowed', url, addresses };
  }
  const why = schemeOrPortProblem(url, purpose);
  if (why !== undefined) return refused(why);
  if (addresses.length === 0) return { kind: 'unresolved' };
  if (!addresses.every(({ address }) => isPublicAddress(address))) return refused(notPublicText);
  return { kind: 'allowed', url, addresses };
}

async function addressesOf(url: URL, resolve: Resolve): Promise<readonly LookupAddress[]> {
  const literal = literalAddress(url);
  if (literal !== undefined) return [{ address: literal, family: isIP(literal) }];
  return resolve(url.hostname).catch(() => []);
}
