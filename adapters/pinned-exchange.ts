/** One HTTP exchange with exactly the addresses that were checked. */
import type { LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';

export interface Exchange {
  readonly url: URL;
  readonly addresses: readonly LookupAddress[];
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** At most so many bytes of the answer are read; the connection is closed behind them. */
  readonly mostBytes: number;
  /** Bounds all of it, the answer's last byte included: a slow drip defeats every shorter limit. */
  readonly signal: AbortSignal;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: Buffer;
  /** There was more than mostBytes. */
  readonly cut: boolean;
}

/** Never follows a redirect, uses no proxy and no kept connection. Throws when no whole answer came. */
export function exchange(options: Exchange): Promise<ExchangeAnswer> {
  return new Promise((resolve, reject) => {
    const { url, method, headers, body, signal } = options;
    const settings: RequestOptions = {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      lookup: pinned(options.addresses),
      agent: false,
      signal,
    };
    const request = url.protocol === 'https:' ? httpsRequest(url, settings) : httpRequest(url, settings);
    request.on('error', reject);
    request.on('response', (response) => {
      readStart(response, options.mostBytes).then(
        ({ body: read, cut }) => resolve({ status: response.statusCode ?? 0, location: response.headers.location, body: read, cut }),
        reject,
      );
    });
    request.end(body);
  });
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
