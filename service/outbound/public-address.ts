import ipaddr from 'ipaddr.js';

/** 2000::/3 is all global unicast of IANA. The ranges below lie in it and are not public hosts. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
const embedding: readonly [ipaddr.IPv6, number][] = [
  ipaddr.IPv6.parseCIDR('2001::/32'), // Teredo
  ipaddr.IPv6.parseCIDR('2001:db8::/32'), // documentation
  ipaddr.IPv6.parseCIDR('2002::/16'), // 6to4
  ipaddr.IPv6.parseCIDR('3fff::/20'), // documentation, RFC 9637
];

/** An ISATAP address has these two groups before its IPv4 address, under any prefix (RFC 5214). */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , high, low] = address.parts;
  return (high === 0 || high === 0x0200) && low === 0x5efe;
}

/** Whether an address of a resolver belongs to a public host. False for a text that is not an address. */
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

/** Networks that an operator may allow for an own provider. */
const insideRanges: readonly string[] = ['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'];

/** Addresses of cloud metadata services, beside the link-local 169.254.169.254. */
const metadataServices: readonly string[] = ['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200'];

/**
 * Whether an address is public, private or of this machine. Link-local ones never pass.
 * @param networks the private networks that are allowed, such as 10.0.0.0/8. Absent: all
 */
export function isReachableInside(text: string, networks?: readonly string[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  const isMetadata = metadataServices.some((known) => ipaddr.parse(known).toString() === address.toString());
  if (isMetadata) return false;
  if (isPublicAddress(address.toString())) return true;
  const isAllowed = networks?.some((network) => {
    const [first, bits] = ipaddr.parseCIDR(network);
    return first.kind() === address.kind() && address.match(first, bits);
  });
  return isAllowed !== false && insideRanges.includes(address.range());
}
