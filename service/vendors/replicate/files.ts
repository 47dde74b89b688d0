/**
 * Source images for Replicate. Small images are part of the request. Larger images are uploaded first, as the
 * vendor asks. The vendor deletes uploads after a time.
 *
 * @see https://replicate.com/docs/reference/http#files.create (100 MB; read 2026-11-21)
 */
import { type ProviderCredentials, type Refused, refusedBy, type SourceImage } from '../provider.ts';
import {
  CallBroke,
  detailOf,
  fieldsOf,
  retryAfterOf,
  unknownAnswer,
  type VendorHttp,
  type VendorResponse,
} from '../vendor-http.ts';
import { dataUriOf, foreignAddress, refusedCredentials } from '../vendor-jobs.ts';

/** The vendor's documentation says: "Use a data URL when you have a small file <= 256kb". */
const mostInline = 256_000;

interface Uploading {
  readonly name: string;
  readonly api: VendorHttp;
  readonly authorization: { readonly authorization: string };
  readonly credentials: ProviderCredentials;
  readonly signal: AbortSignal;
}

type Addresses = { readonly kind: 'addresses'; readonly addresses: readonly string[] } | Refused;

export async function fileAddresses(
  uploading: Uploading,
  sources: readonly SourceImage[],
): Promise<Addresses> {
  const addresses: string[] = [];
  for (const source of sources) {
    const address =
      source.bytes.byteLength <= mostInline ? dataUriOf(source) : await upload(uploading, source);
    if (typeof address !== 'string') return address;
    addresses.push(address);
  }
  return { kind: 'addresses', addresses };
}

async function upload(
  { name, api, authorization, credentials, signal }: Uploading,
  source: SourceImage,
): Promise<string | Refused> {
  const form = new FormData();
  form.set('content', new Blob([new Uint8Array(source.bytes)], { type: source.contentType }), 'source');
  let response: VendorResponse;
  try {
    response = await api.call({
      method: 'POST',
      to: '/v1/files',
      headers: authorization,
      body: form,
      signal,
    });
  } catch (error) {
    if (!(error instanceof CallBroke)) throw error;
    // The upload may have arrived, but no prediction has begun.
    return refusedBy('unavailable', error.code);
  }
  if (response.status === 429 || response.status >= 500)
    return refusedBy('unavailable', detailOf(response), retryAfterOf(response));
  if (response.status === 413) return refusedBy('source_image', detailOf(response));
  const { get } = fieldsOf(fieldsOf(response.json).urls);
  if (response.status !== 201 || typeof get !== 'string')
    return refusedCredentials(response, credentials, name) ?? unknownAnswer(response);
  return api.isOwn(get) ? get : foreignAddress;
}
