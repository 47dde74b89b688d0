import { createHash } from 'node:crypto';

/** The Idempotency-Key of a request. */
export type IdempotencyKey =
  | { readonly kind: 'absent' }
  /** Not 1 to 255 printable ASCII characters. */
  | { readonly kind: 'malformed' }
  /**
   * `hash`: SHA-256 of the key, in hex. The record is stored under the hash: a key may be long, and is
   * private.
   */
  | ({ readonly kind: 'valid'; readonly hash: string } & Partial<OwnKey>);

/** What a key has besides its hash when the service itself makes it of a whole request. */
export interface OwnKey {
  /** The hash of the request. Absent: it is the hash of the body. */
  readonly requestHash: string;
  /** How long the key names the creation. Absent: 24 h. */
  readonly seconds: number;
}

const printable = /^[\x20-\x7e]{1,255}$/;

/** Reads the header, with or without the quotes around the key. */
export function readIdempotencyKey(header: string | undefined): IdempotencyKey {
  if (header === undefined) return { kind: 'absent' };
  const trimmed = header.trim();
  const bare = /^"(.*)"$/.exec(trimmed)?.[1] ?? trimmed;
  if (!printable.test(bare)) return { kind: 'malformed' };
  return { kind: 'valid', hash: createHash('sha256').update(bare).digest('hex') };
}
