/**
 * Makes text from receivers, vendors and clients safe for a terminal. Control characters could move the
 * cursor or change colours. Characters that set the writing direction could hide parts of the text.
 */

/** C0, DEL and C1 controls, marks and overrides of the writing direction, line and paragraph separators. */
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/gu; // oxlint-disable-line no-control-regex
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Replaces every unsafe character by its escape, so that a terminal shows `\u001b[2J` and clears nothing. */
export function visibleText(text: string): string {
  return text.replace(unsafe, (character) => named[character] ?? escaped(character));
}

/** Like JSON.stringify, with an escape for every unsafe character. The parsed value is the same. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(unsafe, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
