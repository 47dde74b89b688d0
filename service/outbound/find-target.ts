/**
 * Decides whether the service may send a request to a URL that a client gave. The host name is resolved here,
 * and each of its addresses must be public. The caller then connects to exactly these addresses.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import {
  literalAddress,
  notPublicText,
  type OutboundRules,
  type Purpose,
  readClientUrl,
  schemeOrPortProblem,
} from './client-url.ts';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

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
