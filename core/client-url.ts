/**
 * Addresses that a client gives (webhook_url, image_urls), as far as they can be judged
 * without the network: length, scheme, user name, port, and a host that is a literal
 * address. What a host name resolves to is checked where the connection is made.
 */
import { maxUrlLength } from './limits.ts';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

/** 'public': what a deployed service allows. 'loopback-too': http and any port to this machine as well. */
export type OutboundRules = 'public' | 'loopback-too';

/** What an address is for: webhooks go to https alone, source images may come by http. */
export type Purpose = 'webhook' | 'image';

export type ClientUrl =
  /** Nothing is known against the address yet. */
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

/** Everything that the text alone tells, in this order: length, scheme, user name, port, literal address. */
export function readClientUrl(text: string, purpose: Purpose, rules: OutboundRules): ClientUrl {
  const refused = (why: string): ClientUrl => ({ kind: 'refused', code: 'refused_target', why });
  if (text.length > maxUrlLength) {
    return { kind: 'refused', code: 'too_long', why: `must have at most ${maxUrlLength} characters` };
  }
  if (!URL.canParse(text)) return refused(schemeText[purpose]);
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused(schemeText[purpose]);
  if (url.username !== '' || url.password !== '') return refused('must not contain a user name or password');
  const literal = literalAddress(url);
  // This machine may be reached in any way. A name may turn out to be this machine when it is resolved.
  const mayBeLocal = rules === 'loopback-too' && (literal === undefined || isLoopbackAddress(literal));
  const why = mayBeLocal ? undefined : schemeOrPortProblem(url, purpose);
  if (why !== undefined) return refused(why);
  if (literal !== undefined && !mayBeLocal && !isPublicAddress(literal)) return refused(notPublicText);
  return { kind: 'fit', url };
}

/** Why a public host cannot be asked in this way; undefined when it can. */
export function schemeOrPortProblem(url: URL, purpose: Purpose): string | undefined {
  if (!schemes[purpose].includes(url.protocol)) return schemeText[purpose];
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return port >= 1024 || lowPorts[purpose].includes(port) ? undefined : portText[purpose];
}

/**
 * The host when it is an address and no name. The URL parser has already turned decimal,
 * octal, hex and short forms into the four numbers that they mean.
 */
export function literalAddress({ hostname }: URL): string | undefined {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : undefined;
}
