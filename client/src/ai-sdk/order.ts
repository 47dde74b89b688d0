/** Makes the request of the API from the call of `generateImage`, and uploads the files of the call. */
import type { Darkroom } from '../darkroom.ts';
import { DarkroomError } from '../errors.ts';
import type { AspectRatio, ImageRequest, Model, Resolution } from '../types/generated.ts';
import type { CallOptions, CallWarning, ImageFile } from './specification.ts';

/** From how many pixels on a size is this resolution; the largest resolution first. */
const fromPixels: readonly (readonly [Resolution, number])[] = [
  ['4K', 6_000_000],
  ['2K', 2_097_152],
  ['1K', 0],
];
const ascending: readonly Resolution[] = ['1K', '2K', '4K'];

export interface Side {
  readonly width: number;
  readonly height: number;
}

/** `1024x1536` in numbers. Undefined when the text is no size. */
function sideOf(size: string): Side | undefined {
  const [, width = '', height = ''] = /^(\d+)x(\d+)$/.exec(size) ?? [];
  const side = { width: Number(width), height: Number(height) };
  return side.width > 0 && side.height > 0 ? side : undefined;
}

/** The ratio of the model that is nearest to that of the size. */
function nearestRatio({ width, height }: Side, { aspect_ratios }: Model): AspectRatio | undefined {
  const wanted = Math.log(width / height);
  const distance = (ratio: AspectRatio): number => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(across / down) - wanted);
  };
  return [...aspect_ratios].sort((one, other) => distance(one) - distance(other))[0];
}

/** The resolution for a number of pixels. If the model lacks it: the next larger one, or else the largest. */
function fittingResolution({ width, height }: Side, { resolutions }: Model): Resolution | undefined {
  const wanted = fromPixels.find(([, pixels]) => width * height >= pixels)?.[0] ?? '1K';
  const offered = ascending.filter((one) => resolutions.includes(one));
  return offered.find((one) => ascending.indexOf(one) >= ascending.indexOf(wanted)) ?? offered.at(-1);
}

/**
 * `providerOptions.darkroom`: every field of a request of the API that `generateImage` has no name for, and
 * two options of the client library.
 *
 * @example
 * ```ts
 * import type { DarkroomImageOptions } from 'darkroom-client/ai-sdk';
 *
 * const options: DarkroomImageOptions = { resolution: '2K', max_cost: 0.1, metadata: { order: '4711' } };
 * console.log(JSON.stringify(options)); // {"resolution":"2K","max_cost":0.1,"metadata":{"order":"4711"}}
 * ```
 */
// An interface would not be the JSON that `ai` asks for.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type DarkroomImageOptions = {
  resolution?: NonNullable<ImageRequest['resolution']>;
  output_format?: NonNullable<ImageRequest['output_format']>;
  metadata?: Record<string, string>;
  /** For whom you render. */
  user?: string;
  /** The most that each image may cost, in USD. */
  max_cost?: number;
  webhook_url?: string;
  /** The call is paid once, however often it is made with this key. */
  idempotencyKey?: string;
  /** For how many milliseconds to wait for an image: 300,000 by default. */
  timeoutMs?: number;
};

export interface Order {
  /** Without its source images. */
  readonly request: ImageRequest;
  readonly idempotencyKey: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly warnings: readonly CallWarning[];
}

/** The header in which a program can name the key, as in a request of its own. */
const keyHeader = 'idempotency-key';
/** `ai` names itself in this header. */
const ownHeaders: readonly string[] = [keyHeader, 'user-agent'];

/** @param model reads what the model offers; it is asked only for a size */
export async function orderOf(
  call: CallOptions,
  modelId: string,
  model: () => Promise<Model | undefined>,
): Promise<Order> {
  const { prompt, seed, aspectRatio, headers = {} } = call;
  const { idempotencyKey, timeoutMs, ...own } = call.providerOptions['darkroom'] ?? {};
  const given = Object.entries(headers).filter(([, value]) => value !== undefined);
  const keyOfHeader = given.find(([name]) => name.toLowerCase() === keyHeader)?.[1];
  const foreign = given.map(([name]) => name).filter((name) => !ownHeaders.includes(name.toLowerCase()));
  const request = {
    model: modelId,
    ...(prompt !== undefined && { prompt }),
    ...(await formOf(call, model)),
    ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio as AspectRatio }),
    ...(seed !== undefined && { seed }),
    // The service refuses a field that it does not have, and says so.
    ...own,
  };
  return {
    request,
    idempotencyKey: (idempotencyKey as string | undefined) ?? keyOfHeader,
    timeoutMs: timeoutMs as number | undefined,
    warnings:
      foreign.length === 0
        ? []
        : [{ type: 'unsupported', feature: 'headers', details: `Not sent: ${foreign.join(', ')}.` }],
  };
}

/** The ratio and the resolution that come nearest to the size. */
async function formOf(
  { size }: CallOptions,
  model: () => Promise<Model | undefined>,
): Promise<Pick<ImageRequest, 'aspect_ratio' | 'resolution'>> {
  if (size === undefined) return {};
  const side = sideOf(size);
  if (!side) throw new DarkroomError(`A size is WIDTHxHEIGHT in pixels, and not ${size}.`);
  const offered = await model();
  // The service says that there is no such model.
  if (!offered) return {};
  const ratio = nearestRatio(side, offered);
  const resolution = fittingResolution(side, offered);
  return { ...(ratio && { aspect_ratio: ratio }), ...(resolution && { resolution }) };
}

/** Uploads the files of a call. A file that comes again within an hour is not uploaded again. */
interface Uploaded {
  readonly address: string;
  readonly until: number;
}

/** An entry of an upload lasts for a day. */
const keptMillis = 3_600_000;
const mostKept = 100;

/**
 * `ai` makes a call again with the same files. The request is the same only with the same addresses, and a
 * request with an Idempotency-Key must be the same.
 */
export class SourceFiles {
  readonly #darkroom: Darkroom;
  readonly #now: () => number;
  readonly #uploaded = new Map<string, Uploaded>();

  constructor(darkroom: Darkroom, now: () => number) {
    this.#darkroom = darkroom;
    this.#now = now;
  }

  /** The entry for `image_urls`. */
  async addressOf(file: ImageFile, signal: AbortSignal | undefined): Promise<string> {
    if (file.type === 'url') return file.url;
    const bytes = typeof file.data === 'string' ? bytesOf(file.data) : file.data;
    const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
    const name = String.fromCharCode(...new Uint8Array(digest));
    const known = this.#uploaded.get(name);
    if (known && known.until > this.#now()) return known.address;
    const address = await this.#darkroom.uploads.create(bytes, { signal });
    this.#keep(name, { address, until: this.#now() + keptMillis });
    return address;
  }

  #keep(name: string, uploaded: Uploaded): void {
    this.#uploaded.delete(name);
    this.#uploaded.set(name, uploaded);
    const [oldest] = this.#uploaded.keys();
    if (this.#uploaded.size > mostKept && oldest !== undefined) this.#uploaded.delete(oldest);
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
