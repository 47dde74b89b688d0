/** The fields of the OpenAI-shaped endpoint. Those that change the picture are taken or refused. */
import { createHash } from 'node:crypto';
import { isUser } from '../accounts/end-user.ts';
import type { Model } from '../catalog/catalog-schema.ts';
import { mostCount, outputFormats, plainRows } from '../contract/request-fields.ts';
import type { FieldError, FieldErrorCode } from '../values/problem.ts';
import { readJson } from '../values/read-json.ts';
import { readSize, type Size } from './size.ts';

class Wrong {
  readonly code: FieldErrorCode;
  readonly message: string;
  constructor(code: FieldErrorCode, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** The user for the `user` of an OpenAI request: the text, or its SHA-256. Undefined when empty. */
function foreignUser(value: unknown): string | undefined | Wrong {
  if (typeof value !== 'string') return new Wrong('invalid_type', 'must be a string');
  if (value === '') return undefined;
  return isUser(value) ? value : createHash('sha256').update(value).digest('hex');
}

export type OpenaiAction = 'generate' | 'edit';
export type ResponseFormat = 'b64_json' | 'url';
/** The members as they were sent, without null values. */
export type Fields = Readonly<Record<string, unknown>>;

const mostPartialImages = 3;

/** What the fields ask for, apart from the fields that POST /images/generate has, too. */
export interface OpenaiAsked {
  /** Fields of POST /images/generate that are not checked yet. */
  readonly ours: Readonly<Record<string, unknown>>;
  readonly count: number;
  readonly size: Size | 'auto';
  /** A quality that the model may not have. */
  readonly quality: string;
  /** Undefined: the request names none. */
  readonly responseFormat: ResponseFormat | undefined;
  readonly isStreamed: boolean;
  readonly ignored: readonly string[];
}

/** The fields of POST /images/generate that are taken under their own names. */
const ourFields = [
  'model',
  'prompt',
  ...plainRows.flatMap(([name]) => (name === 'quality' ? [] : [name])),
  'aspect_ratio',
  'resolution',
  'output_format',
  'metadata',
  'webhook_url',
  'max_cost',
] as const;

const foreignFields = [
  'n',
  'size',
  'quality',
  'response_format',
  'user',
  'safety_identifier',
  'stream',
  'partial_images',
] as const;

type Refused = Omit<FieldError, 'field'>;
const onlyEdits: Refused = {
  code: 'unsupported_parameter',
  message: 'only POST /images/edits takes images and masks',
};
const elsewhere: Refused = {
  code: 'unsupported_parameter',
  message: 'source images are files named image[] in a form, or images in JSON',
};

/** Fields that change the picture and are not supported. Ignoring them would sell another picture. */
const refusedFields: Readonly<Record<OpenaiAction, Readonly<Record<string, Refused>>>> = {
  generate: { mask: onlyEdits, image: onlyEdits, images: onlyEdits, image_urls: onlyEdits },
  edit: { image: elsewhere, 'image[]': elsewhere, image_urls: elsewhere },
};

/** The errors of the fields that only this endpoint has, and what the fields ask for as far as they are right. */
export function readFields(
  fields: Fields,
  action: OpenaiAction,
): { readonly asked: OpenaiAsked; readonly errors: readonly FieldError[] } {
  const errors: FieldError[] = [];
  const take = <Value>(name: string, fallback: Value, read: (value: unknown) => Value | Wrong): Value => {
    const value = fields[name];
    if (value === undefined) return fallback;
    const result = read(value);
    if (!(result instanceof Wrong)) return result;
    errors.push({ field: name, code: result.code, message: result.message });
    return fallback;
  };
  for (const [field, why] of Object.entries(refusedFields[action]))
    if (fields[field] !== undefined) errors.push({ field, ...why });
  take('output_format', undefined, readOutputFormat);
  take('partial_images', undefined, readPartialImages);
  const user = take('user', undefined, foreignUser) ?? take('safety_identifier', undefined, foreignUser);
  const asked: OpenaiAsked = {
    ours: {
      ...Object.fromEntries(ourFields.flatMap((name) => (name in fields ? [[name, fields[name]]] : []))),
      ...(user !== undefined && { user }),
    },
    count: take('n', 1, readCount),
    size: take<Size | 'auto'>('size', 'auto', readSizeField),
    quality: take('quality', 'auto', readText),
    responseFormat: take<ResponseFormat | undefined>('response_format', undefined, readResponseFormat),
    isStreamed: take('stream', false, readFlag),
    ignored: Object.keys(fields).filter((name) => !isKnown(name, action)),
  };
  return { asked, errors };
}

function isKnown(name: string, action: OpenaiAction): boolean {
  const known: readonly string[] = [...ourFields, ...foreignFields, ...Object.keys(refusedFields[action])];
  return known.includes(name) || (action === 'edit' && (name === 'images' || name === 'mask'));
}

function readCount(value: unknown): number | Wrong {
  if (typeof value !== 'number' || !Number.isInteger(value))
    return new Wrong('invalid_type', 'must be a whole number');
  if (value < 1) return new Wrong('too_small', 'at least 1');
  return value > mostCount ? new Wrong('too_big', `at most ${mostCount}`) : value;
}

function readSizeField(value: unknown): Size | 'auto' | Wrong {
  const size = typeof value === 'string' ? readSize(value) : undefined;
  return size ?? new Wrong('invalid_value', 'must be "auto" or WIDTHxHEIGHT in pixels, such as "1024x1536"');
}

function readText(value: unknown): string | Wrong {
  return typeof value === 'string' ? value : new Wrong('invalid_type', 'must be a string');
}

function readFlag(value: unknown): boolean | Wrong {
  return typeof value === 'boolean' ? value : new Wrong('invalid_type', 'must be a boolean');
}

function readResponseFormat(value: unknown): ResponseFormat | Wrong {
  if (value === 'b64_json' || value === 'url') return value;
  return new Wrong('unsupported_value', 'must be "b64_json" or "url"');
}

function readOutputFormat(value: unknown): undefined | Wrong {
  if (outputFormats.some((format) => format === value)) return undefined;
  const formats = outputFormats.map((format) => JSON.stringify(format)).join(', ');
  return new Wrong('unsupported_value', `must be one of ${formats}`);
}

function readPartialImages(value: unknown): undefined | Wrong {
  const isTaken = [...Array(mostPartialImages + 1).keys()].some((count) => count === value);
  return isTaken
    ? undefined
    : new Wrong('invalid_value', `must be a whole number from 0 to ${mostPartialImages}`);
}

const header = /^[\w.-]{1,64}$/;
const mostNames = 20;

/** The ignored fields for x-darkroom-ignored, without names that no header can hold. */
export function ignoredHeader(names: readonly string[]): string | undefined {
  const shown = names.filter((name) => header.test(name)).slice(0, mostNames);
  return shown.length > 0 ? shown.join(',') : undefined;
}

/** Names of models that libraries know, and the models of the catalog that stand in for them. */
export type Aliases = Readonly<Record<string, string>>;

/** What the OpenAI API renders when a request names no model. */
const unnamed = 'dall-e-2';

/** The id of the model that a request means, aliases first. @param name undefined: none was named */
export function modelIdOf<Name extends string | undefined>(name: Name, aliases: Aliases): Name | string {
  const wanted = name ?? unnamed;
  return Object.hasOwn(aliases, wanted) ? (aliases[wanted] ?? name) : name;
}

/**
 * What the answer shows of each picture. OpenAI's newer models return only base64. For the older ones a
 * program may read the URL without having requested it (LangChain for Python).
 */
export function shownFormats(
  { responseFormat, ours: { model = unnamed } }: Pick<OpenaiAsked, 'responseFormat' | 'ours'>,
  aliases: Aliases,
): readonly ResponseFormat[] {
  if (responseFormat) return [responseFormat];
  const isNewer = Object.hasOwn(aliases, String(model)) && !String(model).startsWith('dall-e');
  return isNewer ? ['b64_json'] : ['b64_json', 'url'];
}

/** The text fields of a multipart form, which has no types: each value of a field becomes what JSON would say. */
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

// The `quality` of an OpenAI request. A vendor's model of several qualities is one model of the catalog for each.

/** The quality of a picture, as the OpenAI API names it. */
export type Quality = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** The words of libraries, with the qualities that they mean: the first that the model has. */
export const qualityWords: Readonly<Record<string, readonly Quality[] | 'auto'>> = {
  auto: 'auto',
  low: ['low'],
  // Of GPT Image 2.6 only low and high are sold.
  medium: ['medium', 'high'],
  standard: ['medium', 'high'],
  high: ['high'],
  hd: ['high'],
  xhigh: ['xhigh', 'high'],
  max: ['max', 'xhigh', 'high'],
};

/** The quality in which every route renders the model. Undefined for a model that has no qualities. */
export function qualityOf({ routes }: Model): Quality | undefined {
  const [first] = routes;
  if (!first?.quality) return undefined;
  return routes.every(({ quality }) => quality === first.quality) ? first.quality : undefined;
}
