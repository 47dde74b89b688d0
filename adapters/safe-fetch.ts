/**
 * The one way out to addresses that clients give. A name is resolved here, every
 * address it has must be public, and the connection goes to the addresses that were
 * checked: a name that turns private between check and connection changes nothing.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { maxUrlLength } from '../core/limits.ts';
import type { AddressVerdict, Outbound, PostResult } from '../core/ports.ts';
import { webhookAttemptMillis, webhookResponseBytes } from '../core/webhook.ts';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

/** 'public': what a deployed service allows. 'loopback-too': http and any port to this machine as well. */
export type OutboundRules = 'public' | 'loopback-too';
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

const resolveBySystem: Resolve = async (host) => promisify(systemLookup)(host, { all: true, order: 'verbatim' });

type Target =
  | { readonly kind: 'allowed'; readonly url: URL; readonly addresses: readonly LookupAddress[] }
  | { readonly kind: 'refused'; readonly why: string };

export function createOutbound(rules: OutboundRules, resolve: Resolve = resolveBySystem): Outbound {
  return {
    check: async (text): Promise<AddressVerdict> => {
      const target = await findTarget(text, rules, resolve);
      return target.kind === 'allowed' ? { kind: 'allowed' } : target;
    },
    post: async (text, headers, body) => {
      const timeout = AbortSignal.timeout(webhookAttemptMillis);
      try {
        // A resolver has no time limit of its own: the attempt's bounds it, too.
        const target = await Promise.race([findTarget(text, rules, resolve), aborted(timeout)]);
        if (target.kind === 'refused') return { kind: 'unanswered', reason: 'address refused' };
        return await send(target.url, target.addresses, headers, body, timeout);
      } catch (error) {
        return { kind: 'unanswered', reason: timeout.aborted ? 'timeout' : reasonOf(error) };
      }
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('timeout')), { once: true }));
}

/** Scheme, port, userinfo and every address of the host, checked in this order. */
async function findTarget(text: string, rules: OutboundRules, resolve: Resolve): Promise<Target> {
  const refused = (why: string): Target => ({ kind: 'refused', why });
  if (text.length > maxUrlLength) return refused(`must have at most ${maxUrlLength} characters`);
  if (!URL.canParse(text)) return refused('must be an absolute https address');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('must be an https address');
  if (url.username !== '' || url.password !== '') return refused('must not contain a user name or password');
  const addresses = await addressesOf(url, resolve);
  const isLocal = rules === 'loopback-too' && addresses.length > 0 && addresses.every(({ address }) => isLoopbackAddress(address));
  if (isLocal) return { kind: 'allowed', url, addresses };
  if (url.protocol !== 'https:') return refused('must be an https address');
  const port = url.port === '' ? 443 : Number(url.port);
  if (port !== 443 && port < 1024) return refused('must use port 443, or 1024 and above');
  if (addresses.length === 0) return refused('its host cannot be resolved');
  if (!addresses.every(({ address }) => isPublicAddress(address))) return refused('must lead to public addresses only');
  return { kind: 'allowed', url, addresses };
}

/** The URL parser has already turned decimal, octal, hex and short forms into the address they mean. */
async function addressesOf(url: URL, resolve: Resolve): Promise<readonly LookupAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  return resolve(host).catch(() => []);
}

/** One exchange with exactly the addresses that were checked; its body is read up to the limit, its redirects never followed. */
function send(
  url: URL,
  addresses: readonly LookupAddress[],
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<PostResult> {
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = start(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      lookup: pinned(addresses),
      agent: false,
      signal,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      readStart(response, webhookResponseBytes).then(
        (excerpt) => resolve({ kind: 'answered', status: response.statusCode ?? 0, excerpt }),
        reject,
      );
    });
    request.end(body);
  });
}

function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses;
    if (options.all === true) done(null, [...addresses]);
    else done(null, first?.address ?? '', first?.family);
  };
}

/** The first bytes of a response as text; the connection is closed once they are here. */
async function readStart(response: IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= most) break;
  }
  response.destroy();
  return Buffer.concat(chunks).subarray(0, most).toString('utf8');
}

/** A word for the delivery log; the error's own text could name addresses that the client must not learn. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'connection closed';
  if (/CERT|TLS|SSL/.test(code)) return 'tls';
  return 'no valid http answer';
}
