/** JSON of a stranger, measured before it is parsed: deep lists would end what recurses later. */
import { maxJsonDepth, maxJsonValues } from '../contract/limits.ts';

export type ReadJson =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'not_json' | 'too_deep' | 'too_many' };

/** Reads a text of at most 32 levels. @param mostValues members and items together */
export function readJson(text: string, mostValues = maxJsonValues): ReadJson {
  const excess = excessOf(text, mostValues);
  if (excess) return { kind: excess };
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch {
    return { kind: 'not_json' };
  }
}

/** Reads JSON of a vendor, of which a text that cannot be read is as good as none. Its lists may be long. */
export function readVendorJson(text: string): unknown {
  const read = readJson(text, Infinity);
  return read.kind === 'value' ? read.value : undefined;
}

/** One pass over the text. A text that is no JSON is measured alike: brackets open, and commas separate values. */
function excessOf(text: string, mostValues: number): 'too_deep' | 'too_many' | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    else if (character === ',') values += 1;
    if (depth > maxJsonDepth) return 'too_deep';
    if (values > mostValues) return 'too_many';
  }
  return undefined;
}

/** The index of the quote that ends the string, or the end of the text. Strings can be whole pictures. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}
