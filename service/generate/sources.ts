/** The source images, checked before the charge and copied into our bucket: no provider fetches them. */
import type { Caller } from '../api/admit.ts';
import type { QuoteServices } from '../api/open.ts';
import {
  type ImagePlace,
  sourceNotFetched,
  sourceOfTooManyPixels,
  sourceSizeInvalid,
  sourceTooLarge,
  sourceUnsupported,
  sourceUnusable,
  uploadNotUsable,
} from '../api/problems.ts';
import { allSourcesTimeoutMillis, maxSourcePixels, sourcesAtOnce, sourceSide } from '../contract/limits.ts';
import type { StoredImage } from '../creations/creation.ts';
import type { ImageRequest } from '../creations/image-request.ts';
import type { SourceResult } from '../outbound/outbound.ts';
import { namesUpload, type Upload, uploadAddress, uploadIdsIn } from '../uploads/upload.ts';
import { extensionOf, type ImageHeader, readImageHeader } from '../values/image-bytes.ts';
import type { SubmitServices } from './open.ts';
import type { Plan } from './plan.ts';

// The uploads that image_urls names: their records, and their bytes.

/** The addresses of the source images, and then that of the mask. */
export function addressesOf({ imageUrls, maskUrl }: Pick<ImageRequest, 'imageUrls' | 'maskUrl'>): string[] {
  return [...imageUrls, ...(maskUrl === undefined ? [] : [maskUrl])];
}

function placeOf(index: number, { imageUrls }: Pick<ImageRequest, 'imageUrls'>): ImagePlace {
  return index < imageUrls.length ? index : 'mask';
}

/** The uploads that the request names, by their addresses. Throws 400 for the first that is not usable. */
export async function findUploads(
  request: Pick<ImageRequest, 'imageUrls' | 'maskUrl'>,
  { account, nowMillis, token }: Caller,
  { uploads }: Pick<QuoteServices, 'uploads'>,
): Promise<ReadonlyMap<string, Upload>> {
  const addresses = addressesOf(request);
  const ids = uploadIdsIn(addresses);
  if (ids.length === 0) return new Map();
  const known = await uploads.usable(account.id, ids, nowMillis);
  const usable = token ? known.filter(({ user }) => user === token.user) : known;
  const found = new Map(usable.map((upload) => [uploadAddress(upload.id), upload]));
  const missing = addresses.findIndex((address) => namesUpload(address) && !found.has(address));
  if (missing >= 0) throw uploadNotUsable(placeOf(missing, request));
  return found;
}

/** The bytes of an upload that the request names. Throws 400 when the upload was never filled. */
async function readUpload(
  { key }: Upload,
  place: ImagePlace,
  signal: AbortSignal,
  { images }: Pick<SubmitServices, 'images'>,
): Promise<Uint8Array> {
  const bytes = await images.upload(key, signal);
  if (!bytes) throw uploadNotUsable(place);
  return bytes;
}

type Services = Pick<SubmitServices, 'outbound' | 'uploads' | 'images' | 'randomBytes' | 'clock' | 'budget'>;

/** The images of a request, as they lie in the bucket. */
export interface CopiedImages {
  readonly sources: readonly StoredImage[];
  readonly mask?: StoredImage;
}

/** The copies, in order. Throws 400 or 502 for the first bad image. @param inline bytes in the request */
export async function copySources(
  { request }: Plan,
  caller: Caller,
  services: Services,
  inline: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<CopiedImages> {
  // A mask belongs to a source image, so without sources there is none.
  if (request.imageUrls.length === 0) return { sources: [] };
  // A download costs more than a refusal, so the request is counted before the first download.
  await caller.rateSlot.take();
  const uploads = await findUploads(request, caller, services);
  const limit = services.clock.timeout(allSourcesTimeoutMillis);
  const signal = AbortSignal.any([limit.signal, services.budget.signal]);
  const fetch = async (url: string, index: number, stop: AbortSignal): Promise<ImageBytes> => {
    const place = placeOf(index, request);
    const held = inline.get(url);
    if (held) return checked(held, place);
    const until = AbortSignal.any([signal, stop]);
    const upload = uploads.get(url);
    return upload
      ? checked(await readUpload(upload, place, until, services), place)
      : usable(await services.outbound.fetchSource(url, until), place);
  };
  const fetched = await inLanes(addressesOf(request), fetch).finally(() => {
    limit.release();
  });
  const [first] = fetched;
  const mask = fetched[request.imageUrls.length];
  if (first && mask) await checkMask(mask, first);
  const stored = await Promise.all(fetched.map(({ bytes, ...header }) => store(header, bytes, services)));
  const sources = stored.slice(0, request.imageUrls.length);
  const storedMask = stored[request.imageUrls.length];
  return storedMask ? { sources, mask: storedMask } : { sources };
}

async function checkMask(mask: ImageBytes, source: ImageBytes): Promise<void> {
  const { maskProblem } = await import('./mask-problem.ts');
  const problem = maskProblem(mask, source);
  if (problem) throw sourceUnusable(problem.place, problem.code, problem.message);
}

/** At most four downloads at a time. A failed one ends the later ones; the answer names the lowest. */
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

type ImageBytes = ImageHeader & { readonly bytes: Uint8Array };

function usable(result: SourceResult, place: ImagePlace): ImageBytes {
  switch (result.kind) {
    case 'refused':
      throw sourceUnusable(place, 'refused_target', result.why);
    case 'too_large':
      throw sourceTooLarge(place);
    case 'failed':
      throw sourceNotFetched(place, result.retryable);
    case 'fetched':
      return checked(result.bytes, place);
  }
}

/** Decides by the bytes alone: the address and the server's content type may be wrong. */
function checked(bytes: Uint8Array, place: ImagePlace): ImageBytes {
  const header = readImageHeader(bytes);
  if (!header) throw sourceUnsupported(place);
  const { width, height } = header;
  const isTooSmall = Math.min(width, height) < sourceSide.least;
  if (isTooSmall || Math.max(width, height) > sourceSide.most) throw sourceSizeInvalid(place, width, height);
  if (width * height > maxSourcePixels) throw sourceOfTooManyPixels(place, width, height);
  return { ...header, bytes };
}

async function store(
  header: Omit<ImageBytes, 'bytes'>,
  bytes: Uint8Array,
  { images, randomBytes }: Services,
): Promise<StoredImage> {
  const name = Buffer.from(randomBytes(24)).toString('base64url');
  const image = {
    ...header,
    key: `sources/${name}.${extensionOf[header.contentType]}`,
    bytes: bytes.byteLength,
  };
  await images.put(image, bytes);
  return image;
}
