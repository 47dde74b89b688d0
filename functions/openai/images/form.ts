/** A body of multipart/form-data, as libraries send the files of an edit. Node itself reads it. */
import type { Fields } from '../../../core/openai/fields.ts';
import { maxFormParts } from '../../../core/limits.ts';
import { formFields } from '../../../core/openai/form-fields.ts';
import { bodyNotForm, formOfTooManyParts, wrongContentType } from '../../http/problems.ts';
import { saysUtf8, type ApiRequest } from '../../http/request.ts';

export interface Form {
  readonly fields: Fields;
  /** The files named image or image[], in their order. */
  readonly files: readonly Uint8Array[];
}

/** `image[0]` is how PHP names the first of several. */
const imageField = /^image(\[\d*\])?$/;

export function saysForm({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  return /^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '');
}

/** Throws 400 when the body is no such form. */
export async function readForm({ headers, body }: ApiRequest): Promise<Form> {
  if (!saysUtf8({ headers })) throw wrongContentType('multipart/form-data in UTF-8');
  const form = await parse(body, headers['content-type'] ?? '');
  const texts: [string, string][] = [];
  const files: Uint8Array[] = [];
  for (const [name, value] of form) {
    if (typeof value === 'string') texts.push([name, value]);
    else if (imageField.test(name)) files.push(new Uint8Array(await value.arrayBuffer()));
    // A mask is refused as a field. Any other file is ignored by its name.
    else texts.push([name, '']);
  }
  return { fields: formFields(texts), files };
}

/** The value of the boundary, quoted or not (RFC 2046). */
const boundaryIn = /;\s*boundary=(?:"([^"\\]{1,70})"|([^\s;,"]{1,70}))/i;

async function parse(body: Uint8Array, contentType: string): Promise<FormData> {
  const [, quoted, bare] = boundaryIn.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) throw bodyNotForm();
  if (hasTooManyParts(body, boundary)) throw formOfTooManyParts();
  try {
    // With the boundary that was counted, whatever else the header names.
    const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
    const response = new Response(Uint8Array.from(body), { headers });
    // Node advises against this for bodies without a limit. This body is in memory already, and has one.
    return await response.formData(); // oxlint-disable-line typescript/no-deprecated
  } catch {
    throw bodyNotForm();
  }
}

/** Looks no further than the first part too many: Node takes seconds to read a form of 20,000 parts. */
function hasTooManyParts(body: Uint8Array, boundary: string): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = `--${boundary}`;
  let found = 0;
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    found += 1;
    // One more delimiter ends the form.
    if (found > maxFormParts + 1) return true;
  }
  return false;
}
