import ipaddr from 'ipaddr.js';

/**
 * Ranges that ipaddr.js calls unicast, or that carry an IPv4 address inside, and that
 * are not public hosts. 2000::/3 is all that IANA has given out as global unicast.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
const embedding: readonly [ipaddr.IPv6, number][] = [
  ipaddr.IPv6.parseCIDR('2001::/32'), // Teredo
  ipaddr.IPv6.parseCIDR('2001:db8::/32'), // documentation
  ipaddr.IPv6.parseCIDR('2002::/16'), // 6to4
  ipaddr.IPv6.parseCIDR('3fff::/20'), // documentation, RFC 9637
];

/** ISATAP puts an IPv4 address behind these two groups, whatever the prefix (RFC 5214). */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , high, low] = address.parts;
  return (high === 0 || high === 0x0200) && low === 0x5efe;
}

/** Whether an address, as a resolver gave it, is a public host; everything it cannot parse is not. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  return (
    address.range() === 'unicast' &&
    address.match(globalUnicast) &&
    !embedding.some((range) => address.match(range)) &&
    !isIsatap(address)
  );
}

/** Whether an address is the machine itself: 127.0.0.0/8 or ::1. */
export function isLoopbackAddress(text: string): boolean {
  return ipaddr.isValid(text) && ipaddr.process(text).range() === 'loopback';
}
