/**
 * Operator keys: `dk_op_`, 10 characters of the id, 24 random ones (142 bits) and 6 of a checksum. Only the SHA-256 is
 * stored. The command alone makes and changes them.
 */
import ipaddr from 'ipaddr.js';
import { checksumOf, hashKey } from '../accounts/api-key.ts';
import type { OperatorScope } from '../contract/operator-operations.ts';
import { randomBase62 } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import type { Clock, RandomBytes } from '../values/runtime.ts';

export const operatorKeyPrefix = 'dk_op_';
const defaultOperatorRates = { post: 120, get: 600 } as const;
const operatorKeyDays = 365;
export const mostAddresses = 10;

export interface OperatorKey {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly OperatorScope[];
  /** RFC 3339 in UTC with milliseconds. */
  readonly expiresAt: string;
  /** The networks from which the key works, as CIDRs. Absent: every address. */
  readonly from?: readonly string[];
  /** The most that requests of the key may credit on a UTC day. */
  readonly dailyCreditCapMicros?: Micros;
  readonly postRate?: number;
  readonly getRate?: number;
  readonly createdAt: string;
  /** Rounded down to the hour. */
  readonly lastUsedAt?: string;
  readonly revokedAt?: string;
  /** What was credited, by UTC day. The name of a day is "2026_11_21". */
  readonly creditedByDay: Readonly<Record<string, Micros>>;
}

const form = /^dk_op_([0-9A-Za-z]{10})([0-9A-Za-z]{24})([0-9A-Za-z]{6})$/;

export function newOperatorKey(
  given: Pick<OperatorKey, 'name' | 'scopes' | 'from' | 'dailyCreditCapMicros' | 'postRate' | 'getRate'> &
    Partial<Pick<OperatorKey, 'expiresAt'>>,
  { clock, randomBytes }: { readonly clock: Clock; readonly randomBytes: RandomBytes },
): { readonly record: OperatorKey; readonly key: string } {
  const id = randomBase62(10, randomBytes);
  const body = `${id}${randomBase62(24, randomBytes)}`;
  const key = `${operatorKeyPrefix}${body}${checksumOf(`${operatorKeyPrefix}${body}`)}`;
  const nowMillis = clock.now();
  const expiresAt = new Date(nowMillis + operatorKeyDays * 86_400_000).toISOString();
  const createdAt = new Date(nowMillis).toISOString();
  return { key, record: { expiresAt, ...given, id, hash: hashKey(key), createdAt, creditedByDay: {} } };
}

/** The id and the hash of a key. Undefined when its form or its checksum is wrong. */
export function parseOperatorKey(key: string): { readonly id: string; readonly hash: string } | undefined {
  const [, id, random = '', checksum] = form.exec(key) ?? [];
  if (id === undefined || checksumOf(`${operatorKeyPrefix}${id}${random}`) !== checksum) return undefined;
  return { id, hash: hashKey(key) };
}

/** Whether a text names a network, such as "203.0.113.0/24" or "2001:db8::/32". */
export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}

export function mayComeFrom({ from }: Pick<OperatorKey, 'from'>, sourceIp: string): boolean {
  if (from === undefined) return true;
  if (!ipaddr.isValid(sourceIp)) return false;
  // An IPv4 address may arrive in the form of IPv6.
  const address = ipaddr.process(sourceIp);
  return from.some((network) => {
    const [base, length] = ipaddr.parseCIDR(network);
    return base.kind() === address.kind() && address.match(base, length);
  });
}

export function rateOf(key: Pick<OperatorKey, 'postRate' | 'getRate'>, rate: 'get' | 'post'): number {
  return (rate === 'post' ? key.postRate : key.getRate) ?? defaultOperatorRates[rate];
}
