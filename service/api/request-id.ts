/**
 * The id of a request. It ends with the account that the key of the request names, and with the second in which the
 * request came, so that a search finds what the request left without an index. The key is not checked yet: the id
 * proves nothing.
 */
import { type AccountId, parseAccountId } from '../values/ids.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** @param id of the gateway @param atMillis when the gateway took the request */
export function requestIdOf(
  id: string,
  { authorization, 'x-api-key': key }: Headers,
  atMillis: number,
): string {
  const [, account] = /^(?:bearer\s+)?dk_(?:live|user)_(\w{10})/i.exec(authorization ?? key ?? '') ?? [];
  return account === undefined ? id : withAccount(id, account, atMillis);
}

export function withAccount(id: string, account: string, atMillis: number): string {
  return `${id}.${account}.${Math.floor(atMillis / 1_000).toString(36)}`;
}

/** The account, and the second of the request in Unix milliseconds. Undefined: the id names no account. */
export function placeOfRequest(
  id: string,
): { readonly accountId: AccountId; readonly atMillis: number } | undefined {
  const [, account = '', seconds = ''] = /^\S+\.(\w{10})\.([0-9a-z]{6,7})$/.exec(id) ?? [];
  const accountId = parseAccountId(account);
  return accountId && { accountId, atMillis: Number.parseInt(seconds, 36) * 1_000 };
}
