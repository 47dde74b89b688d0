/** The text fields of a multipart form, which has no types: each value of a field becomes what JSON would say. */
import { readJson } from '../read-json.ts';
import { plainRows } from '../request-fields.ts';
import type { Fields } from './fields.ts';

type Read = (text: string) => unknown;

const number: Read = (text) => (/^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text);
const flag: Read = (text) => (text === 'true' ? true : text === 'false' ? false : text);
const json: Read = (text) => {
  const read = readJson(text);
  return read.kind === 'value' ? read.value : text;
};

const kinds: Readonly<Record<string, Read>> = {
  n: number,
  ...Object.fromEntries(
    plainRows.flatMap(([name, { kind }]) => (kind === 'integer' ? [[name, number]] : [])),
  ),
  max_cost: number,
  partial_images: number,
  output_compression: number,
  stream: flag,
  metadata: json,
};

/** A text that is not of its field's kind stays a text, and is refused as such. */
export function formFields(texts: readonly (readonly [name: string, text: string])[]): Fields {
  return Object.fromEntries(
    texts.map(([name, text]) => [name, Object.hasOwn(kinds, name) ? kinds[name]?.(text) : text]),
  );
}
