/**
 * Checks addresses that a client gives (webhook_url, image_urls) without the network: length,
 * scheme, user name, port, and a host that is a literal address. The code that connects
 * checks the addresses of a host name: service/outbound/outbound.ts.
 */
import { maxUrlLength } from '../contract/limits.ts';
import { characters } from '../values/text.ts';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

/** 'public': the rules of a deployed service. 'loopback-too': also http and every port to this machine. */
export type OutboundRules = 'public' | 'loopback-too';

/** The use of an address. Webhooks need https; source images may also come by http. */
export type Purpose = 'webhook' | 'image';

export type ClientUrl =
  /** The text of the address is allowed. The addresses of its host name are still to be checked. */
  | { readonly kind: 'fit'; readonly url: URL }
  | { readonly kind: 'refused'; readonly code: 'too_long' | 'refused_target'; readonly why: string };

const schemes: Readonly<Record<Purpose, readonly string[]>> = {
  webhook: ['https:'],
  image: ['https:', 'http:'],
};
const lowPorts: Readonly<Record<Purpose, readonly number[]>> = { webhook: [443], image: [80, 443] };
const schemeText: Readonly<Record<Purpose, string>> = {
  webhook: 'must be an https address',
  image: 'must be an http or https address',
};
const portText: Readonly<Record<Purpose, string>> = {
  webhook: 'must use port 443, or 1024 and above',
  image: 'must use port 80, 443, or 1024 and above',
};

export const notPublicText = 'must lead to public addresses only';

/** Checks, in this order: length, scheme, user name, scheme and port for the purpose, literal address. */
export function readClientUrl(text: string, purpose: Purpose, rules: OutboundRules): ClientUrl {
  const refused = (why: string): ClientUrl => ({ kind: 'refused', code: 'refused_target', why });
  if (characters(text) > maxUrlLength) {
    return { kind: 'refused', code: 'too_long', why: `must have at most ${maxUrlLength} characters` };
  }
  if (!URL.canParse(text)) return refused(schemeText[purpose]);
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused(schemeText[purpose]);
  if (url.username !== '' || url.password !== '') return refused('must not contain a user name or password');
  const literal = literalAddress(url);
  // This machine may be reached by every scheme and port. A host name may resolve to this machine.
  const mayBeLocal = rules === 'loopback-too' && (literal === undefined || isLoopbackAddress(literal));
  const why = mayBeLocal ? undefined : schemeOrPortProblem(url, purpose);
  if (why !== undefined) return refused(why);
  if (literal !== undefined && !mayBeLocal && !isPublicAddress(literal)) return refused(notPublicText);
  return { kind: 'fit', url };
}

/** Why the scheme or the port is not allowed for a public host. Undefined when both are allowed. */
export function schemeOrPortProblem(url: URL, purpose: Purpose): string | undefined {
  if (!schemes[purpose].includes(url.protocol)) return schemeText[purpose];
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return port >= 1024 || lowPorts[purpose].includes(port) ? undefined : portText[purpose];
}

/** The host of the URL if it is an IP address, which the parser wrote as four numbers. */
export function literalAddress({ hostname }: URL): string | undefined {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : undefined;
}
