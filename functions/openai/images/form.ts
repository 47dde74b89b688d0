/** A body of multipart/form-data, as libraries send the files of an edit. Node itself reads it. */
import type { Fields } from '../../../core/openai/fields.ts';
import { formFields } from '../../../core/openai/form-fields.ts';
import { bodyNotForm, wrongContentType } from '../../http/problems.ts';
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

async function parse(body: Uint8Array, contentType: string): Promise<FormData> {
  try {
    const response = new Response(Uint8Array.from(body), { headers: { 'content-type': contentType } });
    // Node advises against this for bodies without a limit. This body is in memory already, and has one.
    return await response.formData(); // oxlint-disable-line typescript/no-deprecated
  } catch {
    throw bodyNotForm();
  }
}
