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
