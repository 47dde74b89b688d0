/** The member `images` of an edit in JSON: addresses, uploads, and pictures in the address itself. */
import type { FieldError } from '../../../core/problem.ts';

/** The bytes of a picture that the request holds, or an address as image_urls of the API takes it. */
export type EditImage = Uint8Array | string;

export interface ImagesList {
  readonly images: readonly EditImage[];
  readonly errors: readonly FieldError[];
}

/** @param value `[{"image_url": "https://…"}]` */
export function readImagesList(value: unknown): ImagesList {
  if (value === undefined) return { images: [], errors: [] };
  if (!Array.isArray(value)) return { images: [], errors: [wrong('image', 'must be an array')] };
  const images: EditImage[] = [];
  const errors: FieldError[] = [];
  for (const [index, item] of value.entries()) {
    const read = readItem(item, `image[${index}]`);
    if (typeof read === 'string' || read instanceof Uint8Array) images.push(read);
    else errors.push(read);
  }
  return { images, errors };
}

function readItem(item: unknown, field: string): EditImage | FieldError {
  const isObject = typeof item === 'object' && item !== null;
  const address = isObject && 'image_url' in item ? item.image_url : undefined;
  if (typeof address !== 'string') {
    const message = 'must be an object with image_url: an https: or data: address, or upload:ID';
    return { field, code: 'unsupported_value', message };
  }
  if (!/^data:/i.test(address)) return address;
  const [, data] = /^data:[^,]*;base64,([A-Za-z0-9+/_=\s-]*)$/i.exec(address) ?? [];
  return data === undefined
    ? { field, code: 'invalid_value', message: 'a data: address must hold base64' }
    : new Uint8Array(Buffer.from(data, 'base64'));
}

function wrong(field: string, message: string): FieldError {
  return { field, code: 'invalid_type', message };
}
