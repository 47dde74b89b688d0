/** The small values that requests and answers share. A name in `meta` becomes a component of the document. */
import * as z from 'zod';
import { aspectRatios, outputFormats, resolutions } from '../../core/image-formats.ts';
import type { PlainField } from '../../core/request-fields.ts';

export const resolution = z
  .enum(resolutions)
  .meta({ id: 'Resolution', description: 'The size of the image. GET /models lists what a model renders.' });

export const aspectRatio = z
  .enum(aspectRatios)
  .meta({ id: 'AspectRatio', description: 'Width to height of the image.' });

export const outputFormat = z
  .enum(outputFormats)
  .meta({ id: 'OutputFormat', description: 'The format of the image file.' });

export const currency = z.literal('USD').meta({ description: 'All amounts are US dollars.' });

/** An amount in USD. It has at most 6 decimals. */
export function usd(description: string): z.ZodNumber {
  return z.number().meta({ description });
}

/** RFC 3339, in UTC. */
export function moment(description: string): z.ZodISODateTime {
  return z.iso.datetime().meta({ description });
}

export const metadata = z.record(z.string(), z.string()).meta({
  description: 'The metadata of the request, under exactly its keys.',
});

// Not \p{Cc}, which not every reader of the document understands.
// oxlint-disable-next-line eslint/no-control-regex
const noControlCharacter = /^[^\u0000-\u001F\u007F-\u009F]*$/;

/** For whom the client renders. Lengths count code points. */
export function user(description: string): z.ZodString {
  return z.string().min(1).max(64).regex(noControlCharacter).meta({ description });
}

export function plainSchema(field: PlainField): z.ZodType {
  if (field.kind === 'integer') return z.int().min(field.least).max(field.most);
  return field.kind === 'choice' ? z.enum(field.values) : z.string();
}
