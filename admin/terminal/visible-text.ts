/**
 * Foreign text (of a receiver, a vendor, a client) as a terminal may show it. Control characters could move
 * the cursor or change colours, and characters that set the direction of writing could hide what stands there.
 */

/** C0, DEL, C1, the marks and overrides of direction, and the separators of lines and paragraphs. */
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/gu; // eslint-disable-line no-control-regex
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text with every unsafe character as its escape: `\u001b[2J` instead of a cleared screen. */
export function visibleText(text: string): string {
  return text.replace(unsafe, (character) => named[character] ?? escaped(character));
}

/** True when a terminal shows the text as it stands. */
export function isPrintable(text: string): boolean {
  return text.isWellFormed() && visibleText(text) === text;
}

/** One line of JSON of the same value as JSON.stringify gives, without an unsafe character in it. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(unsafe, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
