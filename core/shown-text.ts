/** Texts that people write and others read: names, references, reasons, and the message of a closed service. */
import { characters } from './characters.ts';

/** The largest number of characters in each text that is stored with an account. */
const longest = { name: 100, reference: 200, reason: 500, closing: 300 } as const;
export type ShownText = keyof typeof longest;

/**
 * C0, DEL and C1 controls, marks and overrides of the writing direction, line and paragraph separators. A terminal
 * escapes the same characters (terminal/visible-text.ts).
 */
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/u; // oxlint-disable-line no-control-regex

/** True when the text contains no unsafe character. */
export function isPrintable(text: string): boolean {
  return text.isWellFormed() && !unsafe.test(text);
}

/** What is wrong with a text that is stored and shown again. Undefined: nothing. */
export function textProblem(
  kind: ShownText,
  text: string,
): { readonly code: string; readonly message: string } | undefined {
  if (text.trim() === '') return { code: 'required', message: 'must not be empty' };
  const most = longest[kind];
  if (characters(text) > most) return { code: 'too_long', message: `must have at most ${most} characters` };
  if (!isPrintable(text)) return { code: 'invalid_value', message: 'must not contain control characters' };
  return undefined;
}
