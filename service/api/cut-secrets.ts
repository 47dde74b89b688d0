/** What the log of refused requests may show of a text that a client sent: no secret, no picture, and not much. */
import { maxBodyBytes } from '../contract/limits.ts';

/** The log keeps less than a KB of a body. With this limit no pattern takes longer than some milliseconds. */
const mostRead = 4_096;

type Cut = readonly [pattern: RegExp, stays: string];

/** Pictures, tokens and hashes. An id of the service has 36 characters. */
const longTexts: readonly Cut[] = [
  [/data:[\w.+-]*\/[^\s"',]*,?[^\s"']*/gi, 'data:…'],
  [/[\w+/=-]{40,}/g, '…'],
];

const secrets: readonly Cut[] = [
  // Name and password, query and fragment: a signed address opens without a key.
  [/(https?:\/\/)[^\s"'\\/?#@]*@/gi, '$1…@'],
  [/(https?:\/\/[^\s"'\\?#]*)[?#][^\s"'\\]*/gi, '$1?…'],
  [/\b(dk_|whsec_|sk-|bearer\s+|basic\s+)[\w.~+/=-]+/gi, '$1…'],
  [/("\w*(?:secret|password|token|authorization|api_?key)\w*"\s*:\s*)"(?:[^"\\]|\\.)*"?/gi, '$1"…"'],
];

function without(cuts: readonly Cut[], text: string): string {
  return cuts.reduce((left, [pattern, stays]) => left.replace(pattern, stays), text);
}

export function cutSecrets(text: string): string {
  return without(secrets, without(longTexts, text));
}

/** Path and query. A path is one long text itself. */
export function shownPath(text: string): string {
  return without(secrets, text.replaceAll(/[\w+=-]{40,}/g, '…'));
}

/** A body as the log keeps it. Undefined: it has none, or it begins with no text, as a form with a picture does. */
export function shownBody(body: Uint8Array): string | undefined {
  const sent = Buffer.from(body).toString('utf8', 0, maxBodyBytes);
  const text = without(longTexts, plainJson(sent) ?? sent);
  const read = text.slice(0, mostRead);
  // oxlint-disable-next-line no-control-regex
  if (read === '' || /[\u0000-\u0008\ufffd]/.test(read)) return undefined;
  // What the limit cuts off may be too short to be known as a secret, so the last word goes as well.
  return without(secrets, text.length > mostRead ? read.replace(/[^\s"',]*$/, '') : read);
}

/** Without escapes, in which a secret could hide. Undefined: it is no JSON. */
function plainJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}
