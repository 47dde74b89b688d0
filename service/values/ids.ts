/** Branded ids: TypeScript refuses an id of one kind instead of another. */
import { asciiLower } from './text.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Ten base62 characters. Every key of the account begins with them. */
export type AccountId = Branded<'AccountId'>;
/** Six base62 characters, unique within the account. */
export type KeyId = Branded<'KeyId'>;
/** Sixteen base62 characters, unique within the account: the key that minted the token, and ten more. */
export type TokenId = Branded<'TokenId'>;
/** A UUIDv7 in lower case. Such ids sort by the time at which they were made. */
export type CreationId = Branded<'CreationId'>;
/** `ntc_` and a UUIDv7. */
export type NoticeId = Branded<'NoticeId'>;
/** `evt_` and a UUIDv7, which holds the time of the event. Such ids sort by that time. */
export type EventId = Branded<'EventId'>;
/** A UUIDv7 in lower case. It holds the time at which the upload was announced. */
export type UploadId = Branded<'UploadId'>;
/** `we_` and fourteen base62 characters: an endpoint for webhooks, unique within the account. */
export type EndpointId = Branded<'EndpointId'>;
/** The base64url of 32 bytes: SHA-256 of the issuer and the subject of a person who signs in to the portal. */
export type PersonId = Branded<'PersonId'>;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const accountId = /^[0-9A-Za-z]{10}$/;
const keyId = /^[0-9A-Za-z]{6}$/;

const noticePrefix = 'ntc_';

const isNoticeId = (text: string): text is NoticeId =>
  text.startsWith(noticePrefix) && uuid.test(text.slice(noticePrefix.length));
const isCreationId = (text: string): text is CreationId => uuid.test(text);
const isAccountId = (text: string): text is AccountId => accountId.test(text);
const isUploadId = (text: string): text is UploadId => timeOfUuidV7(text) !== undefined;
const isPersonId = (text: string): text is PersonId => /^[\w-]{43}$/.test(text);
const isTokenId = (text: string): text is TokenId => /^[0-9A-Za-z]{16}$/.test(text);
const isEndpointId = (text: string): text is EndpointId => /^we_[0-9A-Za-z]{14}$/.test(text);
const isKeyId = (text: string): text is KeyId => keyId.test(text);

/** The Unix milliseconds at which a UUIDv7 was made. Undefined for every other text. */
export function timeOfUuidV7(text: string): number | undefined {
  if (!uuid.test(text) || text[14] !== '7') return undefined;
  return Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16);
}

/** Reads a creation id of a path or a payload. Undefined when the text is not a UUID. */
export function parseCreationId(text: string): CreationId | undefined {
  const lower = asciiLower(text);
  return isCreationId(lower) ? lower : undefined;
}

/** Reads a notice id of a payload or an item. Undefined when the text is not `ntc_` and a UUID. */
export function parseNoticeId(text: string): NoticeId | undefined {
  return isNoticeId(text) ? text : undefined;
}

/** A new notice id. @param randomBytes 16 random bytes */
export function newNoticeId(nowMillis: number, randomBytes: Uint8Array): NoticeId {
  return `${noticePrefix}${uuidV7(nowMillis, randomBytes)}` as NoticeId;
}

/** The id of the work of a creation's copy: it follows from the creation, so that it is owed once. */
export function noticeIdOfCopy(id: CreationId): NoticeId {
  return `${noticePrefix}${id}` as NoticeId;
}

const eventPrefix = 'evt_';

/** The id of an end's event: its time, and the random part of the creation's id. Nobody stores it. */
export function eventIdOfEnd(id: CreationId, atMillis: number): EventId {
  const time = atMillis.toString(16).padStart(12, '0');
  return `${eventPrefix}${time.slice(0, 8)}-${time.slice(8)}${id.slice(13)}` as EventId;
}

/** The id of the event of a notice: both have the same UUID. */
export function eventIdOfNotice(id: NoticeId): EventId {
  return `${eventPrefix}${id.slice(noticePrefix.length)}` as EventId;
}

/** A new event id. @param randomBytes 16 random bytes */
export function newEventId(nowMillis: number, randomBytes: Uint8Array): EventId {
  return `${eventPrefix}${uuidV7(nowMillis, randomBytes)}` as EventId;
}

export function timeOfEvent(id: EventId): number {
  return timeOfUuidV7(id.slice(eventPrefix.length)) ?? 0;
}

/** Reads an account id of a token or a command. Undefined when the text is not ten base62 characters. */
export function parseAccountId(text: string): AccountId | undefined {
  return isAccountId(text) ? text : undefined;
}

/** Reads a key id of a token or a command. Undefined when the text is not six base62 characters. */
export function parseKeyId(text: string): KeyId | undefined {
  return isKeyId(text) ? text : undefined;
}

/** Reads a token id of a path. Undefined when the text is not sixteen base62 characters. */
export function parseTokenId(text: string): TokenId | undefined {
  return isTokenId(text) ? text : undefined;
}

/** Reads the id of an endpoint. Undefined when the text is not `we_` and fourteen base62 characters. */
export function parseEndpointId(text: string): EndpointId | undefined {
  return isEndpointId(text) ? text : undefined;
}

/** A new id of an endpoint. @param randomBytes gives the asked number of random bytes */
export function newEndpointId(randomBytes: (count: number) => Uint8Array): EndpointId {
  return `we_${randomBase62(14, randomBytes)}` as EndpointId;
}

/** Reads a person id of a path or a cookie. Undefined when the text is not the base64url of 32 bytes. */
export function parsePersonId(text: string): PersonId | undefined {
  return isPersonId(text) ? text : undefined;
}

/** Reads the id of an upload in image_urls. Undefined when the text is not a UUIDv7 in lower case. */
export function parseUploadId(text: string): UploadId | undefined {
  return isUploadId(text) ? text : undefined;
}

/** A UUIDv7 (RFC 9562, 5.7). @param randomBytes 16, of which the time replaces the first six */
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

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A value in base62, padded with zeros on the left to the given length. */
export function toBase62(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = (digits[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}

/**
 * A random base62 text in which every digit is equally likely. Bytes of 248 and above are
 * skipped, since 256 is not a multiple of 62.
 * @param randomBytes gives the asked number of random bytes; called until the text is long enough
 */
export function randomBase62(length: number, randomBytes: (count: number) => Uint8Array): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += digits[byte % 62] ?? '';
    }
  }
  return text;
}

/** The name of the nth execution of a creation or a notice: its id, then id-2, id-3. */
export function executionName(id: CreationId | NoticeId, number: number): string {
  return number === 1 ? id : `${id}-${number}`;
}
