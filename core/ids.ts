/** Branded ids: one kind cannot pass for another at a call site. */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Ten base62 characters; the first part of every key of the account. */
export type AccountId = Branded<'AccountId'>;
/** Six base62 characters, unique within the account. */
export type KeyId = Branded<'KeyId'>;
/** A UUIDv7 in lower case, so that ids sort by their time. */
export type CreationId = Branded<'CreationId'>;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const accountId = /^[0-9A-Za-z]{10}$/;
const keyId = /^[0-9A-Za-z]{6}$/;

/** Unix milliseconds at which a UUIDv7 was made; undefined for any other text. */
export function timeOfUuidV7(text: string): number | undefined {
  if (!uuid.test(text) || text[14] !== '7') return undefined;
  return Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16);
}

/** The creation id in a path or payload; undefined when it has not the form of one. */
export function parseCreationId(text: string): CreationId | undefined {
  const lower = text.toLowerCase();
  return uuid.test(lower) ? (lower as CreationId) : undefined;
}

/** The account id in a token or a command; undefined when it has not the form of one. */
export function parseAccountId(text: string): AccountId | undefined {
  return accountId.test(text) ? (text as AccountId) : undefined;
}

/** The key id in a token or a command; undefined when it has not the form of one. */
export function parseKeyId(text: string): KeyId | undefined {
  return keyId.test(text) ? (text as KeyId) : undefined;
}

/**
 * A UUIDv7 (RFC 9562, 5.7): 48 bits of Unix milliseconds, then 74 random bits.
 * @param randomBytes 16 random bytes; the first six are replaced by the time
 */
export function uuidV7(nowMillis: number, randomBytes: Uint8Array): string {
  const bytes = Uint8Array.from(randomBytes.subarray(0, 16));
  let time = nowMillis;
  for (let index = 5; index >= 0; index -= 1) {
    bytes[index] = time % 256;
    time = Math.floor(time / 256);
  }
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
