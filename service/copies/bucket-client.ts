/**
 * Stores an object in the bucket of a client, and verifies that the bucket has the same bytes. The signature
 * covers the bytes, and Content-MD5 lets every service compare them. The usual ETag is this MD5. If a bucket
 * encrypts with its own keys, the ETag is another value, and the object is read back in parts: a function has no
 * memory for a large picture twice.
 */
import { createHash } from 'node:crypto';
import { signedHeaders } from '../aws/signed-fetch.ts';
import { bucketMillis } from '../contract/limits.ts';
import type { Outbound, RequestResult } from '../outbound/outbound.ts';
import type { Clock } from '../values/runtime.ts';
import { type BucketKeys, type BucketPlace, objectAddress } from './bucket.ts';

export interface BucketServices {
  readonly clock: Pick<Clock, 'now'>;
  readonly outbound: Pick<Outbound, 'request'>;
}

export interface BucketAccess {
  readonly place: BucketPlace;
  readonly keys: BucketKeys;
  /** The time of each request. Absent: that of an attempt. */
  readonly millis?: { readonly put: number; readonly other: number };
}

export interface NewObject {
  readonly key: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The client may see `why`: it has only the status and the code of the bucket's answer. */
export type StoreOutcome =
  | { readonly kind: 'stored'; readonly url: string }
  | { readonly kind: 'failed'; readonly why: string };

const errorBytes = 16 * 1024;
const partBytes = 8 * 1024 * 1024;
const nothing = new Uint8Array();

export async function storeObject(
  access: BucketAccess,
  { key, contentType, bytes }: NewObject,
  services: BucketServices,
): Promise<StoreOutcome> {
  const url = objectAddress(access.place, key);
  const md5 = createHash('md5').update(bytes).digest();
  const headers = { 'content-type': contentType, 'content-md5': md5.toString('base64') };
  const put = await send(access, { method: 'PUT', url, headers, body: bytes }, services);
  if (put.kind === 'unanswered' || put.status !== 200) return { kind: 'failed', why: whyOf(put) };
  if (put.headers.etag === `"${md5.toString('hex')}"`) return { kind: 'stored', url };
  return compare(access, { url, bytes }, services);
}

async function compare(
  { place, keys, millis = bucketMillis }: BucketAccess,
  { url, bytes }: { readonly url: string; readonly bytes: Uint8Array },
  services: BucketServices,
): Promise<StoreOutcome> {
  const until = services.clock.now() + millis.other;
  for (let from = 0; from < bytes.byteLength; from += partBytes) {
    const part = bytes.subarray(from, from + partBytes);
    const range = `${from}-${from + part.byteLength - 1}`;
    const got = await send(
      { place, keys, millis: { put: 0, other: Math.max(1, until - services.clock.now()) } },
      {
        method: 'GET',
        url,
        headers: { range: `bytes=${range}` },
        mostBytes: Math.max(part.byteLength + 1, errorBytes),
      },
      services,
    );
    // A server that knows no ranges answers 200 with the whole object. That serves if the object is one part.
    const isWhole = got.kind === 'answered' && got.status === 200 && part.byteLength === bytes.byteLength;
    if (got.kind === 'unanswered' || !(isWhole || got.status === 206))
      return { kind: 'failed', why: `the checksum cannot be compared: ${whyOf(got)}` };
    const isThisPart = isWhole || got.headers['content-range'] === `bytes ${range}/${bytes.byteLength}`;
    if (!isThisPart || !got.body.equals(part))
      return { kind: 'failed', why: 'the bucket holds other bytes than were sent' };
  }
  return { kind: 'stored', url };
}

/** Deletes an object, if the keys allow it. */
export async function removeObject(
  access: BucketAccess,
  key: string,
  services: BucketServices,
): Promise<void> {
  await send(access, { method: 'DELETE', url: objectAddress(access.place, key) }, services);
}

interface Sent {
  readonly method: 'PUT' | 'GET' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly mostBytes?: number;
}

async function send(
  { place: { region }, keys, millis = bucketMillis }: BucketAccess,
  { method, url, headers = {}, body, mostBytes = errorBytes }: Sent,
  { clock, outbound }: BucketServices,
): Promise<RequestResult> {
  const signed = await signedHeaders(
    { ...keys, region },
    { url, method, headers, body: body ?? nothing, nowMillis: clock.now() },
  );
  return outbound.request(url, {
    method,
    headers: { ...signed, 'user-agent': 'Darkroom/1' },
    mostBytes,
    millis: method === 'PUT' ? millis.put : millis.other,
    ...(body && { body }),
  });
}

/**
 * The codes of S3 are words. Nothing else of the answer is shown, because some errors repeat the signed text.
 */
function whyOf(result: RequestResult): string {
  if (result.kind === 'unanswered') return `the bucket gave no answer (${result.reason})`;
  const [, code] = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(result.body.toString('latin1')) ?? [];
  return `the bucket answered ${result.status}${code === undefined ? '' : ` ${code}`}`;
}
