/**
 * The address under which rejected authentications are counted: an IPv4 address, or the /64
 * network of an IPv6 address, since a single host usually has a whole /64.
 * @param sourceIp the address that the gateway saw, never the text of a header
 */
export function clientAddress(sourceIp: string): string {
  if (!sourceIp.includes(':')) return sourceIp;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(sourceIp);
  if (mapped?.[1] !== undefined) return mapped[1];
  const [head = '', tail] = sourceIp.toLowerCase().split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = 8 - left.length - right.length;
  const groups = [...left, ...Array.from({ length: Math.max(0, gap) }, () => '0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
