/** The cursor of GET /events. It names a place in the log of one account, and is opaque to clients. */
import { createHash } from 'node:crypto';
import type { AccountId } from '../values/ids.ts';
import type { EventPlace } from './event.ts';

/**
 * The check binds the cursor to its account and finds a cursor that was cut or mistyped. It is no secret: a
 * client that makes a cursor by itself sees only events of its own account.
 */
const checkCharacters = 16;
const form = /^(0|[1-9]\d{0,11})\.(0|[1-9]\d{0,3})\.([0-9a-f]{16})$/;

export function cursorOf(account: AccountId, { page, index }: EventPlace): string {
  const place = `${page}.${index}`;
  return Buffer.from(`${place}.${checkOf(account, place)}`, 'latin1').toString('base64url');
}

/** The place of a cursor. Undefined when the text is no cursor of this account. */
export function placeOfCursor(account: AccountId, cursor: string): EventPlace | undefined {
  const [, page, index, check] = form.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (page === undefined || index === undefined || check !== checkOf(account, `${page}.${index}`))
    return undefined;
  const place = { page: Number(page), index: Number(index) };
  return cursorOf(account, place) === cursor ? place : undefined;
}

function checkOf(account: AccountId, place: string): string {
  return createHash('sha256').update(`${account} ${place}`).digest('hex').slice(0, checkCharacters);
}
