/** Signs requests to services of AWS that need no client of the SDK, with the signer of the SDK. */
import { createHash, getRandomValues } from 'node:crypto';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '../values/runtime.ts';

/** The credentials of a role or of a person. */
export interface SigningKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Which service of which region takes the request. */
export interface Signed extends SigningKeys {
  readonly service: string;
  readonly region: string;
}

export interface SignedFetchAccess extends Signed {
  /** How often a call is sent again after a 5xx or a throttle. */
  readonly retries: number;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

export interface SignedInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
}

/** The longest first pause before a call is sent again, by chance. Each further pause may take twice as long. */
const firstPauseMillis = 50;

/** A `fetch` that signs each try. Throws what `fetch` throws. */
export function createSignedFetch({ retries, clock, ...access }: SignedFetchAccess) {
  const signer = signerOf(access);
  const isBucket = access.service === 's3';

  async function send(url: URL, init: SignedInit): Promise<Response> {
    const { method = 'GET', body, signal } = init;
    // A bucket compares a checksum (x-amz-checksum-sha256), so the signature leaves out the bytes.
    const bytes = isBucket ? { [bytesHeader]: unsigned } : {};
    const { headers } = await signer.sign(
      { ...partsOf(url), method, body, headers: { ...init.headers, ...bytes, host: url.host } },
      { signingDate: new Date(clock.now()) },
    );
    const { host: _host, ...sent } = headers;
    return fetch(
      new Request(url, {
        method,
        headers: sent,
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      }),
    );
  }

  return async (address: string, init: SignedInit = {}): Promise<Response> => {
    const url = new URL(address);
    for (let tries = 0; ; tries += 1) {
      const response = await send(url, init);
      const passes = response.status >= 500 || response.status === 429;
      if (!passes || tries === retries) return response;
      await response.body?.cancel();
      const [share = 0] = getRandomValues(new Uint8Array(1));
      await clock.sleep(((firstPauseMillis * share) / 255) * 2 ** tries, init.signal);
    }
  };
}

/** Says what of the bytes is signed. */
const bytesHeader = 'x-amz-content-sha256';
const unsigned = 'UNSIGNED-PAYLOAD';

/** The headers of one request to a bucket of somebody else. Every service that speaks S3 checks the signed bytes. */
export async function signedHeaders(
  keys: Omit<Signed, 'service'>,
  { url: address, method, headers, body, nowMillis }: SignedRequest,
): Promise<Record<string, string>> {
  const url = new URL(address);
  const sum = createHash('sha256').update(body).digest('hex');
  const signed = await signerOf({ ...keys, service: 's3' }).sign(
    { ...partsOf(url), method, headers: { ...headers, host: url.host, [bytesHeader]: sum } },
    { signingDate: new Date(nowMillis) },
  );
  return signed.headers;
}

interface SignedRequest extends Omit<SignedAddress, 'seconds'> {
  readonly body: Uint8Array;
}

/**
 * An address by which its holder may send one request to the bucket, without credentials. The request must have these
 * headers with these values. The bytes are not signed.
 * @param seconds how long the address holds
 */
export async function signedAddress(
  keys: Omit<Signed, 'service'>,
  { url: address, method, headers, seconds, nowMillis }: SignedAddress,
): Promise<string> {
  const url = new URL(address);
  const { query } = await signerOf({ ...keys, service: 's3' }).presign(
    { ...partsOf(url), method, headers: { ...headers, host: url.host, [bytesHeader]: unsigned } },
    {
      expiresIn: seconds,
      signingDate: new Date(nowMillis),
      // The header says that the bytes are not signed. The holder of the address does not send it.
      unhoistableHeaders: new Set([bytesHeader]),
      unsignableHeaders: new Set([bytesHeader]),
    },
  );
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, String(value));
  return url.href;
}

interface SignedAddress {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly nowMillis: number;
}

function signerOf({ service, region, accessKeyId, secretAccessKey, sessionToken }: Signed): SignatureV4 {
  return new SignatureV4({
    service,
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    sha256: Sha256,
    applyChecksum: false,
    // The key of an object is in the path once encoded. Other services sign the path encoded twice.
    uriEscapePath: service !== 's3',
  });
}

/** The parts of an address as the signer reads them. */
function partsOf(url: URL) {
  return {
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
  };
}
