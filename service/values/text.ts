/** Texts that people write and others read: names, references, reasons, and the message of a closed service. */
import { timingSafeEqual } from 'node:crypto';

/** The length in Unicode code points, the unit of every limit: an emoji is one character. */
export function characters(text: string): number {
  return Array.from(text).length;
}

/** A to Z in lower case, and nothing else: toLowerCase() makes the Kelvin sign (U+212A) a "k". */
export function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The largest number of characters in each text that is stored with an account. */
const longest = { name: 100, reference: 200, reason: 500, closing: 300 } as const;
export type ShownText = keyof typeof longest;

/** Control characters, overrides of the writing direction, line and paragraph separators. */
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/u; // oxlint-disable-line no-control-regex

export function isPrintable(text: string): boolean {
  return text.isWellFormed() && !unsafe.test(text);
}

/** What is wrong with a text that is stored and shown again. Undefined: nothing. */
export function textProblem(
  kind: ShownText,
  text: string,
): { readonly code: 'required' | 'too_long' | 'invalid_value'; readonly message: string } | undefined {
  if (text.trim() === '') return { code: 'required', message: 'must not be empty' };
  const most = longest[kind];
  if (characters(text) > most) return { code: 'too_long', message: `must have at most ${most} characters` };
  if (!isPrintable(text)) return { code: 'invalid_value', message: 'must not contain control characters' };
  return undefined;
}

/** Reads parts of a file. A byte after the end of the file counts as 0, and equals nothing. */

export function has(bytes: Uint8Array, at: number, expected: readonly number[]): boolean {
  return expected.every((byte, i) => bytes[at + i] === byte);
}

export function ascii(text: string): number[] {
  return Array.from(text, (character) => character.charCodeAt(0));
}

export function bigEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = 0; i < count; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}

export function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = count - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}

/** The beginning of a text, in UTF-8, without half a character. */
export function firstBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  const first = bytes.subarray(0, Math.max(0, most));
  return bytes.length <= most ? text : new TextDecoder().decode(first, { stream: true });
}

/** Compares two stored hashes in constant time. */
export function sameHash(presented: string, stored: string): boolean {
  const a = Buffer.from(presented, 'hex');
  const b = Buffer.from(stored, 'hex');
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Half of a surrogate pair. UTF-8 cannot express it, so an answer could not return it unchanged. */
export const loneSurrogate = {
  code: 'invalid_encoding',
  message: 'must not contain half of a surrogate pair',
} as const;
