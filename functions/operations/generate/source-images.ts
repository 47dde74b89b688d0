/**
 * The source images of a request: fetched and looked at before anything is charged, then
 * copied into the service's own bucket, so that a provider never follows a client's address.
 */
import type { StoredImage } from '../../../core/creation.ts';
import { readImageHeader } from '../../../core/image-bytes.ts';
import {
  allSourcesTimeoutMillis,
  maxSourceBytes,
  maxSourcePixels,
  sourcesAtOnce,
  sourceSide,
} from '../../../core/limits.ts';
import type { SourceResult } from '../../../core/ports/outbound.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import type { SubmitServices } from '../../services.ts';

type Services = Pick<SubmitServices, 'outbound' | 'images' | 'randomBytes' | 'clock' | 'budget'>;

/** The copies, in the request's order. Throws 400 or 502 for the first image, by its place, that cannot be used. */
export async function copySources(urls: readonly string[], services: Services): Promise<StoredImage[]> {
  if (urls.length === 0) return [];
  const limit = services.clock.timeout(allSourcesTimeoutMillis);
  const signal = AbortSignal.any([limit.signal, services.budget.signal]);
  const fetch = async (url: string, index: number, stop: AbortSignal): Promise<ImageBytes> =>
    usable(await services.outbound.fetchSource(url, AbortSignal.any([signal, stop])), index);
  const fetched = await inLanes(urls, fetch).finally(() => {
    limit.release();
  });
  return Promise.all(fetched.map(({ bytes, ...header }) => store(header, bytes, services)));
}

/**
 * At most four at a time. Once one fails, those behind it are not worth waiting for; those before it
 * go on, since the first failure by its place is the one to tell.
 */
async function inLanes<Result>(
  urls: readonly string[],
  work: (url: string, index: number, stop: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const stops = urls.map(() => new AbortController());
  const queue = urls.entries();
  let first: { readonly index: number; readonly error: unknown } | undefined;
  const fail = (index: number, error: unknown): void => {
    if (first && first.index < index) return;
    first = { index, error };
    for (const stop of stops.slice(index + 1)) stop.abort();
  };
  const lane = async (): Promise<void> => {
    for (const [index, url] of queue) {
      const stop = stops[index]?.signal;
      if (stop === undefined || stop.aborted) return;
      try {
        results[index] = await work(url, index, stop);
      } catch (error) {
        fail(index, error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(sourcesAtOnce, urls.length) }, lane));
  if (first) throw first.error;
  return results;
}

type ImageBytes = Pick<StoredImage, 'width' | 'height' | 'contentType'> & { readonly bytes: Uint8Array };

function usable(result: SourceResult, index: number): ImageBytes {
  switch (result.kind) {
    case 'refused':
      throw unusable(index, 'refused_target', result.why);
    case 'too_large':
      throw unusable(index, 'too_large', `must have at most ${maxSourceBytes / 1_000_000} MB`);
    case 'failed':
      throw fetchFailed(index, result.retryable);
    case 'fetched':
      return checked(result.bytes, index);
  }
}

/** By the bytes alone: neither the address nor the server's content type is believed. */
function checked(bytes: Uint8Array, index: number): ImageBytes {
  const header = readImageHeader(bytes);
  if (!header) throw unusable(index, 'unsupported_type', 'must be a JPEG, PNG or WebP image');
  const { width, height } = header;
  if (Math.min(width, height) < sourceSide.least || Math.max(width, height) > sourceSide.most) {
    throw unusable(
      index,
      'invalid_size',
      `each side must have ${sourceSide.least} to ${sourceSide.most} pixels; this has ${width} x ${height}`,
    );
  }
  if (width * height > maxSourcePixels) {
    throw unusable(
      index,
      'too_many_pixels',
      `must have at most 25 megapixels; this has ${width} x ${height}`,
    );
  }
  return { ...header, bytes };
}

function unusable(index: number, code: string, message: string): Problem {
  return invalidRequest([{ field: `image_urls[${index}]`, code, message }]);
}

function fetchFailed(index: number, retryable: boolean): Problem {
  const message = `The source image ${index} could not be downloaded. Nothing was started and nothing was charged.`;
  return new Problem('ERR_INPUT_FETCH_FAILED', message, {
    reason: 'input_fetch_failed',
    retryable,
    input_index: index,
  });
}

const extensions: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
};

async function store(
  header: Omit<ImageBytes, 'bytes'>,
  bytes: Uint8Array,
  { images, randomBytes }: Services,
): Promise<StoredImage> {
  const name = Buffer.from(randomBytes(24)).toString('base64url');
  const image = {
    ...header,
    key: `sources/${name}.${extensions[header.contentType] ?? 'bin'}`,
    bytes: bytes.byteLength,
  };
  await images.put(image, bytes);
  return image;
}
