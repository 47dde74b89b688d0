/** Checks signed addresses as CloudFront does for a behaviour with a trusted key group. */
import { type KeyObject, verify } from 'node:crypto';

/** Why CloudFront refuses an address, in its own words. */
export interface Refused {
  readonly code: 'MissingKey' | 'AccessDenied';
  readonly message: string;
}

const denied: Refused = { code: 'AccessDenied', message: 'Access denied' };

const names = ['Expires', 'Signature', 'Key-Pair-Id'] as const;

/**
 * Undefined: the address opens its object. The three parameters may come in any order, and each of them once. Any other
 * parameter is a part of the address that was to be signed.
 * @param url the address as it was asked for, without its query
 * @param keyOf the public key of this id, if it is trusted
 */
export function refusalOf(
  url: string,
  query: string,
  keyOf: (id: string) => KeyObject | undefined,
  nowMillis: number,
): Refused | undefined {
  const found: Record<string, string> = {};
  const others: string[] = [];
  for (const part of query.split('&').filter((one) => one !== '')) {
    const [name = '', ...value] = part.split('=');
    if (!names.some((one) => one === name)) others.push(part);
    else if (found[name] === undefined) found[name] = value.join('=');
    else return denied;
  }
  const { Expires: expires = '', Signature: signature = '', 'Key-Pair-Id': keyId } = found;
  if (keyId === undefined)
    return { code: 'MissingKey', message: 'Missing Key-Pair-Id query parameter or cookie value' };
  const key = keyOf(keyId);
  const bytes = bytesOf(signature);
  if (!key || !bytes || !/^[1-9]\d{0,11}$/.test(expires)) return denied;
  const resource = others.length === 0 ? url : `${url}?${others.join('&')}`;
  // The canned policy: the members in this order, and no space.
  const lessThan = { DateLessThan: { 'AWS:EpochTime': Number(expires) } };
  const policy = JSON.stringify({ Statement: [{ Resource: resource, Condition: lessThan }] });
  const isSigned = verify('sha1', Buffer.from(policy), key, bytes);
  return isSigned && nowMillis < Number(expires) * 1_000 ? undefined : denied;
}

/** CloudFront writes "-", "_" and "~" for "+", "=" and "/". Undefined for a text that is not written so. */
function bytesOf(signature: string): Buffer | undefined {
  const base64 = signature.replace(/[-_~]/g, (one) => ({ '-': '+', _: '=' })[one] ?? '/');
  const bytes = Buffer.from(base64, 'base64');
  // Node also reads other alphabets, and bits behind the end.
  return /[+=/]/.test(signature) || bytes.toString('base64') !== base64 ? undefined : bytes;
}
