/** Links with which people sign in to a service of one machine. The table keeps only the hash of a link's token. */
import { createHash } from 'node:crypto';
import { getItem, putItem } from '../service/aws/dynamodb/send.ts';
import { type ItemKey, type Table, ttlAttribute } from '../service/aws/dynamodb/table.ts';
import { inOneStep, toDelete } from '../service/portal/invitation-store.ts';

export const linkMinutes = 30;
/** People who sign in by links have this issuer. */
export const linkIssuer = 'link';
/** The link of the first owner has a fixed key, so that a later link replaces it. */
const first = 'FIRST';

export function createLinkStore(table: Table) {
  const keyOf = (place: string): ItemKey => ({ pk: `LINK#${place}`, sk: 'LINK' });
  async function make(place: string | undefined, email: string, nowMillis: number): Promise<string> {
    const token = Buffer.from(table.randomBytes(32)).toString('base64url');
    const hash = hashOf(token);
    const expiresAt = nowMillis + linkMinutes * 60_000;
    const item = { tokenHash: hash, email, expiresAt, [ttlAttribute]: Math.ceil(expiresAt / 1000) };
    await putItem(table, { ...keyOf(place ?? hash), ...item });
    return token;
  }
  /** Takes a link away, once. Undefined: there is no such link, or no longer. */
  async function take(place: string, hash: string, nowMillis: number): Promise<string | undefined> {
    const item = await getItem(table, keyOf(place));
    if (!item) return undefined;
    const values = { ':hash': hash, ':now': nowMillis };
    const taking = toDelete(keyOf(place), 'tokenHash = :hash AND expiresAt > :now', values);
    return (await inOneStep(table, [taking])) === 'done' ? String(item['email']) : undefined;
  }
  return {
    /** Returns the token of a new link. */
    make: (email: string, nowMillis: number): Promise<string> => make(undefined, email, nowMillis),
    makeFirst: (nowMillis: number): Promise<string> => make(first, '', nowMillis),
    /** The address of the person, or undefined. */
    take: (token: string, nowMillis: number): Promise<string | undefined> =>
      take(hashOf(token), hashOf(token), nowMillis),
    takeFirst: async (token: string, nowMillis: number): Promise<boolean> =>
      (await take(first, hashOf(token), nowMillis)) !== undefined,
  };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
