/** The answers that the vendors document: tools/vendors/answers has a file for each vendor. */
import { readFileSync } from 'node:fs';
import { fieldsOf, type Fields } from './fake-vendor.ts';

const read = new Map<string, Fields>();

/**
 * One recorded answer of a vendor, by its name in the vendor's file. An answer has names in angle brackets, such
 * as <id>, where a real answer differs each time. Each name is replaced by its value; a name without a value
 * becomes empty. Throws when the file has no answer of this name.
 */
export function recordedAnswer(
  vendor: string,
  name: string,
  values: Readonly<Record<string, string>> = {},
): Fields {
  const answer = answersOf(vendor)[name];
  if (answer === undefined) throw new Error(`tools/vendors/answers/${vendor}.json has no answer "${name}"`);
  const text = JSON.stringify(answer);
  const filled = text.replaceAll(/<([a-z]+)>/g, (_whole, placeholder: string) => values[placeholder] ?? '');
  return fieldsOf(JSON.parse(filled));
}

function answersOf(vendor: string): Fields {
  const answers =
    read.get(vendor) ??
    fieldsOf(JSON.parse(readFileSync(new URL(`../answers/${vendor}.json`, import.meta.url), 'utf8')));
  read.set(vendor, answers);
  return answers;
}
