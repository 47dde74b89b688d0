/** The answers that the vendors document, as files of tools/vendors/answers. */
import { readFileSync } from 'node:fs';
import { fieldsOf, type Fields } from './fake-vendor.ts';

/**
 * One recorded answer. The file has names in angle brackets, such as <id>, where a real answer differs each
 * time. Each name is replaced by its value; a name without a value becomes empty.
 */
export function recordedAnswer(
  vendor: string,
  name: string,
  values: Readonly<Record<string, string>> = {},
): Fields {
  const text = readFileSync(new URL(`../answers/${vendor}/${name}.json`, import.meta.url), 'utf8');
  const filled = text.replaceAll(/<([a-z]+)>/g, (_whole, placeholder: string) => values[placeholder] ?? '');
  return fieldsOf(JSON.parse(filled));
}
