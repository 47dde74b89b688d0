/** Who sent a request: the address of its connection, or the one that a trusted proxy names. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

interface Viewer {
  readonly address: string;
  readonly protocol: string;
}

const told = new WeakMap<IncomingMessage, Viewer>();

export function addressOf(incoming: IncomingMessage): string {
  return told.get(incoming)?.address ?? plain(incoming.socket.remoteAddress ?? '');
}

/** "http" or "https", as the client used it. */
export function protocolOf(incoming: IncomingMessage): string {
  return told.get(incoming)?.protocol ?? 'http';
}

export type TrustedProxies = Pick<BlockList, 'check'>;

/** @param networks such as 10.0.0.0/8 or a single address. Undefined when one of them is no network. */
export function trustedProxies(networks: readonly string[]): TrustedProxies | undefined {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix, ...more] = network.split('/');
    const version = isIP(address);
    const bits = version === 6 ? 128 : 32;
    const length = prefix === undefined ? bits : Number(prefix);
    if (version === 0 || more.length > 0 || !/^\d*$/.test(prefix ?? '') || prefix === '' || length > bits)
      return undefined;
    list.addSubnet(address, length, familyOf(address));
  }
  return list;
}

/**
 * Remembers who sent the request. A header counts only when the connection comes from a trusted proxy: the client is
 * then the rightmost address of X-Forwarded-For that is no trusted proxy, as everything left of it can be invented.
 */
export function noteViewer(incoming: IncomingMessage, trusted: TrustedProxies, protocol: string): void {
  const isTrusted = (address: string): boolean =>
    isIP(address) > 0 && trusted.check(address, familyOf(address));
  const socket = plain(incoming.socket.remoteAddress ?? '');
  if (!isTrusted(socket)) {
    told.set(incoming, { address: socket, protocol });
    return;
  }
  const hops = namesIn(incoming, 'x-forwarded-for').map(plain);
  const client = hops.findLast((hop) => !isTrusted(hop));
  const proto = namesIn(incoming, 'x-forwarded-proto').at(-1);
  told.set(incoming, {
    address: client === undefined ? (hops[0] ?? socket) : isIP(client) > 0 ? client : socket,
    protocol: proto === 'https' || proto === 'http' ? proto : protocol,
  });
}

function namesIn({ headersDistinct }: IncomingMessage, header: string): string[] {
  return (headersDistinct[header] ?? []).flatMap((value) => value.split(',')).map((one) => one.trim());
}

function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}
