/**
 * Where a request to an address that a client gave may go. A name is resolved here, and
 * every address it has must be public; the caller connects to exactly those addresses.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { maxUrlLength } from '../core/limits.ts';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

/** 'public': what a deployed service allows. 'loopback-too': http and any port to this machine as well. */
export type OutboundRules = 'public' | 'loopback-too';
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** What an address is for: webhooks go to https alone, source images may come by http. */
export type Purpose = 'webhook' | 'image';

export const resolveBySystem: Resolve = async (host) => lookup(host, { all: true, order: 'verbatim' });

export type Target =
  | { readonly kind: 'allowed'; readonly url: URL; readonly addresses: readonly LookupAddress[] }
  | { readonly kind: 'refused'; readonly why: string }
  /** Nothing is wrong with the address as such; its name may resolve later. */
  | { readonly kind: 'unresolved' };

const schemes: Readonly<Record<Purpose, readonly string[]>> = { webhook: ['https:'], image: ['https:', 'http:'] };
const lowPorts: Readonly<Record<Purpose, readonly number[]>> = { webhook: [443], image: [80, 443] };
const schemeText: Readonly<Record<Purpose, string>> = { webhook: 'must be an https address', image: 'must be an http or https address' };
const portText: Readonly<Record<Purpose, string>> = {
  webhook: 'must use port 443, or 1024 and above',
  image: 'must use port 80, 443, or 1024 and above',
};

/** Length, scheme, userinfo, port and every address of the host, in this order. */
export async function findTarget(text: string, purpose: Purpose, rules: OutboundRules, resolve: Resolve): Promise<Target> {
  const refused = (why: string): Target => ({ kind: 'refused', why });
  if (text.length > maxUrlLength) return refused(`must have at most ${maxUrlLength} characters`);
  if (!URL.canParse(text)) return refused(schemeText[purpose]);
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused(schemeText[purpose]);
  if (url.username !== '' || url.password !== '') return refused('must not contain a user name or password');
  const mayBeLocal = rules === 'loopback-too';
  if (!mayBeLocal && !schemes[purpose].includes(url.protocol)) return refused(schemeText[purpose]);
  if (!mayBeLocal && !isAllowedPort(url, purpose)) return refused(portText[purpose]);
  const addresses = await addressesOf(url, resolve);
  if (mayBeLocal && addresses.length > 0 && addresses.every(({ address }) => isLoopbackAddress(address))) {
    return { kind: 'allowed', url, addresses };
  }
  if (!schemes[purpose].includes(url.protocol)) return refused(schemeText[purpose]);
  if (!isAllowedPort(url, purpose)) return refused(portText[purpose]);
  if (addresses.length === 0) return { kind: 'unresolved' };
  if (!addresses.every(({ address }) => isPublicAddress(address))) return refused('must lead to public addresses only');
  return { kind: 'allowed', url, addresses };
}

function isAllowedPort(url: URL, purpose: Purpose): boolean {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return port >= 1024 || lowPorts[purpose].includes(port);
}

/** The URL parser has already turned decimal, octal, hex and short forms into the address they mean. */
async function addressesOf(url: URL, resolve: Resolve): Promise<readonly LookupAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  return resolve(host).catch(() => []);
}
