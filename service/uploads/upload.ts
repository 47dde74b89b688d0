/** An upload, named in image_urls as `upload:ID`. The id holds its time, and so its expiry. */
import * as z from 'zod/mini';
import { maxSourceBytes, uploadMillis } from '../contract/limits.ts';
import { type AccountId, parseUploadId, timeOfUuidV7, type UploadId, uuidV7 } from '../values/ids.ts';
import { extensionOf, type ImageContentType } from '../values/image-bytes.ts';

const uploadTypes = ['image/png', 'image/jpeg', 'image/webp'] as const satisfies readonly ImageContentType[];

export const uploadSchema = z.strictObject({
  content_type: z.enum(uploadTypes),
  bytes: z.number().check(
    z.refine((value) => Number.isInteger(value), {
      error: 'must be a whole number',
      params: { code: 'invalid_type' },
    }),
    z.minimum(1),
    z.maximum(maxSourceBytes),
  ),
});

export interface Upload {
  readonly id: UploadId;
  readonly accountId: AccountId;
  /** Of the token that announced it: only tokens of this user may use it. Absent: a key announced it. */
  readonly user?: string;
  readonly contentType: ImageContentType;
  /** The length that the client announced, and that the signed address takes. */
  readonly bytes: number;
  /** The object's key in the bucket. No client ever sees it but in the signed address. */
  readonly key: string;
  /** Unix milliseconds from which on the upload cannot be used. */
  readonly expiresAt: number;
}

/** A signed request by which a client puts the bytes of one upload into the bucket. */
export interface UploadTarget {
  readonly url: string;
  /** The headers that are signed besides the host. The client has to send them exactly so. */
  readonly headers: Readonly<Record<string, string>>;
}

/** @param randomBytes gives the id's random bits, and a name that nobody can guess */
export function newUpload(
  asked: Pick<Upload, 'accountId' | 'contentType' | 'bytes' | 'user'>,
  nowMillis: number,
  randomBytes: (count: number) => Uint8Array,
): Upload {
  const id = uuidV7(nowMillis, randomBytes(16)) as UploadId;
  const name = Buffer.from(randomBytes(24)).toString('base64url');
  return {
    ...asked,
    id,
    key: `uploads/${name}.${extensionOf[asked.contentType]}`,
    expiresAt: expiryOf(id),
  };
}

/** Unix milliseconds from which on the upload with this id cannot be used. */
export function expiryOf(id: UploadId): number {
  return (timeOfUuidV7(id) ?? 0) + uploadMillis;
}

export function isUsable(upload: Upload, nowMillis: number): boolean {
  return nowMillis < upload.expiresAt;
}

const scheme = 'upload:';

export function uploadAddress(id: UploadId): string {
  return `${scheme}${id}`;
}

export function namesUpload(address: string): boolean {
  return address.startsWith(scheme);
}

/** The upload that an item of image_urls names. Undefined for an address, and for what cannot be an id. */
export function uploadIdIn(address: string): UploadId | undefined {
  return namesUpload(address) ? parseUploadId(address.slice(scheme.length)) : undefined;
}

export function uploadIdsIn(imageUrls: readonly string[]): UploadId[] {
  return [...new Set(imageUrls.flatMap((address) => uploadIdIn(address) ?? []))];
}

/** The one text for any unusable id: a client must not learn that another account has the upload. */
export const notUsable = {
  code: 'upload_not_usable',
  message: 'this account has no such upload, or the upload was never filled or has expired',
} as const;

export function uploadView(
  { id, expiresAt }: Upload,
  { url, headers }: UploadTarget,
): Record<string, unknown> {
  return {
    id,
    image_url: uploadAddress(id),
    upload_url: url,
    upload_headers: headers,
    expires_at: new Date(expiresAt).toISOString(),
  };
}

/** The records of uploads, and the addresses to which clients put their bytes. */
export type NewUploadOutcome =
  | { readonly kind: 'created' }
  /** The account has as many uploads that no accepted creation has used and that have not expired. */
  | { readonly kind: 'too_many_unused'; readonly current: number }
  /** The token of an end user has announced as many uploads as it may. */
  | { readonly kind: 'token_used_up' };
